//! The name of a fragment of metadata, and its JSON on one line.

use crate::json;
use serde_json::Value;
use traceglass::ctf::metadata::{Fragment, FragmentKind};

/// A member of a fragment that names it: a string or a number.
pub(super) fn label(fragment: &Fragment<'_>, member: &str) -> Option<Value> {
    let text = fragment.member(member).ok().flatten()?;
    let mut compact = Vec::new();
    json::minify(text.pieces().flatten().copied(), &mut compact);
    let value = json::value(std::str::from_utf8(&compact).ok()?)?;
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
