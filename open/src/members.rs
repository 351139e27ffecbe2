//! Members of JSON objects, as text without the braces.

use foldhash::fast::RandomState;
use std::collections::HashMap;

/// The members of an object, without its braces.
pub(crate) fn inner(object: &[u8]) -> Option<&[u8]> {
    object.strip_prefix(b"{")?.strip_suffix(b"}")
}

/// Adds members to others.
pub(crate) fn join(to: &mut Vec<u8>, members: &[u8]) {
    if !to.is_empty() && !members.is_empty() {
        to.push(b',');
    }
    to.extend_from_slice(members);
}

/// Adds the members of an end to those of a begin; of the same name, the end's counts.
pub(crate) fn merge(to: &mut Vec<u8>, members: &[u8]) {
    if to.is_empty() || members.is_empty() {
        return join(to, members);
    }
    let mut ended: HashMap<&[u8], &[u8], RandomState> = self::members(members).collect();
    if self::members(to).all(|(key, _)| !ended.contains_key(key)) {
        return join(to, members);
    }
    let begun = std::mem::take(to);
    let mut put = |key: &[u8], value: &[u8]| join(to, &[key, b":", value].concat());
    self::members(&begun).for_each(|(key, value)| put(key, ended.remove(key).unwrap_or(value)));
    self::members(members)
        .filter(|(key, _)| ended.contains_key(key))
        .for_each(|(key, value)| put(key, value));
}

/// The members of a JSON object, without its braces and spaces between them: the key with its quotes, and the value as it
/// is written. Text is written with the same escapes everywhere.
pub fn members(members: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut rest = members;
    std::iter::from_fn(move || {
        let (key, after) = rest.split_at_checked(value_len(rest)).filter(|(key, _)| !key.is_empty())?;
        let after = after.strip_prefix(b":")?;
        let (value, after) = after.split_at_checked(value_len(after))?;
        rest = after.strip_prefix(b",").unwrap_or_default();
        Some((key, value))
    })
}

/// The length of the value that a text begins with: up to the colon, comma or bracket after it.
fn value_len(text: &[u8]) -> usize {
    // Most texts have no escape.
    if let [b'"', inner @ ..] = text
        && let Some(end) = inner.iter().position(|byte| matches!(byte, b'"' | b'\\'))
        && inner.get(end) == Some(&b'"')
    {
        return end.saturating_add(2);
    }
    let (mut depth, mut in_string, mut is_escaped) = (0_u32, false, false);
    let ends = |&byte: &u8| {
        if in_string {
            in_string = is_escaped || byte != b'"';
            is_escaped = !is_escaped && byte == b'\\';
            return false;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => depth = depth.saturating_add(1),
            b'}' | b']' => depth = depth.saturating_sub(1),
            b':' | b',' => return depth == 0,
            _ => {}
        }
        false
    };
    text.iter().position(ends).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_the_end_replace_those_of_the_begin() {
        for (begin, end, all) in [
            ("", "", ""),
            ("\"a\":1", "", "\"a\":1"),
            ("", "\"a\":1", "\"a\":1"),
            ("\"a\":1", "\"b\":2", "\"a\":1,\"b\":2"),
            ("\"a\":1,\"b\":2", "\"a\":3", "\"a\":3,\"b\":2"),
            // A key within something else is none of its own.
            ("\"x\":{\"a\":1}", "\"a\":3", "\"x\":{\"a\":1},\"a\":3"),
            ("\"x\":\"\\\"a\\\":\"", "\"a\":[{\"x\":1}]", "\"x\":\"\\\"a\\\":\",\"a\":[{\"x\":1}]"),
            ("\"a\\\"b\":1", "\"a\\\"b\":[1,{\"c\":\"]\"}],\"d\":4", "\"a\\\"b\":[1,{\"c\":\"]\"}],\"d\":4"),
        ] {
            let mut found = begin.as_bytes().to_vec();
            merge(&mut found, end.as_bytes());
            assert_eq!(String::from_utf8(found).unwrap(), all, "{begin} {end}");
        }
        let found: Vec<_> =
            members(b"\"a\":{\"b\":\"}\"},\"c:\\\\\":[1,{\"d\":2}],\"e\":\"f:\",\"g\":-1.5").collect();
        let all: [(&[u8], &[u8]); 4] = [
            (b"\"a\"", b"{\"b\":\"}\"}"),
            (b"\"c:\\\\\"", b"[1,{\"d\":2}]"),
            (b"\"e\"", b"\"f:\""),
            (b"\"g\"", b"-1.5"),
        ];
        assert_eq!(found, all);
    }
}
