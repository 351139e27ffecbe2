//! Slices as lines: for people, and as JSON.

use crate::json::Line;
use crate::output::{DIM, HEADING, Out, printable};
use crate::slices::{Slice, TakeSlices};
use crate::status::{Failure, Result};
use crate::trace::{Stamps, aligned};
use std::collections::BTreeMap;
use traceglass::event::{Time, Window};

/// Prints slices.
pub struct SliceLines<'o> {
    json: Option<Line>,
    window: Window,
    out: &'o mut Out,
    stamps: Stamps,
    line: String,
    /// What tracks are called besides their labels.
    aliases: BTreeMap<String, String>,
    printed: bool,
}

impl<'o> SliceLines<'o> {
    /// Those that have a part in a window.
    pub fn new(json: bool, window: Window, out: &'o mut Out) -> Self {
        let json = json.then(Line::new);
        Self {
            json,
            window,
            out,
            stamps: Stamps::default(),
            line: String::new(),
            aliases: BTreeMap::new(),
            printed: false,
        }
    }

    /// Prints what tracks are called, as JSON: people see it with each slice.
    pub fn finish(mut self) -> Result<()> {
        if let Some(json) = &mut self.json {
            for (track, alias) in &self.aliases {
                let text = json.begin().text("kind", "track").text("track", track).text("label", alias).end();
                self.out.json_text(text)?;
            }
        } else if !self.printed && self.window != Window::ALL {
            self.out.message("nothing lasted in this range of time");
        }
        Ok(())
    }

    fn as_json(json: &mut Line, stamps: &mut Stamps, slice: &Slice<'_>, out: &mut Out) -> Result<()> {
        let ns = |time: Option<Time>| time.map(Time::ns);
        let is_absolute = slice.is_absolute();
        json.begin().plain("kind", "slice").text("track", slice.track).text("name", slice.name);
        json.time(ns(slice.begin), is_absolute, stamps).end_time(ns(slice.end), is_absolute, stamps);
        json.span("duration_ns", slice.duration());
        json.int("depth", slice.depth as u64).int("offset", slice.offset);
        json.list("flags", slice.edges.names()).members("args", slice.args);
        out.json_text(json.end())
    }

    fn as_text(&mut self, slice: &Slice<'_>) -> Result<()> {
        self.line.clear();
        match slice.begin {
            Some(begin) => self.stamps.push(&mut self.line, begin.ns(), begin.is_absolute()),
            None => self.line.push_str("before"),
        }
        let duration = slice.duration().map_or_else(|| "?   ".to_owned(), aligned);
        let track = match self.aliases.get(slice.track) {
            Some(alias) => format!("{} ({})", printable(slice.track), printable(alias)),
            None => printable(slice.track),
        };
        let name = self.out.paint(HEADING, printable(slice.name));
        let depth = slice.depth.min(32).saturating_mul(2);
        let mut line =
            format!("{:>20}  {duration:>14}  {}  {:depth$}{name}", self.line, self.out.paint(DIM, track), "");
        for (key, value) in object(slice.args) {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            line.push_str(&format!(" {}={}", printable(&key), printable(&value)));
        }
        let flags: Vec<_> = slice.edges.names().collect();
        if !flags.is_empty() {
            line.push_str(&format!(" [{}]", flags.join(" ")));
        }
        self.out.buffered(&line)
    }
}

/// The members of an object.
fn object(members: &[u8]) -> serde_json::Map<String, serde_json::Value> {
    serde_json::from_slice(&[b"{", members, b"}"].concat()).unwrap_or_default()
}

impl TakeSlices for SliceLines<'_> {
    type Error = Failure;

    fn slice(&mut self, slice: &Slice<'_>) -> Result<()> {
        if !slice.touches(self.window) {
            return Ok(());
        }
        self.printed = true;
        match &mut self.json {
            Some(json) => Self::as_json(json, &mut self.stamps, slice, self.out),
            None => self.as_text(slice),
        }
    }

    fn alias(&mut self, track: &str, alias: &str) {
        self.aliases.insert(track.to_owned(), alias.to_owned());
    }
}
