//! Who recorded a CTF 2 trace, and when its clocks begin, whatever form its metadata has.
//!
//!     cargo run --example ctf_metadata -- examples/data/sample.ctf2

use std::error::Error;
use traceglass::ctf::metadata::{EnvironmentValue, MetadataStream};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: ctf_metadata FILE")?;
    let data = std::fs::read(&path)?;
    let stream = MetadataStream::parse(&data)?;

    // A fragment may lie in several packets. Nothing is joined to read it; a name is decoded when it is printed.
    for fragment in stream.fragments() {
        let fragment = fragment?;
        if let Some(trace) = fragment.trace_class()? {
            for entry in trace.environment() {
                match entry? {
                    (name, EnvironmentValue::Integer(value)) => println!("{name} = {value}"),
                    (name, EnvironmentValue::String(value)) => {
                        println!("{name} = {value:?}", value = value.to_string())
                    }
                    (name, _) => println!("{name} is neither an integer nor a string"),
                }
            }
        }
        if let Some(clock) = fragment.clock_class()? {
            let name = clock.name().map(|name| name.to_string()).unwrap_or_default();
            let frequency = clock.frequency().ok_or("a clock without a frequency")?;
            let zero = clock.offset_seconds() as f64 + clock.offset_cycles() as f64 / frequency as f64;
            println!("clock {name:?}: {frequency} Hz, its zero is {zero} s after its origin");
        }
    }
    Ok(())
}
