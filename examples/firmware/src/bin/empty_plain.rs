//! Nothing but start and semihosting: what programs have that print without formatting.

#![no_std]
#![no_main]

use core::hint::black_box;
use cortex_m_rt::entry;
use traceglass_firmware::{finish_plainly, say};

#[entry]
fn main() -> ! {
    say("nothing: ", black_box(0));
    finish_plainly(true)
}
