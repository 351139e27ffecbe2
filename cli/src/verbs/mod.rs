//! One file a verb.

pub mod append;
pub mod cat;
pub mod check;
pub mod compile;
pub mod completions;
pub mod create;
pub mod cut;
pub mod export;
pub mod hex;
pub mod info;
pub mod ls;
pub mod man;
pub mod merge;
pub mod recover;
pub mod stats;
#[cfg(feature = "view")]
pub mod view;
