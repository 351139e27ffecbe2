//! `traceglass compile`

use crate::export::file::{NewFile, refuse_existing, refuse_loss};
use crate::input::Input;
use crate::output::{Out, shown};
use crate::status::{Result, Status, Unreadable};
use crate::trace::{Open, Privacy, Reading};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Compile CTF metadata into a table, for devices that read their own traces
///
/// The table has all that is needed to read the data streams: neither JSON nor TSDL is read on the device. It knows the
/// metadata it was made from, so that an outdated table is refused.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A folder with one trace, or its metadata
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Where to write it; stdout by default
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite a file that exists; write raw bytes even to a terminal
    #[arg(long)]
    force: bool,
    /// A constant in Rust
    #[arg(long, conflicts_with = "c")]
    rust: bool,
    /// A constant in C
    #[arg(long)]
    c: bool,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    privacy: Privacy,
}

const EXAMPLES: &str = "\
\x1b[1;4mExamples:\x1b[0m
  traceglass compile trace/ -o trace.schema
  traceglass compile --rust trace/metadata -o src/schema.rs
  traceglass compile --c trace/ > schema.h";

pub fn run(args: &Args, open: Open, out: &mut Out) -> Result<Status> {
    let output = args.output.as_deref().filter(|path| *path != Path::new("-"));
    if args.force {
        out.force();
    }
    if let Some(output) = output {
        refuse_loss(output, std::slice::from_ref(&args.path))?;
        refuse_existing(output, args.force)?;
    } else if !args.rust && !args.c {
        // Before anything is read.
        out.raw(&[])?;
    }
    args.privacy.hide(std::slice::from_ref(&args.path), args.reading, open)?;
    let named = |error: Unreadable| error.of(&shown(&args.path));
    let input = Input::open(&args.path).map_err(named)?;
    let table = open(&input, args.reading).map_err(named)?.compile()?;
    let written = match (args.rust, args.c) {
        (true, _) => rust(&table).into_bytes(),
        (_, true) => c(&table).into_bytes(),
        _ => table,
    };
    match output {
        Some(path) => {
            let mut file = NewFile::create(path)?;
            file.write(&written)?;
            file.finish()?;
        }
        None if args.rust || args.c => out.own(&written)?,
        None => out.raw(&written)?,
    }
    Ok(Status::Clean)
}

/// A constant for `traceglass::ctf::schema::Schema::parse`, at an address as it needs it.
fn rust(table: &[u8]) -> String {
    let mut text = format!(
        "// Made by `traceglass compile --rust`.\n\n\
         /// Bytes at an address that is a multiple of 4.\n#[repr(C, align(4))]\npub struct Table(pub [u8; {0}]);\n\n\
         /// The schema of a trace: read it with `Schema::parse(&TABLE.0)`.\n\
         #[rustfmt::skip]\npub static TABLE: Table = Table([\n",
        table.len()
    );
    for line in table.chunks(16) {
        text.push_str("   ");
        for byte in line {
            // Writing to a string cannot fail.
            let _ = write!(text, " {byte},");
        }
        text.push('\n');
    }
    text + "]);\n"
}

/// The same for C. Words have the address that is needed, on a machine that is little-endian.
fn c(table: &[u8]) -> String {
    let mut text = format!(
        "/* Made by `traceglass compile --c`. For machines that are little-endian. */\n\
         #include <stddef.h>\n#include <stdint.h>\n\n\
         /* The schema of a trace, and its size in bytes. */\n\
         static const size_t traceglass_schema_size = {};\n\
         static const uint32_t traceglass_schema[] = {{\n",
        table.len()
    );
    for line in table.chunks(32) {
        text.push_str("   ");
        for word in line.chunks(4) {
            let mut bytes = [0; 4];
            bytes.iter_mut().zip(word).for_each(|(to, from)| *to = *from);
            let _ = write!(text, " 0x{:08x},", u32::from_le_bytes(bytes));
        }
        text.push('\n');
    }
    text + "};\n"
}
