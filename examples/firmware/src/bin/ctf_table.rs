//! Reads the events of a data stream by a table that `traceglass compile` made of its metadata: no compiler is on the
//! device.

#![no_std]
#![no_main]

use cortex_m_rt::entry;
use traceglass::ctf::schema::Schema;
use traceglass_firmware::{finish_plainly, read_events};

/// Bytes at an address that is a multiple of 4, as the table needs it.
#[repr(C, align(4))]
struct Aligned<T: ?Sized>(T);

static TABLE: &Aligned<[u8]> = &Aligned(*include_bytes!("../../../data/sample.ctf.schema"));
static STREAM: &[u8] = include_bytes!("../../../data/sample.ctf/stream");

#[entry]
fn main() -> ! {
    finish_plainly(read().is_ok())
}

fn read() -> traceglass::Result<()> {
    read_events(STREAM, &Schema::parse_trusted(&TABLE.0)?)
}
