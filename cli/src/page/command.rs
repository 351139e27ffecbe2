//! The verbs of a page, and their options: those of the command, of which a page needs few. clap would be a large part of it.

use crate::console::Console;
use crate::output::{Color, Out};
use crate::status::{Failure, Result, Status};
use crate::trace::{Export, Listing, Select, Selection, Target, Time, Window};
use crate::{conclude, formats, verbs};
use std::path::PathBuf;

/// Runs a verb; gives the exit status.
pub fn run(line: &[&str], console: Console) -> u8 {
    let asked = match Asked::parse(line) {
        Ok(asked) => asked,
        Err(message) => {
            let mut out = Out::new(Color::Never, console);
            return conclude(Err(Failure::usage(message)), &mut out);
        }
    };
    let mut out = Out::new(Color::Never, Console { width: asked.width.unwrap_or(console.width), ..console });
    let done = asked.run(&mut out);
    conclude(done, &mut out)
}

/// A command line, taken apart.
#[derive(Default)]
struct Asked<'l> {
    verb: &'l str,
    path: PathBuf,
    json: bool,
    width: Option<usize>,
    at: u64,
    len: Option<u64>,
    window: Window,
    select: Select,
    format: &'l str,
}

impl<'l> Asked<'l> {
    fn parse(line: &[&'l str]) -> Result<Self, String> {
        let mut asked = Self::default();
        let mut words = line.iter().copied();
        let mut plain = Vec::new();
        while let Some(word) = words.next() {
            if word == "--json" {
                asked.json = true;
                continue;
            }
            if !word.starts_with("--") {
                plain.push(word);
                continue;
            }
            let (option, value) = match word.split_once('=') {
                Some(both) => both,
                None => (word, words.next().ok_or_else(|| format!("{word}: a value is missing"))?),
            };
            let number = || value.parse().map_err(|_| format!("{option}: {value} is no number"));
            match option {
                "--width" => asked.width = usize::try_from(number()?).ok(),
                "--at" => asked.at = number()?,
                "--len" => asked.len = Some(number()?),
                "--from" => asked.window.from = Some(time(option, value)?),
                "--to" => asked.window.to = Some(time(option, value)?),
                "--name" => asked.select.name.push(value.to_owned()),
                "--format" => asked.format = value,
                _ => return Err(format!("{option}: a page has no such option")),
            }
        }
        let [verb, path] = plain.as_slice() else { return Err("a verb and a path are wanted".to_owned()) };
        asked.verb = verb;
        asked.path = PathBuf::from(path);
        Ok(asked)
    }

    fn run(self, out: &mut Out) -> Result<Status> {
        let open = formats::open;
        let Self { verb, path, json, at, len, window, select, format, .. } = self;
        match verb {
            "info" => verbs::info::run(&verbs::info::Args::of_page(json, path), open, out),
            "check" => verbs::check::run(&verbs::check::Args::of_page(json, path), open, out),
            "ls" => {
                let listing = Listing { json, window, path, ..Listing::default() };
                verbs::ls::run(&listing.into(), open, out)
            }
            "cat" => {
                let selection = Selection { path, json, window, select, ..Selection::default() };
                verbs::cat::run(&selection.into(), open, out)
            }
            "hex" => verbs::hex::run(&verbs::hex::Args::of_page(at, len, path), open, out),
            "export" => {
                let target = if format == "chrome" { Target::Chrome } else { Target::Perfetto };
                let (force, paths) = (true, vec![path]);
                let export = Export { format: target, window, select, force, paths, ..Export::default() };
                match target {
                    Target::Chrome => verbs::export::chrome(&export, open, out, None),
                    _ => verbs::export::perfetto(&export, open, out, None),
                }
            }
            _ => Err(Failure::usage(format!("a page has no verb {verb}"))),
        }
    }
}

fn time(option: &str, value: &str) -> Result<Time, String> {
    Time::parse(value).map_err(|error| format!("{option}: {error}"))
}
