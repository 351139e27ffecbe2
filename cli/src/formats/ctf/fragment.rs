//! What a fragment of metadata is called, and its JSON on one line.

use serde_json::Value;
use traceglass::ctf::metadata::{Fragment, FragmentKind};

/// A member of a fragment that names it: a string or a number.
pub(super) fn label(fragment: &Fragment<'_>, member: &str) -> Option<Value> {
    let text = fragment.member(member).ok().flatten()?;
    let mut json = Vec::new();
    minify(text.pieces().flatten().copied(), &mut json);
    let value: Value = serde_json::from_slice(&json).ok()?;
    (value.is_string() || value.is_u64() || value.is_i64()).then_some(value)
}

/// The kind of a fragment, as its type says.
pub(super) fn kind(fragment: &Fragment<'_>) -> String {
    name_of(&fragment.kind())
}

pub(super) fn name_of(kind: &traceglass::Result<FragmentKind<'_>>) -> String {
    match kind {
        Ok(FragmentKind::Other(name)) => name.to_string(),
        Ok(kind) => kind.name().unwrap_or("untyped").to_owned(),
        Err(_) => "unreadable".to_owned(),
    }
}

/// JSON text without the white space between its tokens.
pub(super) fn minify(json: impl Iterator<Item = u8>, to: &mut Vec<u8>) {
    let (mut in_string, mut escaped) = (false, false);
    for byte in json {
        if !in_string && matches!(byte, b' ' | b'\t' | b'\r' | b'\n') {
            continue;
        }
        to.push(byte);
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => in_string = !in_string,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_in_strings_stays() {
        let mut line = Vec::new();
        minify(br#" { "a \" b" : [ 1 , "\\" ] , "c": " " } "#.iter().copied(), &mut line);
        assert_eq!(String::from_utf8(line).unwrap(), r#"{"a \" b":[1,"\\"],"c":" "}"#);
    }
}
