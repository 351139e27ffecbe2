//! The environment of a trace, in both languages.

use crate::common::ctf::{Packet, stream};
use crate::samples::metadata;
use traceglass::ctf::metadata::MetadataStream;
use traceglass::ctf::schema::{EnvironmentValue, Node, Schema};

fn environment(data: &[u8]) -> Vec<(String, String)> {
    let stream = MetadataStream::parse(data).unwrap();
    let mut nodes = vec![Node::EMPTY; Schema::needed(&stream).unwrap() as usize];
    environment_of(&Schema::compile(&stream, &mut nodes).unwrap())
}

pub fn environment_of(schema: &Schema<'_, '_>) -> Vec<(String, String)> {
    let shown = |value: EnvironmentValue<'_>| match value {
        EnvironmentValue::Integer(value) => value.to_string(),
        EnvironmentValue::Text(text) => format!("{:?}", text.to_string()),
        other => panic!("{other:?}"),
    };
    schema.environment().map(|(name, value)| (name.to_string(), shown(value))).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
}

/// Several blocks, and a name twice; what stands in two packets is the same as in one.
#[test]
fn tsdl_has_an_environment() {
    let long = "y".repeat(70_000);
    let text = format!(
        "/* CTF 1.8 */ env {{ hostname = \"b\\x6fard\\n\"; low = -9223372036854775808; }};
        trace {{ major = 1; minor = 8; byte_order = le; }}; typealias integer {{ size = 8; }} := u8;
        clock {{ name = c; }}; env {{ most = 0xffffffffffffffff; low = 3; long = \"{long}\"; n = 2; }};
        event {{ name = e; fields := struct {{ u8 a[env.n]; }}; }};"
    );
    let long = format!("{long:?}");
    let expected = pairs(&[
        ("hostname", "\"board\\n\""),
        ("low", "-9223372036854775808"),
        ("most", "18446744073709551615"),
        ("low", "3"),
        ("long", &long),
        ("n", "2"),
    ]);
    assert_eq!(environment(text.as_bytes()), expected);
    let (a, b) = text.as_bytes().split_at(text.find("ard").unwrap());
    assert_eq!(environment(&stream([a, b], Packet::v1)), expected);
    let none = "/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; };";
    assert_eq!(environment(none.as_bytes()), []);
}

/// Only the trace class has one; an integer may be longer than 64 bits.
#[test]
fn json_has_an_environment() {
    let clock = r#"{"type": "clock-class", "id": "c", "frequency": 1, "environment": {"a": 1}}"#;
    let trace = r#"{"environment": {"h\u006fst": "h\u00f6st", "n": -1, "big": 36893488147419103232, "": ""}, "type": "trace-class"}"#;
    let event = r#"{"type": "data-stream-class", "environment": {"b": 2}}"#;
    let expected = pairs(&[("host", "\"höst\""), ("n", "-1"), ("big", "36893488147419103232"), ("", "\"\"")]);
    assert_eq!(environment(metadata(&[clock, trace, event]).as_bytes()), expected);
    assert_eq!(environment(metadata(&[clock, event]).as_bytes()), []);
}

/// The clock of LTTng counts from the Unix epoch without saying so; that of another tracer does not.
#[test]
fn only_lttng_dates_its_clock() {
    for (tracer, name, expected) in
        [("lttng-modules", "monotonic", true), ("barectf", "monotonic", false), ("lttng-ust", "mine", false)]
    {
        let text = format!(
            "/* CTF 1.8 */ trace {{ major = 1; minor = 8; byte_order = le; }}; env {{ tracer_name = \"{tracer}\"; }};
            clock {{ name = {name}; }};"
        );
        let stream = MetadataStream::parse(text.as_bytes()).unwrap();
        let mut nodes = [Node::EMPTY; 20];
        let schema = Schema::compile(&stream, &mut nodes).unwrap();
        assert_eq!(schema.clocks().next().unwrap().is_unix(), expected, "{tracer}");
    }
}
