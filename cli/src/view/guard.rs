//! A process that looks after the viewer's terminal.
//!
//! What is mapped of a file is gone when another process shortens that file: a process that then touches it is ended
//! by a signal (SIGBUS), which nothing safe can catch. Therefore the viewer is a process of its own: whatever ends it,
//! this one gives the terminal back as it was, and says what happened.

use crate::status::{Failure, Result, Status};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

/// Tells the viewer that it is looked after.
const GUARDED: &str = "TRACEGLASS_VIEW_GUARDED";

/// What makes a terminal leave the viewer's screen: no mouse, the cursor, the usual screen.
const LEAVE: &[u8] = b"\x1b[?1000l\x1b[?25h\x1b[?1049l\x1b[0m";

/// Runs this command again, as the viewer, and waits for it. None if this is the viewer, or if it has to do without.
pub fn run() -> Option<Result<Status>> {
    if std::env::var_os(GUARDED).is_some() {
        return None;
    }
    let stdin = std::io::stdin();
    let before = tcgetattr(&stdin).ok()?;
    let mut command = Command::new(std::env::current_exe().ok()?);
    let mut viewer = command.args(std::env::args_os().skip(1)).env(GUARDED, "1").spawn().ok()?;
    let status = viewer.wait().ok()?;
    if let Some(code) = status.code().filter(|&code| code != 101) {
        return Some(match code {
            0 => Ok(Status::Clean),
            3 => Ok(Status::Damaged),
            // It has said why.
            _ => Ok(Status::Failed),
        });
    }
    // The terminal may be gone, too.
    let _ = tcsetattr(&stdin, OptionalActions::Flush, &before);
    let Some(signal) = status.signal() else {
        // It failed, gave the terminal back, and said why.
        return Some(Ok(Status::Failed));
    };
    let mut stdout = std::io::stdout().lock();
    let _ = stdout.write_all(LEAVE).and_then(|()| stdout.flush());
    Some(Err(Failure::unreadable(match signal {
        // What SIGBUS is on this system.
        signal if signal == rustix::process::Signal::BUS.as_raw() => {
            "the file became shorter while it was looked at; --no-map reads it instead of mapping it"
                .to_owned()
        }
        signal => format!("the viewer was ended by signal {signal}"),
    })))
}
