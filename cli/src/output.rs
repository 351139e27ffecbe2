//! stdout for data, stderr for messages; colour on terminals.

use crate::console::Console;
pub use crate::escape::printable;
use crate::escape::{self, Screen, painted, push};
use crate::measure::{width, wrap};
use crate::progress;
use crate::status::{Failure, Result, Status};
pub use crate::style::{DIM, ERROR, GOOD, HEADING, LABEL, WARNING};
use anstyle::Style;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt::{Display, Write as _};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;
pub use traceglass_open::text::{NAME_MAX, digits, push_label, push_start};

/// The use of colour.
#[derive(Clone, Copy, Default, clap::ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    Always,
    Never,
}

/// Everything that is printed: stdout, buffered, and stderr; or a page of both that waits for its turn.
///
/// Text is escaped here, whatever it was made of, so that nothing of a trace reaches a terminal that obeys it. Bytes as
/// they are go to files and pipes alone.
pub struct Out {
    stdout: Sink,
    stderr: Box<dyn Write + Send>,
    /// Messages of a page.
    said: Vec<u8>,
    color: bool,
    color_stderr: bool,
    is_terminal: bool,
    /// The number of columns the screen has.
    width: usize,
    /// Columns that were left out of tables.
    hidden: Vec<&'static str>,
    /// True if what was written ends within a line.
    in_line: bool,
    /// The line that is being written.
    line: String,
    json: Vec<u8>,
}

impl Out {
    pub fn new(color: Color, mut console: Console) -> Self {
        console.stdout = progress::shy(console.stdout);
        console.stderr = progress::shy(console.stderr);
        let choose = |welcome: bool| match color {
            Color::Auto => welcome,
            Color::Always => true,
            Color::Never => false,
        };
        let [color_stdout, color_stderr] = console.color.map(choose);
        Self {
            stdout: Sink::new(Destination::Stdout(BufWriter::with_capacity(1 << 16, console.stdout))),
            stderr: console.stderr,
            said: Vec::new(),
            color: color_stdout,
            color_stderr,
            is_terminal: console.is_terminal,
            width: console.width,
            hidden: Vec::new(),
            in_line: false,
            line: String::new(),
            json: Vec::new(),
        }
    }

    /// A page for another thread to write; a page too long is a failure, and is to be written in its turn.
    pub fn page(&self) -> PageMaker {
        let Self { color, color_stderr, is_terminal, width, .. } = *self;
        PageMaker { color, color_stderr, is_terminal, width }
    }

    /// Writes a page of another thread.
    pub fn paste(&mut self, page: Self) -> Result<()> {
        if let Destination::Page(text) = page.stdout.to {
            self.stdout.write_all(&text)?;
        }
        if !page.said.is_empty() {
            // If it fails, so does what is written next, and that is reported.
            let _ = self.stdout.flush();
            // Nothing can be said if stderr is gone.
            let _ = self.stderr.write_all(&page.said);
        }
        Ok(())
    }

    /// Raw bytes are written to a terminal as well.
    pub fn force(&mut self) {
        self.is_terminal = false;
    }

    /// Bytes of the trace as they are, which a terminal does not get.
    pub fn raw(&mut self, data: &[u8]) -> Result<()> {
        if self.is_terminal {
            return Err(Failure::usage(
                "these are raw bytes, which a terminal may obey: redirect them to a file, or say --force",
            ));
        }
        Ok(self.stdout.write_all(data)?)
    }

    /// Text of the trace as it is, in pieces; a terminal gets it escaped, apart from its lines.
    pub fn content<'t>(&mut self, pieces: impl Iterator<Item = &'t [u8]>) -> Result<()> {
        // A character that is cut at the end of a piece is shown with the next one.
        let mut cut = Vec::new();
        for piece in pieces {
            if !self.is_terminal {
                self.stdout.write_all(piece)?;
                continue;
            }
            cut.extend_from_slice(piece);
            let rest = cut.split_off(cut.len().saturating_sub(cut_character(&cut)));
            self.escaped(&cut)?;
            cut = rest;
        }
        self.escaped(&cut)
    }

    fn escaped(&mut self, text: &[u8]) -> Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        self.line.clear();
        push(&mut self.line, &String::from_utf8_lossy(text), |c| matches!(c, '\n' | '\t'));
        self.in_line = !self.line.ends_with('\n');
        Ok(self.stdout.write_all(self.line.as_bytes())?)
    }

    /// Text of the command itself: help, completions, manual pages.
    pub fn own(&mut self, text: &[u8]) -> Result<()> {
        Ok(self.stdout.write_all(text)?)
    }

    /// A line of text.
    pub fn line(&mut self, text: impl Display) -> Result<()> {
        self.put(text, "\n")
    }

    /// Text that is as long as it is, in lines that fit the screen; the lines after the first are indented.
    pub fn wrapped(&mut self, front: &str, text: impl Display) -> Result<()> {
        let indent = width(&escape::plain(front));
        let text = text.to_string();
        let lines = wrap(&text, self.width.saturating_sub(indent));
        for (number, line) in lines.iter().enumerate() {
            match number {
                0 => self.line(format_args!("{front}{line}"))?,
                _ => self.line(format_args!("{:indent$}{line}", ""))?,
            }
        }
        Ok(())
    }

    /// A line that was made in a buffer, of which many are written: text and styles, which are escaped here.
    pub fn buffered(&mut self, text: &str) -> Result<()> {
        if !self.color && !escape::is_suspect(text.as_bytes()) {
            self.stdout.write_all(text.as_bytes())?;
            return Ok(self.stdout.write_all(b"\n")?);
        }
        self.line(text)
    }

    /// Lines that were made in a buffer: text and styles, which are escaped here.
    pub fn lines(&mut self, text: &[u8]) -> Result<()> {
        if !self.color && !escape::is_suspect_line(text) {
            return Ok(self.stdout.write_all(text)?);
        }
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            self.buffered(&String::from_utf8_lossy(line))?;
        }
        Ok(())
    }

    /// A line that was made in a buffer, if nothing in it has to be escaped; false if that is not so.
    pub fn safe_line(&mut self, text: &[u8]) -> Result<bool> {
        if escape::is_suspect_text(text) {
            return Ok(false);
        }
        self.stdout.write_all(text)?;
        self.stdout.write_all(b"\n")?;
        Ok(true)
    }

    fn put(&mut self, text: impl Display, end: &str) -> Result<()> {
        self.line.clear();
        // A string takes all that is written to it; what cannot be shown ends there.
        let _ = write!(Screen::new(&mut self.line, self.color), "{text}");
        self.line.push_str(end);
        Ok(self.stdout.write_all(self.line.as_bytes())?)
    }

    /// A JSON value, compact, on a line of its own.
    pub fn json(&mut self, value: &Value) -> Result<()> {
        self.json_text(value.to_string().as_bytes())?;
        Ok(self.stdout.write_all(b"\n")?)
    }

    /// JSON text, or a part of it.
    pub fn json_text(&mut self, text: &[u8]) -> Result<()> {
        // By the highest bit, so that many bytes are looked at together.
        if text.iter().fold(0, |bits, byte| bits | byte | byte.wrapping_add(1)) < 0x80 {
            return Ok(self.stdout.write_all(text)?);
        }
        self.json.clear();
        escape::json(&mut self.json, text);
        Ok(self.stdout.write_all(&self.json)?)
    }

    /// `text` in a style, where colour is on.
    pub fn paint(&self, style: Style, text: impl Display) -> String {
        if self.color { painted(style, text) } else { text.to_string() }
    }

    /// True if there is no colour.
    pub fn is_plain(&self) -> bool {
        !self.color
    }

    /// Appends text in a style, where colour is on; what it says is escaped.
    pub fn push_painted(&self, to: &mut String, style: Style, texts: &[&str]) {
        escape::push_painted(to, Some(style).filter(|_| self.color), texts);
    }

    /// The number of columns the screen has.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Remembers columns that a table had no room for.
    pub fn hidden_columns(&mut self, names: &[&'static str]) {
        for name in names {
            if !self.hidden.contains(name) {
                self.hidden.push(name);
            }
        }
    }

    /// Says which columns were left out, if a person reads it.
    pub fn tell_hidden(&mut self) {
        let hidden = std::mem::take(&mut self.hidden);
        if self.is_terminal && !hidden.is_empty() {
            let names = hidden.join(", ");
            self.message(&format!("no room for: {names}; --width or --json shows all"));
        }
    }

    /// True if nothing has been printed.
    pub fn is_empty(&self) -> bool {
        self.stdout.is_empty
    }

    /// True if colour is on.
    pub fn is_colored(&self) -> bool {
        self.color
    }

    pub fn finish(&mut self) -> Result<()> {
        Ok(self.stdout.flush()?)
    }

    /// A message about a failure, on stderr.
    pub fn complain(&mut self, failure: &Failure) {
        self.say(ERROR, "error", failure);
    }

    /// Says why a path cannot be read. Any other failure ends the run.
    pub fn failed(&mut self, path: &Path, failure: Failure) -> Result<Status> {
        match failure {
            Failure::Unreadable(_) => {
                self.complain_of(path, &failure);
                Ok(Status::Failed)
            }
            other => Err(other),
        }
    }

    /// A message about a path that failed, on stderr.
    pub fn complain_of(&mut self, path: &Path, failure: &Failure) {
        self.say(ERROR, "error", format_args!("{}: {failure}", shown(path)));
        if let Failure::Unreadable(unreadable) = failure {
            let (_, excerpt) = unreadable.parts();
            if !excerpt.is_empty() {
                self.message(excerpt);
            }
        }
    }

    /// A warning, on stderr, after what was printed so far.
    pub fn warn(&mut self, path: &Path, message: impl Display) {
        self.say(WARNING, "warning", format_args!("{}: {message}", shown(path)));
    }

    fn say(&mut self, style: Style, kind: &str, message: impl Display) {
        let kind =
            if self.color_stderr { painted(style, format_args!("{kind}:")) } else { format!("{kind}:") };
        let mut line = String::new();
        // A string takes all that is written to it.
        let _ = write!(Screen::new(&mut line, self.color_stderr), "{kind} {message}");
        line.push('\n');
        self.tell(&line);
    }

    /// A message of one line or several, on stderr.
    pub fn message(&mut self, text: &str) {
        let mut lines = String::new();
        push(&mut lines, text, |c| c == '\n');
        if !lines.ends_with('\n') {
            lines.push('\n');
        }
        if let (true, Some(rest)) = (self.color_stderr, lines.strip_prefix("error:")) {
            lines = format!("{ERROR}error:{ERROR:#}{rest}");
        }
        self.tell(&lines);
    }

    fn tell(&mut self, line: &str) {
        if let Destination::Page(_) = self.stdout.to {
            return self.said.extend(line.as_bytes());
        }
        // If it fails, so does what is written next, and that is reported.
        let _ = self.stdout.flush();
        // Lines of both streams do not run into each other on a terminal.
        let begin: &[u8] = if std::mem::take(&mut self.in_line) { b"\n" } else { b"" };
        // Nothing can be said if stderr is gone.
        let _ = self
            .stderr
            .write_all(begin)
            .and_then(|()| self.stderr.write_all(line.as_bytes()))
            .and_then(|()| self.stderr.flush());
    }
}

/// Makes pages: it can be sent to other threads.
#[derive(Clone, Copy)]
pub struct PageMaker {
    color: bool,
    color_stderr: bool,
    is_terminal: bool,
    width: usize,
}

impl PageMaker {
    /// An empty page.
    pub fn page(self) -> Out {
        Out {
            stdout: Sink::new(Destination::Page(Vec::new())),
            stderr: Box::new(io::sink()),
            said: Vec::new(),
            color: self.color,
            color_stderr: self.color_stderr,
            is_terminal: self.is_terminal,
            width: self.width,
            hidden: Vec::new(),
            in_line: false,
            line: String::new(),
            json: Vec::new(),
        }
    }
}

/// A field of text that may not be UTF-8: `key`, and `key_hex` where it is not.
pub fn insert_text(object: &mut Map<String, Value>, key: &str, bytes: &[u8]) {
    match std::str::from_utf8(bytes) {
        Ok(text) => {
            object.insert(key.to_owned(), text.into());
        }
        Err(_) => {
            object.insert(key.to_owned(), Value::Null);
            object.insert(format!("{key}_hex"), hex(bytes).into());
        }
    }
}

/// The field `path`.
pub fn insert_path(object: &mut Map<String, Value>, path: &Path) {
    insert_text(object, "path", path.as_os_str().as_encoded_bytes());
}

/// The number of bytes at the end of a text that are the start of a character.
fn cut_character(text: &[u8]) -> usize {
    let is_start = |len: &usize| {
        let end = text.len().checked_sub(*len).and_then(|at| text.get(at..)).unwrap_or_default();
        std::str::from_utf8(end).is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    };
    (1..4).find(is_start).unwrap_or(0)
}

/// The number of bytes of a page that are kept.
const PAGE: usize = 1 << 20;

struct Sink {
    to: Destination,
    /// True if nothing was written yet.
    is_empty: bool,
}

enum Destination {
    Stdout(BufWriter<Box<dyn Write + Send>>),
    Page(Vec<u8>),
}

impl Sink {
    const fn new(to: Destination) -> Self {
        Self { to, is_empty: true }
    }
}

impl Write for Sink {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.is_empty &= data.is_empty();
        match &mut self.to {
            Destination::Stdout(stdout) => stdout.write(data),
            Destination::Page(page) if page.len().saturating_add(data.len()) > PAGE => {
                Err(ErrorKind::FileTooLarge.into())
            }
            Destination::Page(page) => page.write(data),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            Destination::Stdout(stdout) => stdout.flush(),
            Destination::Page(_) => Ok(()),
        }
    }
}

/// Adds to a count, which stays at the most that there is.
pub fn add(count: &mut u64, more: u64) {
    *count = count.saturating_add(more);
}

/// Bytes as lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().saturating_mul(2));
    push_hex(&mut text, bytes);
    text
}

/// Appends bytes as hex.
pub fn push_hex(to: &mut String, bytes: &[u8]) {
    for piece in bytes.chunks(32) {
        let mut text = [0; 64];
        text.as_chunks_mut().0.iter_mut().zip(piece).for_each(|(to, &byte)| *to = digits(byte));
        let text = text.get(..piece.len().saturating_mul(2)).unwrap_or_default();
        to.push_str(std::str::from_utf8(text).unwrap_or_default());
    }
}

/// An integer with thousands separators.
pub fn grouped(number: impl Into<i128>) -> String {
    let number = number.into();
    let digits = number.unsigned_abs().to_string();
    let mut text = String::from(if number < 0 { "-" } else { "" });
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && digits.len().saturating_sub(place) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of bytes: rounded where it is large, and exact as well.
pub fn bytes(count: u64) -> String {
    let exact = format!("{} {}", grouped(count), if count == 1 { "byte" } else { "bytes" });
    match size(count) {
        Some((rounded, true)) => rounded,
        Some((rounded, false)) => format!("{rounded} ({exact})"),
        None => exact,
    }
}

/// A number of bytes in the unit that suits it, as "1.0 MiB", and whether that is exact; of few bytes there is none.
fn size(count: u64) -> Option<(String, bool)> {
    const UNITS: [(&str, u64); 5] =
        [("PiB", 1 << 50), ("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    let (name, unit) = UNITS.iter().find(|(_, unit)| count >= *unit)?;
    #[allow(clippy::cast_precision_loss)]
    let rounded = count as f64 / *unit as f64;
    let tenth = u128::from(count).saturating_mul(10).checked_rem(u128::from(*unit)) == Some(0);
    Some((format!("{rounded:.1} {name}"), tenth))
}

/// Text of up to `most` characters; of a longer one the beginning, and a mark.
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most).and_then(|(end, _)| text.get(..end)) {
        Some(start) if text.len() > most => format!("{start}…").into(),
        _ => text.into(),
    }
}

/// A share, as "12.5 %".
pub fn percent(part: u64, whole: u64) -> String {
    #[allow(clippy::cast_precision_loss)]
    let share = part as f64 * 100.0 / whole.max(1) as f64;
    format!("{share:.1} %")
}

/// `count` things: "1 chunk", "2,000 chunks".
pub fn counted(count: impl Into<i128>, one: &str, many: &str) -> String {
    let count = count.into();
    format!("{} {}", grouped(count), if count == 1 { one } else { many })
}

/// A path for people: what is not UTF-8 is replaced, and what a terminal would obey is escaped.
pub fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_that_is_cut_is_held_back() {
        let text = "h\u{f6}\u{20ac}\u{10ffff}".as_bytes();
        let held: Vec<usize> = (0..=text.len()).map(|len| cut_character(&text[..len])).collect();
        assert_eq!(held, [0, 0, 1, 0, 1, 2, 0, 1, 2, 3, 0]);
        // What is no text is none that is cut.
        assert_eq!([&b"\xff"[..], b"a\x80", b"\xe2\x28"].map(cut_character), [0, 0, 0]);
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_000), "1,000");
        assert_eq!(grouped(i64::MIN), "-9,223,372,036,854,775,808");
        assert_eq!(bytes(1), "1 byte");
        assert_eq!(bytes(464_946), "454.0 KiB (464,946 bytes)");
        assert_eq!((bytes(1 << 20), bytes(1023)), ("1.0 MiB".into(), "1,023 bytes".into()));
        assert_eq!(bytes(u64::MAX), "16384.0 PiB (18,446,744,073,709,551,615 bytes)");
        assert_eq!(counted(1, "chunk", "chunks"), "1 chunk");
    }
}
