//! Extracts one chunk of an RDF file to stdout.
//!
//!     cargo run --example extract_rdf -- examples/data/sample.rdf AsicInfo 0

use std::error::Error;
use std::io::Write;
use traceglass::rdf::File;
use traceglass::zstd::Workspace;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let usage = "usage: extract_rdf FILE IDENTIFIER [N]";
    let (path, id) = (args.next().ok_or(usage)?, args.next().ok_or(usage)?);
    let n = args.next().map_or(Ok(0), |n| n.parse())?;

    let data = std::fs::read(&path)?;
    let file = File::parse(&data)?;
    let chunk = file.chunk(id.as_str(), n).ok_or("no such chunk")?;

    // A raw chunk is borrowed from the file. A compressed one needs a buffer of the size that its entry states.
    let mut buffer = vec![0; usize::try_from(chunk.entry().output_size()?)?];
    let data = chunk.data(&mut buffer, &mut Workspace::new())?;
    std::io::stdout().write_all(data)?;
    Ok(())
}
