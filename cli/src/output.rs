//! stdout for data, stderr for messages; colour on terminals.

use crate::status::{Failure, Result};
use anstyle::{AnsiColor, Style};
use serde_json::{Map, Value};
use std::fmt::Display;
use std::io::{self, BufWriter, ErrorKind, StdoutLock, Write};
use std::path::Path;

/// When to use colour.
#[derive(Clone, Copy, Default, clap::ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    Always,
    Never,
}

/// A heading, such as a path.
pub const HEADING: Style = Style::new().bold();
/// What names a value.
pub const LABEL: Style = AnsiColor::Cyan.on_default();
/// What matters less.
pub const DIM: Style = Style::new().dimmed();
/// A warning.
pub const WARNING: Style = AnsiColor::Yellow.on_default();
/// An error.
pub const ERROR: Style = AnsiColor::Red.on_default().bold();
/// All is well.
pub const GOOD: Style = AnsiColor::Green.on_default();

/// stdout, buffered, or a page of it that waits for its turn.
pub struct Out {
    stdout: Sink,
    color: bool,
    color_stderr: bool,
}

impl Out {
    pub fn new(color: Color) -> Self {
        let stdout = std::io::stdout().lock();
        let choose = |automatic: anstream::ColorChoice| match color {
            Color::Auto => automatic != anstream::ColorChoice::Never,
            Color::Always => true,
            Color::Never => false,
        };
        Self {
            color: choose(anstream::AutoStream::choice(&stdout)),
            color_stderr: choose(anstream::AutoStream::choice(&std::io::stderr())),
            stdout: Sink::Stdout(BufWriter::with_capacity(1 << 16, stdout)),
        }
    }

    /// A page for another thread to write; a page too long is a failure, and is to be written in its turn.
    pub fn page(color: bool) -> Self {
        Self { stdout: Sink::Page(Vec::new()), color, color_stderr: false }
    }

    /// What was written to a page.
    pub fn into_page(self) -> Vec<u8> {
        match self.stdout {
            Sink::Page(page) => page,
            Sink::Stdout(_) => Vec::new(),
        }
    }

    /// Bytes as they are.
    pub fn bytes(&mut self, data: &[u8]) -> Result<()> {
        Ok(self.stdout.write_all(data)?)
    }

    /// A line of text.
    pub fn line(&mut self, text: impl Display) -> Result<()> {
        Ok(writeln!(self.stdout, "{text}")?)
    }

    /// Text without a line end.
    pub fn text(&mut self, text: impl Display) -> Result<()> {
        Ok(write!(self.stdout, "{text}")?)
    }

    /// A JSON value, compact, on a line of its own.
    pub fn json(&mut self, value: &Value) -> Result<()> {
        serde_json::to_writer(&mut self.stdout, value).map_err(std::io::Error::from)?;
        Ok(self.stdout.write_all(b"\n")?)
    }

    /// `text` in a style, where colour is on.
    pub fn paint(&self, style: Style, text: impl Display) -> String {
        paint(self.color, style, text)
    }

    /// Whether colour is on.
    pub fn is_colored(&self) -> bool {
        self.color
    }

    pub fn finish(&mut self) -> Result<()> {
        Ok(self.stdout.flush()?)
    }

    /// A message about a failure, on stderr.
    pub fn complain(&self, failure: &Failure) {
        self.say(ERROR, "error", failure);
    }

    /// A message about a path that failed, on stderr.
    pub fn complain_of(&self, path: &Path, failure: &Failure) {
        self.say(ERROR, "error", format_args!("{}: {failure}", shown(path)));
    }

    /// A warning, on stderr, behind what was printed so far.
    pub fn warn(&mut self, path: &Path, message: impl Display) {
        // If it fails, so does what is written next, and that is told.
        let _ = self.stdout.flush();
        self.say(WARNING, "warning", format_args!("{}: {message}", shown(path)));
    }

    fn say(&self, style: Style, kind: &str, message: impl Display) {
        let kind = paint(self.color_stderr, style, format_args!("{kind}:"));
        // Nothing can be said if stderr is gone.
        let _ = writeln!(std::io::stderr(), "{kind} {message}");
    }
}

fn paint(color: bool, style: Style, text: impl Display) -> String {
    if color { format!("{style}{text}{style:#}") } else { text.to_string() }
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

/// So many bytes of a page are kept.
const PAGE: usize = 1 << 20;

enum Sink {
    Stdout(BufWriter<StdoutLock<'static>>),
    Page(Vec<u8>),
}

impl Write for Sink {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(stdout) => stdout.write(data),
            Self::Page(page) if page.len() + data.len() > PAGE => Err(ErrorKind::FileTooLarge.into()),
            Self::Page(page) => page.write(data),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(stdout) => stdout.flush(),
            Self::Page(_) => Ok(()),
        }
    }
}

/// Bytes as lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().flat_map(|&byte| digits(byte)).map(char::from).collect()
}

/// The two digits of a byte in lower-case hex.
pub fn digits(byte: u8) -> [u8; 2] {
    let digit = |half: u8| if half < 10 { b'0' + half } else { b'a' - 10 + half };
    [digit(byte >> 4), digit(byte & 15)]
}

/// An integer with thousands separators.
pub fn grouped(number: impl Into<i128>) -> String {
    let number = number.into();
    let digits = number.unsigned_abs().to_string();
    let mut text = String::from(if number < 0 { "-" } else { "" });
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of bytes: exact, and rounded where it is large.
pub fn bytes(count: u64) -> String {
    let exact = grouped(count);
    let unit = if count == 1 { "byte" } else { "bytes" };
    const UNITS: [(&str, u32); 3] = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    match UNITS.iter().find(|(_, shift)| count >> shift >= 10) {
        Some((name, shift)) => {
            #[allow(clippy::cast_precision_loss)]
            let rounded = count as f64 / f64::from(1_u32 << shift);
            format!("{exact} {unit} ({rounded:.1} {name})")
        }
        None => format!("{exact} {unit}"),
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

/// Text from a file, made safe for a terminal: control characters are escaped.
pub fn printable(text: &str) -> String {
    text.chars()
        .flat_map(|c| {
            let escaped = c.is_control();
            escaped.then(|| c.escape_default()).into_iter().flatten().chain((!escaped).then_some(c))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_000), "1,000");
        assert_eq!(grouped(i64::MIN), "-9,223,372,036,854,775,808");
        assert_eq!(bytes(1), "1 byte");
        assert_eq!(bytes(464_946), "464,946 bytes (454.0 KiB)");
        assert_eq!(counted(1, "chunk", "chunks"), "1 chunk");
    }

    #[test]
    fn terminals_are_safe() {
        assert_eq!(printable("a\u{1b}[31mß\n"), "a\\u{1b}[31mß\\n");
    }
}
