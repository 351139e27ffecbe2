//! The model of events, and each format's adaptor, on files that are built field by field.
#![cfg(feature = "event")]

#[path = "../common/mod.rs"]
mod common;

#[cfg(feature = "rfr")]
mod rfr;
