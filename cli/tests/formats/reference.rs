//! The reference of the command says what it does.

use crate::common::{root, status, traceglass};
use serde_json::Value;
use std::collections::BTreeSet;
use traceglass_cli::reference::{Object, objects};

/// `cli/REFERENCE.md` is as it would be made; `TRACEGLASS_BLESS=1` writes it.
#[test]
fn the_page_is_up_to_date() {
    let path = root().join("cli/REFERENCE.md");
    let page = traceglass_cli::reference_page();
    if std::env::var_os("TRACEGLASS_BLESS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    assert!(std::fs::read_to_string(&path).unwrap() == page, "TRACEGLASS_BLESS=1 writes it anew");
    let manual = traceglass(&["man", "json"]);
    let manual = String::from_utf8(manual.stdout).unwrap();
    assert!(page.contains("| `rate_hz` | number? |") && manual.contains("\\fBrate_hz\\fR (number?)"));
}

/// True if a value is what the reference says of a field.
fn is_of(value: &Value, of: &str) -> bool {
    let is_hex = |text: &str| text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    match of {
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "text" => value.is_string(),
        "time" => value.as_str().is_some_and(|text| text.len() == 30 && text.ends_with('Z')),
        "hex" => value.as_str().is_some_and(is_hex),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "list" => value.is_array(),
        "any" => true,
        _ => panic!("{of} is no type"),
    }
}

/// The objects of that kind that the shipped samples give.
fn shown(object: &Object) -> Vec<Value> {
    let mut found = Vec::new();
    for args in &object.shown_by {
        let sample = root().join("examples/data").join(args.last().unwrap());
        let args = [&args[..args.len() - 1], &[sample.to_str().unwrap()]].concat();
        let output = traceglass(&args);
        assert_eq!(status(&output), 0, "{args:?}");
        let lines = std::str::from_utf8(&output.stdout).unwrap().lines();
        let values = lines.map(|line| serde_json::from_str::<Value>(line).unwrap());
        let is_wanted =
            |value: &Value| object.kinds.is_empty() || object.kinds.iter().any(|kind| value["kind"] == *kind);
        found.extend(values.filter(is_wanted));
    }
    found
}

/// Each field is there with the type that the reference states, and none is there that it does not know.
#[test]
fn fields_are_as_the_reference_says() {
    let mut never = Vec::new();
    for object in objects().iter().filter(|object| !object.shown_by.is_empty()) {
        let name = format!("{} {} {:?}", object.verb, object.of, object.kinds);
        let values = shown(object);
        assert!(!values.is_empty(), "{name}: no sample has one");
        let fields = &object.fields;
        let known: BTreeSet<&str> = fields.iter().map(|field| field.name).collect();
        assert_eq!(known.len(), fields.len(), "{name}: a field stands twice");
        for value in &values {
            for key in value.as_object().unwrap().keys() {
                let key = key.strip_suffix("_hex").filter(|key| known.contains(key)).unwrap_or(key);
                assert!(known.contains(key), "{name}: {key} is not in the reference");
            }
        }
        for field in fields {
            let found: Vec<&Value> = values.iter().filter_map(|value| value.get(field.name)).collect();
            assert!(field.is_optional || found.len() == values.len(), "{name}: {} is missing", field.name);
            for value in &found {
                let fits = is_of(value, field.of) || field.is_nullable && value.is_null();
                assert!(fits, "{name}: {} is {value}", field.name);
            }
            if found.iter().all(|value| value.is_null()) {
                never.push(format!("{name} {}", field.name));
            }
        }
    }
    // Fields that no sample has: of crashes, of streams without names, dates of dial9's clock … The fewer, the better.
    assert!(never.len() <= 56, "{}: {never:#?}", never.len());
}
