//! Logs what a trace says through `defmt`: the strings stay on the host, the device sends numbers.

#![no_std]
#![no_main]

use cortex_m_rt::entry;
use defmt_semihosting as _;
use traceglass::rdf::{File, Header};
use traceglass_firmware::finish;

static TRACE: &[u8] = include_bytes!("../../data/sample.rdf");

#[entry]
fn main() -> ! {
    finish(read())
}

fn read() -> traceglass::Result<()> {
    defmt::info!("{}", traceglass::Format::detect(TRACE));
    let file = File::parse(TRACE)?;
    defmt::info!("{}", file.header());
    for entry in file.entries() {
        defmt::info!("{}", entry);
    }
    if let Err(error) = Header::parse(&TRACE[..20]) {
        defmt::error!("{}", error);
    }
    Ok(())
}
