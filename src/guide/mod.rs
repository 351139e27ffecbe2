//! Guides: damaged input, memory without an allocator, errors.
//!
//! These chapters are documentation only; there is nothing in this module to call.

pub mod damage;
pub mod errors;
pub mod memory;
