//! Slices as lines: for people, and as JSON.

use super::Names;
use super::tree::Tree;
use crate::escape;
use crate::json::Line;
use crate::output::{DIM, HEADING, Out};
use crate::slices::{Slice, TakeSlices};
use crate::status::{Failure, Result};
use crate::trace::Select;
use crate::trace::{Stamps, push_aligned};
use anstyle::Style;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use traceglass::event::states::Edges;
use traceglass::event::{Time, Window};
use traceglass_open::members::members;
use traceglass_open::record::Buffer;
use traceglass_open::text::needs_json_escape;

/// Prints slices.
pub struct SliceLines<'o> {
    json: Option<Line>,
    tree: Option<Tree>,
    window: Window,
    names: Names,
    /// The tracks of what is printed, if not all are asked for.
    tracks: Option<HashSet<String>>,
    out: &'o mut Out,
    stamps: Stamps,
    /// A part of a line, as it is made.
    text: String,
    /// The other names of tracks, by their labels.
    aliases: BTreeMap<String, String>,
    buffer: Buffer,
    printed: bool,
}

impl<'o> SliceLines<'o> {
    /// A printer of the slices that lie in a window at least partly, and are asked for.
    pub fn new(json: bool, is_tree: bool, window: Window, select: &Select, out: &'o mut Out) -> Self {
        let json = json.then(Line::new);
        Self {
            json,
            tree: is_tree.then(Tree::default),
            window,
            names: select.names(),
            tracks: (!select.is_everything()).then(HashSet::new),
            out,
            stamps: Stamps::default(),
            text: String::new(),
            aliases: BTreeMap::new(),
            buffer: Buffer::default(),
            printed: false,
        }
    }

    /// Prints what tracks are called, as JSON: people see it with each slice. False if there was no slice.
    pub fn finish(mut self) -> Result<bool> {
        if let Some(tree) = self.tree.take() {
            let (out, is_json) = (&mut *self.out, self.json.is_some());
            tree.finish(&mut |line| put(out, is_json, line))?;
        }
        if let Some(json) = &mut self.json {
            for (track, alias) in &self.aliases {
                let text = json.begin().text("kind", "track").text("track", track).text("label", alias).end();
                self.out.json_text(text)?;
            }
        }
        Ok(self.printed)
    }

    fn as_json(buffer: &mut Buffer, stamps: &mut Stamps, slice: &Slice<'_>) {
        let is_absolute = slice.is_absolute();
        buffer.put(b"{\"kind\":\"slice\",\"track\":");
        quoted(buffer, slice.track());
        buffer.put(b",\"name\":");
        quoted(buffer, slice.name);
        buffer.put(b",\"time_ns\":");
        moment(buffer, stamps, b",\"time\":", slice.begin, is_absolute);
        buffer.put(b",\"end_time_ns\":");
        moment(buffer, stamps, b",\"end_time\":", slice.end, is_absolute);
        buffer.put(b",\"duration_ns\":");
        nanoseconds(buffer, slice.duration());
        buffer.put(b",\"depth\":");
        buffer.unsigned(slice.depth as u64);
        buffer.put(b",\"offset\":");
        buffer.unsigned(slice.offset);
        buffer.put(b",\"flags\":[");
        if !slice.edges.is_empty() {
            for flag in slice.edges.names() {
                buffer.byte(b'"');
                buffer.put(flag.as_bytes());
                buffer.put(b"\",");
            }
        }
        buffer.close(b',', b']');
        buffer.put(b",\"args\":{");
        buffer.put(slice.args);
        buffer.put(b"}}\n");
    }

    /// Prints a slice for people.
    fn print(&mut self, slice: &Slice<'_>) -> Result<()> {
        // Nearly all lines have nothing to be escaped: one look at all of it tells.
        if self.out.is_plain() {
            self.as_text(slice, false);
            if self.out.safe_line(self.buffer.text())? {
                return Ok(());
            }
        }
        self.as_text(slice, true);
        self.buffer.byte(b'\n');
        self.out.lines(self.buffer.text())
    }

    /// Writes a slice for people, without a line feed: painted, what is unsafe is escaped, else all is as it is.
    fn as_text(&mut self, slice: &Slice<'_>, is_painted: bool) {
        let Self { buffer, text, stamps, out, .. } = self;
        let out = is_painted.then_some(&**out);
        buffer.clear();
        begin(buffer, stamps, text, slice.begin);
        text.clear();
        match slice.duration() {
            Some(ns) => push_aligned(text, ns),
            None => text.push_str("?   "),
        }
        // Two columns apart, and 14 wide.
        put_spaces(buffer, 16_usize.saturating_sub(text.chars().count()));
        buffer.put(text.as_bytes());
        buffer.put(b"  ");
        match slice.alias() {
            Some(alias) => painted(buffer, out, text, DIM, &[slice.track(), " (", alias, ")"]),
            None => painted(buffer, out, text, DIM, &[slice.track()]),
        }
        buffer.put(b"  ");
        put_spaces(buffer, slice.depth.min(32).saturating_mul(2));
        painted(buffer, out, text, HEADING, &[slice.name]);
        for (key, value) in members(slice.args) {
            buffer.byte(b' ');
            put_said(buffer, key, is_painted);
            buffer.byte(b'=');
            put_said(buffer, value, is_painted);
        }
        if slice.edges.is_empty() {
            return;
        }
        for (place, flag) in slice.edges.names().enumerate() {
            buffer.put(if place == 0 { b" [" } else { b" " });
            buffer.put(flag.as_bytes());
        }
        buffer.byte(b']');
    }
}

/// The begin of a slice, which ends at the same column in each line.
fn begin(buffer: &mut Buffer, stamps: &mut Stamps, text: &mut String, begin: Option<Time>) {
    const WIDTH: usize = 20;
    if let Some(begin) = begin
        && let Some((seconds, front, rest)) = stamps.parts(begin.ns())
    {
        let (before, point, after) = if begin.is_absolute() { (front, "", "Z") } else { (seconds, ".", "") };
        put_spaces(buffer, (WIDTH - 10).saturating_sub(before.len()));
        buffer.put(before.as_bytes());
        buffer.put(point.as_bytes());
        buffer.nine(rest);
        return buffer.put(after.as_bytes());
    }
    text.clear();
    match begin {
        Some(begin) => stamps.push(text, begin.ns(), begin.is_absolute()),
        None => text.push_str("before"),
    }
    put_spaces(buffer, WIDTH.saturating_sub(text.len()));
    buffer.put(text.as_bytes());
}

/// Text as it is; with an output, in a style if that has colour, and with what is unsafe escaped.
fn painted(buffer: &mut Buffer, out: Option<&Out>, text: &mut String, style: Style, texts: &[&str]) {
    let Some(out) = out else { return texts.iter().for_each(|text| buffer.put(text.as_bytes())) };
    text.clear();
    out.push_painted(text, style, texts);
    buffer.put(text.as_bytes());
}

fn put_spaces(buffer: &mut Buffer, count: usize) {
    buffer.put(spaces(count).as_bytes());
}

/// A value of JSON for people: a string without its quotes, anything else as it is written.
fn put_said(buffer: &mut Buffer, value: &[u8], is_escaped: bool) {
    let inner = value.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\""));
    let text = match inner {
        Some(inner) if !inner.contains(&b'\\') => Cow::Borrowed(inner),
        Some(_) => serde_json::from_slice(value)
            .map_or(Cow::Borrowed(value), |text: String| text.into_bytes().into()),
        None => Cow::Borrowed(value),
    };
    if is_escaped {
        return buffer.put(escape::printable(&String::from_utf8_lossy(&text)).as_bytes());
    }
    buffer.put(&text);
}

/// So many spaces: as many as any part of a line needs.
fn spaces(count: usize) -> &'static str {
    const ALL: &str = "                                                                ";
    ALL.get(..count).unwrap_or(ALL)
}

/// Prints what was made of a slice before.
fn put(out: &mut Out, is_json: bool, line: &[u8]) -> Result<()> {
    if is_json { out.json_text(line) } else { out.buffered(&String::from_utf8_lossy(line)) }
}

/// A time as a number and as a date, whose key stands between them.
fn moment(buffer: &mut Buffer, stamps: &mut Stamps, date: &[u8], time: Option<Time>, is_absolute: bool) {
    let ns = time.map(Time::ns);
    let Some((seconds, front, rest)) = ns.and_then(|ns| stamps.parts(ns)) else {
        nanoseconds(buffer, ns);
        buffer.put(date);
        return match ns.filter(|_| is_absolute).and_then(|ns| stamps.rfc3339(ns)) {
            Some(text) => quoted(buffer, text),
            None => buffer.put(b"null"),
        };
    };
    buffer.put(seconds.as_bytes());
    buffer.nine(rest);
    buffer.put(date);
    if !is_absolute {
        return buffer.put(b"null");
    }
    buffer.byte(b'"');
    buffer.put(front.as_bytes());
    buffer.nine(rest);
    buffer.put(b"Z\"");
}

/// A string.
fn quoted(buffer: &mut Buffer, text: &str) {
    if needs_json_escape(text.as_bytes()) {
        // A buffer takes all that is written to it.
        let _ = serde_json::to_writer(buffer, text);
        return;
    }
    buffer.byte(b'"');
    buffer.put(text.as_bytes());
    buffer.byte(b'"');
}

/// A number; one of more than 64 bits as a string.
fn nanoseconds(buffer: &mut Buffer, ns: Option<i128>) {
    match ns.map(|ns| (i64::try_from(ns), ns)) {
        Some((Ok(ns), _)) => buffer.signed(ns),
        // A buffer takes all that is written to it.
        Some((Err(_), ns)) => drop(write!(buffer, "{}", crate::trace::time_json(Some(ns)))),
        None => buffer.put(b"null"),
    }
}

impl TakeSlices for SliceLines<'_> {
    type Error = Failure;

    fn is_for_people(&self) -> bool {
        self.json.is_none()
    }

    fn slice(&mut self, slice: &Slice<'_>) -> Result<()> {
        let is_wanted = slice.touches(self.window) && self.names.has(slice.name);
        self.printed |= is_wanted;
        let is_json = self.json.is_some();
        if let Some(tracks) = &mut self.tracks
            && is_wanted
            && is_json
            && !tracks.contains(slice.track())
        {
            tracks.insert(slice.track().to_owned());
        }
        if is_wanted && is_json {
            self.buffer.clear();
            Self::as_json(&mut self.buffer, &mut self.stamps, slice);
        }
        let Some(mut tree) = self.tree.take() else {
            return match (is_wanted, is_json) {
                (false, _) => Ok(()),
                (true, true) => self.out.json_text(self.buffer.text()),
                (true, false) => self.print(slice),
            };
        };
        let line = match (is_wanted, is_json) {
            (false, _) => None,
            (true, true) => Some(self.buffer.text().to_vec()),
            (true, false) => {
                self.as_text(slice, true);
                Some(self.buffer.text().to_vec())
            }
        };
        let is_open = slice.edges.has(Edges::OPEN_END);
        let put = &mut |line: &[u8]| put(self.out, is_json, line);
        let done = tree.take(slice.id().number(), slice.depth, is_open, line, put);
        self.tree = Some(tree);
        done
    }

    fn alias(&mut self, track: &str, alias: &str) {
        if self.tracks.as_ref().is_none_or(|tracks| tracks.contains(track)) {
            self.aliases.insert(track.to_owned(), alias.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_read_strings_without_quotes_and_escapes() {
        for (json, as_it_is, escaped) in [
            ("\"a b\"", "a b", "a b"),
            (r#""a\"\\\u00e9""#, "a\"\\é", "a\"\\é"),
            ("[\"a\",-1.5]", "[\"a\",-1.5]", "[\"a\",-1.5]"),
            ("18446744073709551615", "18446744073709551615", "18446744073709551615"),
            (r#""a\u001bb\n""#, "a\x1bb\n", r"a\u{1b}b\n"),
            ("\"c\u{202e}d\"", "c\u{202e}d", r"c\u{202e}d"),
        ] {
            for (is_escaped, text) in [(false, as_it_is), (true, escaped)] {
                let mut buffer = Buffer::default();
                put_said(&mut buffer, json.as_bytes(), is_escaped);
                assert_eq!(str::from_utf8(buffer.text()).unwrap(), text);
            }
        }
    }
}
