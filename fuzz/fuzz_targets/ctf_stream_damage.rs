//! A schema and records made from a seed: what was encoded is read back, and damage is met.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../tests/common/mod.rs"]
mod common;
#[path = "../../tests/common/random.rs"]
mod numbers;
#[path = "../../tests/ctf/random.rs"]
mod random;
#[allow(dead_code, unused_imports)] // It has tests of its own.
#[path = "../../tests/ctf/tell.rs"]
mod tell;

fuzz_target!(|seed: u64| {
    random::run(seed | 1);
});
