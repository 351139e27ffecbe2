//! Nothing but what all programs have: start, semihosting, formatting, and the messages of errors.

#![no_std]
#![no_main]

use core::hint::black_box;
use cortex_m_rt::entry;
use cortex_m_semihosting::hprintln;
use traceglass_firmware::finish;

#[entry]
fn main() -> ! {
    hprintln!("nothing: {} bytes", black_box(0));
    finish(black_box(Ok(())))
}
