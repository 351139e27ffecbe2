//! Faults in descriptions of a trace, and their offsets; the storage that a description takes.

use crate::common::{mutations, prefixes};
use crate::samples::{BYTE, metadata, sample};
use traceglass::ctf::metadata::MetadataStream;
use traceglass::ctf::schema::{Node, Schema, Scope, element};
use traceglass::{Error, ErrorKind, Result};

fn compile(text: &str) -> Result<u64> {
    let stream = MetadataStream::parse(text.as_bytes())?;
    let mut nodes = vec![Node::EMPTY; 256];
    Schema::compile(&stream, &mut nodes).map(|schema| schema.stream_classes().count() as u64)
}

/// An event record class with these members in its payload.
fn payload(members: &str) -> String {
    metadata(&[
        r#"{"type": "data-stream-class"}"#,
        &format!(
            r#"{{"type": "event-record-class", "payload-field-class": {{"type": "structure", "member-classes": [{members}]}}}}"#
        ),
    ])
}

/// The error of a text, at the place of `mark` in it.
fn refused(text: &str, mark: &str, error: (traceglass::Element, ErrorKind)) {
    let at = text.find(mark).unwrap_or_else(|| panic!("no {mark} in {text}")) as u64;
    let (element, kind) = error;
    assert_eq!(compile(text), Err(Error::new(at, element, kind)), "{text}");
}

#[test]
fn faults_are_located() {
    use ErrorKind::*;
    assert_eq!(compile(&payload("")), Ok(1));
    let untyped = metadata(&[r#"{"type": "data-stream-class"}"#, r#"{"name": "of no type"}"#]);
    refused(&untyped, r#"{"name": "of"#, (traceglass::ctf::element::FRAGMENT, Missing));
    let twice = payload(&format!(
        r#"{{"name": "a", "field-class": {BYTE}}}, {{"field-class": {BYTE}, "name": "\u0061"}}"#
    ));
    refused(&twice, "\\u0061", (element::NAME, Repeated));
    let later = payload(&format!(
        r#"{{"name": "x", "field-class": {{"type": "dynamic-length-blob", "length-field-location": {{"path": ["n"]}}}}}}, {{"name": "n", "field-class": {BYTE}}}"#
    ));
    refused(&later, "n\"]", (element::FIELD_LOCATION, Misplaced));
    let absent = payload(
        r#"{"name": "x", "field-class": {"type": "dynamic-length-blob", "length-field-location": {"path": ["q"]}}}"#,
    );
    refused(&absent, "q\"]", (element::FIELD_LOCATION, Missing));
    let up = absent.replace("[\"q\"]", "[null, \"q\"]");
    refused(&up, "q\"]", (element::FIELD_LOCATION, Misplaced));
    let text = payload(
        r#"{"name": "n", "field-class": {"type": "null-terminated-string"}}, {"name": "x", "field-class": {"type": "dynamic-length-blob", "length-field-location": {"path": ["n"]}}}"#,
    );
    let expected = "the path of an unsigned integer";
    refused(&text, "n\"]", (element::FIELD_LOCATION, Unexpected { byte: b'n', expected }));
    let role = payload(&format!(
        r#"{{"name": "id", "field-class": {}}}"#,
        BYTE.replace("\"length\"", "\"roles\": [\"event-record-class-id\"], \"length\"")
    ));
    refused(&role, "id\"", (element::ROLE, Misplaced));
    for (length, kind) in
        [("0", Invalid { value: 0 }), ("4294967295", OverLimit { value: 4294967295, limit: 4294967294 })]
    {
        let text = payload(&format!(r#"{{"name": "x", "field-class": {}}}"#, BYTE.replace("8", length)));
        let mark = if length == "0" { "{\"type\": \"fixed" } else { length };
        refused(&text, mark, (element::FIELD_CLASS, kind));
    }
    let float = payload(
        r#"{"name": "x", "field-class": {"length": 24, "byte-order": "big-endian", "type": "fixed-length-floating-point-number"}}"#,
    );
    refused(&float, "{\"length\": 24", (element::FIELD_CLASS, Unsupported { value: 24 }));
    let range = payload(
        r#"{"name": "x", "field-class": {"type": "variable-length-unsigned-integer", "mappings": {"a": [[-1, 1]]}}}"#,
    );
    refused(&range, "{\"type\": \"variable", (element::RANGE, Negative { value: -1 }));
    let extension = "\x1e{\"type\": \"preamble\", \"version\": 2, \"extensions\": {\"a\": {}}}";
    refused(extension, "\"extensions\"", (element::EXTENSION, UnsupportedExtension));
    let orphan = metadata(&[r#"{"type": "event-record-class", "data-stream-class-id": 3}"#]);
    refused(&orphan, "{\"type\": \"event", (element::CLASS_ID, NoSuchClass { id: 3 }));
    let again = metadata(&[r#"{"type": "data-stream-class"}"#, r#"{"type": "data-stream-class", "id": 0}"#]);
    refused(&again, "{\"type\": \"data-stream-class\", \"id\"", (element::CLASS_ID, Repeated));
    let alias = metadata(&[
        &format!(r#"{{"type": "field-class-alias", "name": "b", "field-class": {BYTE}}}"#),
        r#"{"type": "field-class-alias", "name": "b", "field-class": "b"}"#,
    ]);
    let at = alias.rfind("b\", \"field-class\": \"b\"").unwrap() as u64;
    assert_eq!(compile(&alias), Err(Error::new(at, element::ALIAS, Repeated)));
}

#[test]
fn many_clock_classes_are_told_apart() {
    let clock = |at: usize| {
        format!(
            r#"{{"type": "clock-class", "id": "clock{at}", "frequency": {}, "origin": "unix-epoch"}}"#,
            at + 1
        )
    };
    let stream = |at: usize| {
        format!(r#"{{"type": "data-stream-class", "id": {at}, "default-clock-class-id": "clock{at}"}}"#)
    };
    let fragments: Vec<String> = (0..300).map(clock).chain((0..300).map(stream)).collect();
    let mut fragments: Vec<&str> = fragments.iter().map(String::as_str).collect();
    let text = metadata(&fragments);
    let parsed = MetadataStream::parse(text.as_bytes()).unwrap();
    let mut nodes = vec![Node::EMPTY; Schema::needed(&parsed).unwrap() as usize];
    let schema = Schema::compile(&parsed, &mut nodes).unwrap();
    for (class, frequency) in schema.stream_classes().zip(1..) {
        assert_eq!(class.clock().unwrap().frequency(), frequency);
        assert_eq!(class.clock().unwrap().id().unwrap().to_string(), format!("clock{}", frequency - 1));
    }
    assert_eq!(schema.clocks().count(), 300);
    fragments.push(r#"{"type": "clock-class", "id": "clock\u0037", "frequency": 5, "origin": "unix-epoch"}"#);
    let text = metadata(&fragments);
    let parsed = MetadataStream::parse(text.as_bytes()).unwrap();
    let mut nodes = vec![Node::EMPTY; 9000];
    let error = Schema::compile(&parsed, &mut nodes).unwrap_err();
    assert_eq!((error.kind(), &text[error.offset() as usize..][..6]), (ErrorKind::Repeated, "clock\\"));
}

#[test]
fn options_must_not_share_a_value() {
    let options = |ranges: &str| {
        payload(&format!(
            r#"{{"name": "k", "field-class": {BYTE}}}, {{"name": "v", "field-class": {{"type": "variant",
                "selector-field-location": {{"path": ["k"]}}, "options": [
                {{"field-class": {BYTE}, "selector-field-ranges": [[7, 7], [9, 9], [1, 1], [5, 5]]}},
                {{"field-class": {BYTE}, "selector-field-ranges": [{ranges}]}}]}}}}"#
        ))
    };
    assert_eq!(compile(&options("[2, 4], [6, 6], [0, 0], [8, 8], [10, 99]")), Ok(1));
    for shared in ["1, 1", "4, 6", "6, 7", "9, 200"] {
        let error = compile(&options(&format!("[3, 3], [{shared}], [0, 0]"))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Repeated, "{shared}");
    }
}

#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize| {
        let open = r#"{"type": "structure", "member-classes": [{"name": "s", "field-class": "#;
        let inner = open.repeat(depth) + BYTE + &"}]}".repeat(depth);
        payload(&format!(r#"{{"name": "s", "field-class": {inner}}}"#))
    };
    assert_eq!(compile(&nested(63)), Ok(1));
    for depth in [64, 70, 100, 10_000] {
        let kind = compile(&nested(depth)).unwrap_err().kind();
        assert!(matches!(kind, ErrorKind::TooDeep { .. }), "{depth}: {kind}");
    }
}

/// A chain of aliases each of which holds the one before twice: 2⁴⁰ classes in 5 KB.
#[test]
fn aliases_that_double_are_refused_at_once() {
    let mut fragments =
        vec![format!(r#"{{"type": "field-class-alias", "name": "a0", "field-class": {BYTE}}}"#)];
    for n in 1..40 {
        let member = |name| format!(r#"{{"name": "{name}", "field-class": "a{}"}}"#, n - 1);
        fragments.push(format!(
            r#"{{"type": "field-class-alias", "name": "a{n}", "field-class": {{"type": "structure", "member-classes": [{}, {}]}}}}"#,
            member("x"),
            member("y")
        ));
    }
    let fragments: Vec<&str> = fragments.iter().map(String::as_str).collect();
    let text = metadata(&fragments);
    let stream = MetadataStream::parse(text.as_bytes()).unwrap();
    let mut nodes = vec![Node::EMPTY; 10_000];
    let error = Schema::compile(&stream, &mut nodes).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::CapacityExceeded { capacity: 10_000, .. }), "{error}");
}

#[test]
fn storage_is_exactly_what_is_needed() {
    let text = sample();
    let stream = MetadataStream::parse(text.as_bytes()).unwrap();
    let needed = Schema::needed(&stream).unwrap();
    for capacity in 0..needed {
        let mut nodes = vec![Node::EMPTY; capacity as usize];
        let error = Schema::compile(&stream, &mut nodes).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::CapacityExceeded { capacity, needed });
        assert_eq!(error.element(), element::SCHEMA);
    }
    let mut nodes = vec![Node::EMPTY; needed as usize];
    let schema = Schema::compile(&stream, &mut nodes).unwrap();
    let class = schema.stream_class(0).unwrap();
    assert!(class.event_class(2).unwrap().name().unwrap() == "say ✓");
    assert_eq!(class.event_classes().map(|class| class.id()).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(class.clock().unwrap().nanoseconds(1), 7_001_000_000);
    let payload = class.event_class(2).unwrap().scope(Scope::Payload).unwrap();
    let names: Vec<String> = payload.children().map(|class| class.name().unwrap().to_string()).collect();
    assert_eq!(names, ["n", "list", "text", "tag", "v", "o"]);
    let tag = payload.children().nth(3).unwrap();
    assert_eq!(tag.labels(-1).map(|name| name.to_string()).collect::<Vec<_>>(), ["minus", "small"]);
}

#[test]
fn any_prefix_and_any_change_is_read_or_refused() {
    let text = sample();
    let mut nodes = vec![Node::EMPTY; 256];
    let mut read = |data: &[u8]| {
        let compiled =
            MetadataStream::parse(data).and_then(|stream| Schema::compile(&stream, &mut nodes).map(drop));
        if let Err(error) = compiled {
            assert!(error.offset() <= data.len() as u64, "{error}");
        }
    };
    prefixes(text.as_bytes()).for_each(&mut read);
    mutations(text.as_bytes(), |_, data| read(data));
}

/// The magic number is 32 bits at the beginning of the packet header, and nowhere else.
#[test]
fn the_magic_number_is_the_first_field() {
    let compile = |members: &[String]| {
        let members: Vec<String> = (0..)
            .zip(members)
            .map(|(n, class)| format!(r#"{{"name": "m{n}", "field-class": {class}}}"#))
            .collect();
        let header = format!(r#"{{"type": "structure", "member-classes": [{}]}}"#, members.join(","));
        let trace = format!(r#"{{"type": "trace-class", "packet-header-field-class": {header}}}"#);
        let text = metadata(&[&trace]);
        let stream = MetadataStream::parse(text.as_bytes()).unwrap();
        Schema::compile(&stream, &mut [Node::EMPTY; 20])
            .map(drop)
            .map_err(|error| (error.element(), error.kind()))
    };
    let role = r#""roles": ["packet-magic-number"], "length""#;
    let magic = BYTE.replace("8", "32").replace("\"length\"", role);
    let short = BYTE.replace("\"length\"", role);
    let byte = || BYTE.to_string();
    assert_eq!(compile(&[magic.clone(), byte()]), Ok(()));
    let refused = Err((element::ROLE, ErrorKind::Misplaced));
    assert_eq!(compile(&[byte(), magic.clone()]), refused);
    assert_eq!(compile(&[magic.clone(), magic]), refused);
    assert_eq!(compile(&[short]), refused);
}
