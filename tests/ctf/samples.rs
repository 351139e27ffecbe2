//! Descriptions of traces.

/// Fragments, each with its 0x1E.
pub fn metadata(fragments: &[&str]) -> String {
    let preamble = r#"{"type": "preamble", "version": 2}"#;
    [preamble].iter().chain(fragments).map(|fragment| format!("\x1e{fragment}\n")).collect()
}

/// A field class.
pub const BYTE: &str =
    r#"{"type": "fixed-length-unsigned-integer", "length": 8, "byte-order": "little-endian"}"#;

/// A trace with a bit of everything.
pub fn sample() -> String {
    let members = format!(
        r#"{{"name": "n", "field-class": {BYTE}}},
        {{"name": "list", "field-class": {{"type": "dynamic-length-array", "element-field-class": "word",
            "length-field-location": {{"path": ["n"]}}}}}},
        {{"name": "text", "field-class": {{"type": "null-terminated-string"}}}},
        {{"name": "tag", "field-class": {{"type": "variable-length-signed-integer", "mappings": {{"minus": [[-5, -1]], "small": [[-1, 9]]}}}}}},
        {{"name": "v", "field-class": {{"type": "variant", "selector-field-location": {{"path": ["tag"]}}, "options": [
            {{"name": "a", "field-class": {{"type": "structure", "member-classes": [{{"name": "x", "field-class": "word"}}]}}, "selector-field-ranges": [[-5, -1]]}},
            {{"field-class": {BYTE}, "selector-field-ranges": [[0, 99]]}}]}}}},
        {{"name": "o", "field-class": {{"type": "optional", "selector-field-location": {{"origin": "event-record-payload", "path": ["n"]}},
            "selector-field-ranges": [[2, 3]], "field-class": {{"type": "static-length-string", "length": 3}}}}}}"#
    );
    let word = r#"{"type": "field-class-alias", "name": "word", "field-class": {"type": "fixed-length-unsigned-integer", "length": 12, "byte-order": "big-endian"}}"#;
    let clock = r#"{"type": "clock-class", "id": "c", "frequency": 1000, "offset-from-origin": {"seconds": 7}, "origin": "unix-epoch"}"#;
    let stamp = |role: &str| BYTE.replace("\"length\"", &format!("\"roles\": [\"{role}\"], \"length\""));
    let length = r#"{"type": "fixed-length-unsigned-integer", "length": 16, "byte-order": "little-endian", "roles": ["ROLE"]}"#;
    let stream = format!(
        r#"{{"type": "data-stream-class", "default-clock-class-id": "c",
        "packet-context-field-class": {{"type": "structure", "member-classes": [
            {{"name": "total", "field-class": {}}}, {{"name": "content", "field-class": {}}},
            {{"name": "seq", "field-class": {}}}, {{"name": "lost", "field-class": {}}}]}},
        "event-record-header-field-class": {{"type": "structure", "member-classes": [
            {{"name": "id", "field-class": {}}}, {{"name": "time", "field-class": {}}}]}}}}"#,
        length.replace("ROLE", "packet-total-length"),
        length.replace("ROLE", "packet-content-length"),
        stamp("packet-sequence-number"),
        stamp("discarded-event-record-counter-snapshot"),
        stamp("event-record-class-id"),
        stamp("default-clock-timestamp"),
    );
    let empty = r#"{"type": "event-record-class", "id": 1, "name": "tick"}"#;
    let event = format!(
        r#"{{"payload-field-class": {{"type": "structure", "member-classes": [{members}]}}, "id": 2, "name": "say \u2713", "type": "event-record-class"}}"#
    );
    metadata(&[word, clock, &stream, empty, &event])
}
