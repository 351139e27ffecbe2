//! `traceglass hex`

use crate::input::Input;
use crate::output::Out;
use crate::status::{Failure, Result, Status};
use crate::trace::{Fields, Open, Privacy, Reading};
use std::path::PathBuf;

/// Print an annotated hex dump: the field that each byte belongs to
///
/// Numbers are decimal, or hexadecimal as 0x400. With colour, fields of the same name have the same colour.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Offset of the first byte
    #[arg(long, value_name = "OFFSET", value_parser = number, default_value = "0")]
    at: u64,
    /// Number of bytes; by default a screenful, in which repeated lines count once
    #[arg(long, value_name = "N", value_parser = number)]
    len: Option<u64>,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    privacy: Privacy,
    /// A file; - for stdin
    #[arg(value_name = "PATH")]
    path: PathBuf,
}

const EXAMPLES: &str = "\
\x1b[1;4mExamples:\x1b[0m
  traceglass hex a.rmv
  traceglass hex --at 0x3f0 --len 64 trace.rtc   what `check` complained of
  traceglass hex --color always a.rmv | less -R";

fn number(text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|error| format!("{error}; a number is decimal, or hexadecimal as 0x400"))
}

#[cfg(target_family = "wasm")]
impl Args {
    /// The arguments for a page.
    pub fn of_page(at: u64, len: Option<u64>, path: PathBuf) -> Self {
        Self { at, len, reading: Reading::default(), privacy: Privacy::default(), path }
    }
}

pub fn run(args: &Args, open: Open, out: &mut Out) -> Result<Status> {
    args.privacy.hide(std::slice::from_ref(&args.path), args.reading, open)?;
    let input = match Input::open(&args.path) {
        Ok(input) => input,
        Err(unreadable) => return out.failed(&args.path, unreadable.into()),
    };
    let (Input::File(mapped, _) | Input::Stream(mapped, _)) = &input else {
        return out.failed(&args.path, Failure::unreadable("a directory; name one of the files in it"));
    };
    let data = mapped.data();
    let len = args.len.unwrap_or_else(|| screen(data, args.at, out.width()));
    let end = args.at.saturating_add(len).min(data.len() as u64);
    if args.at > data.len() as u64 {
        let message = format!("ends at {:#x}, before the offset asked for", data.len());
        return out.failed(&args.path, Failure::unreadable(message));
    }
    let trace = open(&input, args.reading);
    let mut fields = Fields::new(data, args.at..end, out);
    let done = match &trace {
        Ok(trace) => trace.hex(&mut fields),
        Err(_) => Ok(Status::Failed),
    };
    fields.finish()?;
    match trace {
        Err(unreadable) => out.failed(&args.path, unreadable.into()),
        Ok(_) => {
            if matches!(done, Ok(Status::Damaged)) {
                out.warn(&args.path, "damaged; `traceglass check` says where");
            }
            done
        }
    }
}

/// The number of bytes that fill a screen: what repeats is shown once, and is no reason to end before something else
/// comes.
fn screen(data: &[u8], at: u64, columns: usize) -> u64 {
    /// The size of the pieces that are compared, and how much is looked at in all.
    const PIECE: usize = 16;
    const MOST: usize = 64 << 20;
    let start = usize::try_from(at).unwrap_or(usize::MAX);
    let rest = data.get(start..).unwrap_or_default();
    // Of a narrow screen, a row holds less.
    let pieces: usize = if columns < 112 { 16 } else { 32 };
    let (mut left, mut previous) = (pieces, &[][..]);
    for (number, piece) in rest.chunks(PIECE).take(MOST / PIECE).enumerate() {
        if piece != previous {
            let Some(fewer) = left.checked_sub(1) else {
                return (number as u64).saturating_mul(PIECE as u64);
            };
            (left, previous) = (fewer, piece);
        }
    }
    rest.len().min(MOST) as u64
}
