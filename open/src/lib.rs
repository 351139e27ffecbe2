//! The code that the front ends of `traceglass` share: the command, the tables and the Python package.
//!
//! [`record`] writes records as JSON and has the tables that every listener keeps; [`slices`] puts begins and ends
//! together; [`selected`] and [`tracks`] are those that are asked for; [`members`] are those of JSON objects; [`packed`]
//! unpacks files; [`rdf`] lends memory; [`time`] and [`text`] are how times and texts are written, the same everywhere.
//!
//! This is no library for others: use the crate `traceglass`.

#![forbid(unsafe_code)]
// A trace that makes a front end panic is a vulnerability, as it is in the library.
#![cfg_attr(
    not(test),
    deny(
        clippy::arithmetic_side_effects,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::string_slice,
        clippy::unreachable,
        clippy::unwrap_used,
    )
)]

pub mod damage;
pub mod members;
pub mod packed;
#[cfg(test)]
#[path = "../../tests/common/random.rs"]
mod random;
pub mod rdf;
pub mod record;
pub mod selected;
pub mod slices;
pub mod text;
pub mod time;
pub mod tracks;
