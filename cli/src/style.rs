//! The styles that text on a terminal can have.

use anstyle::{AnsiColor, Style};

/// A heading, such as a path.
pub const HEADING: Style = Style::new().bold();
/// The style of names of values.
pub const LABEL: Style = AnsiColor::Cyan.on_default();
/// The style of text that matters less.
pub const DIM: Style = Style::new().dimmed();
/// A warning.
pub const WARNING: Style = AnsiColor::Yellow.on_default();
/// An error.
pub const ERROR: Style = AnsiColor::Red.on_default().bold();
/// All is well.
pub const GOOD: Style = AnsiColor::Green.on_default();

/// The styles that text can have.
pub const STYLES: &[Style] = &[
    HEADING,
    LABEL,
    DIM,
    WARNING,
    ERROR,
    GOOD,
    AnsiColor::Magenta.on_default(),
    AnsiColor::Blue.on_default(),
    AnsiColor::BrightCyan.on_default(),
    AnsiColor::BrightGreen.on_default(),
    AnsiColor::BrightYellow.on_default(),
    AnsiColor::BrightMagenta.on_default(),
    AnsiColor::BrightBlue.on_default(),
];
