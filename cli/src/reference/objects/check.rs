//! The objects that `check --json` prints.

use crate::reference::field::Type::{List, Text};
use crate::reference::field::{Object, has, may};

pub const OBJECTS: &[Object] = &[Object {
    verb: "check",
    of: "all",
    kinds: &[],
    shown_by: &[
        &["check", "--json", "sample.rdf"],
        &["check", "--json", "sample.rtc"],
        &["check", "--json", "sample.ctf"],
        &["check", "--json", "sample.rfr"],
    ],
    fields: &[&[
        may("path", Text, "the path as it was given"),
        may("format", Text, "as in `info`"),
        has("verdict", Text, "`clean`, `damaged` or `unreadable`"),
        has(
            "findings",
            List,
            "each with `offset`, `severity` (`error` or `warning`), `what` (a code that stays), `message`; and `path`, if it is in a file of a recording",
        ),
    ]],
}];
