//! Names, which are printed with each record: of long ones the beginning.

use crate::output::{NAME_MAX, push_start};
use std::fmt::Display;

/// How many characters of a name are shown to people.
pub const SHOWN: usize = 80;

/// A name as it is printed with each record.
pub fn told(name: impl Display) -> String {
    let mut text = String::new();
    push_start(&mut text, name, NAME_MAX);
    text
}

/// A name as it is shown with each record.
pub fn shown_name(name: impl Display) -> String {
    let mut text = String::new();
    push_start(&mut text, name, SHOWN);
    text
}
