//! The input and the output of the command.

use std::io::{IsTerminal, Write};

/// The columns of a screen where no terminal tells.
const WIDTH: usize = 80;

/// The streams of a run, and what is known of them.
pub struct Console {
    pub(crate) stdout: Box<dyn Write + Send>,
    pub(crate) stderr: Box<dyn Write + Send>,
    /// True if a terminal shows what is written to stdout.
    pub(crate) is_terminal: bool,
    /// The number of columns it has.
    pub(crate) width: usize,
    /// True if colour is welcome, of stdout and stderr.
    pub(crate) color: [bool; 2],
}

impl Console {
    /// The streams of the process.
    pub fn standard() -> Self {
        let welcome = |choice: anstream::ColorChoice| choice != anstream::ColorChoice::Never;
        let (stdout, stderr) = (std::io::stdout(), std::io::stderr());
        Self {
            color: [
                welcome(anstream::AutoStream::choice(&stdout)),
                welcome(anstream::AutoStream::choice(&stderr)),
            ],
            is_terminal: stdout.is_terminal(),
            width: columns(),
            stdout: Box::new(stdout),
            stderr: Box::new(stderr),
        }
    }

    /// Other streams, for tests; a terminal has colour.
    pub fn new(
        stdout: impl Write + Send + 'static,
        stderr: impl Write + Send + 'static,
        is_terminal: bool,
    ) -> Self {
        Self {
            stdout: Box::new(stdout),
            stderr: Box::new(stderr),
            is_terminal,
            width: WIDTH,
            color: [is_terminal; 2],
        }
    }
}

/// The number of columns: as `COLUMNS` says, or the terminal.
fn columns() -> usize {
    let stated = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    stated.or_else(terminal).filter(|&columns| columns > 0).unwrap_or(WIDTH)
}
