//! Prints what each stream of an RTC file said, and when, as `traceglass cat` does, but with times in seconds. (How to go on while the file grows: see
//! `follow`.)
//!
//!     cargo run --example rtc_timeline -- examples/data/sample.rtc

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::io::Write;
use traceglass::record::{Class, Decimal, Head, Listener, Record as _, Slot, Text, Wants};
use traceglass::rtc::{Names, Step, recover::Records};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: rtc_timeline FILE")?;
    Ok(timeline(&std::fs::read(&path)?, &mut std::io::stdout().lock())?)
}

pub fn timeline(data: &[u8], out: &mut dyn Write) -> std::io::Result<()> {
    let mut buffer = vec![0; 1 << 20]; // for records that lie in several frames
    let mut records = Records::new(data, Vec::new(), &mut buffer);
    let mut names = Names::new(Vec::new());
    // Records come as they end. They are printed as they begin: those that began after one that is still open wait.
    let mut waiting = BTreeMap::new();
    loop {
        let open = match records.next_step() {
            Step::Record(record) => {
                let mut line = Line::default();
                let told = names.record(&record).and_then(|record| record.tell(&mut line));
                waiting.insert(record.offset(), told.map_or_else(|error| error.to_string(), |()| line.0));
                records.first_open()
            }
            // Damage is not the end: what follows it is found again, and how much was lost is said.
            Step::Gap(gap) => {
                eprintln!("{} bytes lost at {:#x}: {}", gap.len(), gap.offset(), gap.cause());
                None
            }
            _ => break,
        };
        while let Some(entry) =
            waiting.first_entry().filter(|entry| open.is_none_or(|open| *entry.key() < open))
        {
            writeln!(out, "{}", entry.remove())?;
        }
    }
    waiting.into_values().try_for_each(|line| writeln!(out, "{line}"))
}

/// When, what stream, and its values, as the record tells them: with gain and offset, and exact.
#[derive(Default)]
struct Line(String);

impl Line {
    fn put(&mut self, value: impl std::fmt::Display) {
        // A string takes all that is written to it.
        let _ = write!(self.0, "{}{value}", if self.0.ends_with('[') { "" } else { " " });
    }
}

impl Listener for Line {
    fn begin(&mut self, head: &Head, class: &dyn Class) -> Wants {
        let seconds = |ns: i128| format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
        let time = head.time.map_or("-".to_owned(), |time| seconds(time.ns()));
        // Text in a file may move the cursor of a terminal.
        self.put(format_args!("{time:>20} {}", class.name().to_string().escape_debug()));
        Wants::ALL
    }

    fn list(&mut self, _: Slot, _: Option<u64>) {
        self.0 += " [";
    }

    fn end_list(&mut self) {
        self.0.push(']');
    }

    fn unsigned(&mut self, _: Slot, value: u64) {
        self.put(value);
    }

    fn signed(&mut self, _: Slot, value: i64) {
        self.put(value);
    }

    fn float(&mut self, _: Slot, value: f64) {
        self.put(format_args!("{value:?}"));
    }

    fn decimal(&mut self, _: Slot, value: Decimal) {
        self.put(value);
    }

    fn text(&mut self, _: Slot, value: Text<'_>) {
        self.put(format_args!("{:?}", value.to_string()));
    }

    fn bytes(&mut self, _: Slot, value: &[u8]) {
        self.put(value.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    }
}
