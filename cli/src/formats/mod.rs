//! One file a format: what it can say for each verb.

pub mod ctf;
pub mod rdf;
pub mod rfr;
pub mod rtc;

use crate::input::Input;
use crate::output::Out;
use crate::status::{Result, Status, Unreadable};
use crate::verbs::check::Findings;
use crate::verbs::hex::Fields;
use crate::verbs::info::Info;
use crate::verbs::{cat, ls};
use traceglass::{Format, Lookalike};

/// How a trace is read.
#[derive(clap::Args, Clone, Copy)]
pub struct Reading {
    /// Read two mistakes of CTF 2's producers: a header of 37 bytes for version 2, and a change of byte order
    #[arg(long)]
    lenient: bool,
}

/// A trace that has been opened.
pub trait Trace {
    fn format(&self) -> Format;

    /// What it is, and whether all of it can be read.
    fn info(&self) -> Result<Info>;

    /// Its parts, one a line.
    fn ls(&self, args: &ls::Args, out: &mut Out) -> Result<Status>;

    /// Its content, or the part selected.
    fn cat(&self, args: &cat::Args, out: &mut Out) -> Result<Status>;

    /// Reads and verifies everything.
    fn check(&self, findings: &mut Findings<'_>) -> Result<Status>;

    /// Hands out the fields in the range to be shown, in ascending order.
    fn hex(&self, fields: &mut Fields<'_, '_>) -> Result<Status>;
}

/// Opens a trace of any format.
pub fn open(input: &Input, reading: Reading) -> Result<Box<dyn Trace + '_>, Unreadable> {
    let data = match input {
        Input::File(mapped) => mapped.data(),
        Input::Directory(path) => {
            if let Some(recording) = rfr::open_directory(path)? {
                return Ok(recording);
            }
            return Err(Unreadable::new(
                "no trace in this directory: neither files of an RFR recording nor CTF 2's `metadata`",
            ));
        }
    };
    match Format::detect(data) {
        Some(Format::Rdf) => rdf::open(data),
        Some(Format::Rtc) => rtc::open(data),
        Some(Format::Ctf2) => ctf::open(data, reading.lenient),
        Some(Format::Rfr) => rfr::open(data),
        _ if data.is_empty() => Err(Unreadable::new("the file is empty")),
        _ => Err(Unreadable::new(match Lookalike::detect(data) {
            Some(lookalike) => lookalike.to_string(),
            None => {
                format!("not a known format: begins with \"{}\"", data[..data.len().min(8)].escape_ascii())
            }
        })),
    }
}

/// The verdict that JSON output gives.
pub fn verdict(status: Status) -> &'static str {
    match status {
        Status::Clean => "clean",
        Status::Damaged => "damaged",
        Status::Failed => "unreadable",
    }
}
