//! Every object that `--json` prints, and its fields: what scripts rely on.

mod cat;
mod check;
mod info;
mod ls;
mod shared;
mod stats;

use super::field::Object;

/// All of them, in the order of the reference.
pub fn objects() -> impl Iterator<Item = &'static Object> {
    [info::OBJECTS, ls::OBJECTS, cat::OBJECTS, stats::OBJECTS, check::OBJECTS].into_iter().flatten()
}
