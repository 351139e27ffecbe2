//! The state that is put in order when a signal ends the command: unfinished files go, the terminal is given back.
//!
//! A mapped part of a file is gone when another process shortens that file: who then touches it gets a signal (SIGBUS),
//! which nothing safe can go on from. It becomes a message and exit status 1.

use crate::status::Status;
use rustix::termios::{OptionalActions, Termios, tcsetattr};
use signal_hook::consts::{SIGBUS, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The sequence by which a terminal leaves the viewer's screen: no mouse, the cursor, the usual screen.
const LEAVE: &[u8] = b"\x1b[?1000l\x1b[?25h\x1b[?1049l\x1b[0m";

/// The stack of the thread that waits for signals.
const STACK: usize = 256 << 10;

/// The state that is to be put in order.
struct Unfinished {
    /// Files and folders that are not complete.
    paths: Vec<PathBuf>,
    /// The settings of a terminal that shows the viewer.
    terminal: Option<Termios>,
}

static UNFINISHED: Mutex<Unfinished> = Mutex::new(Unfinished { paths: Vec::new(), terminal: None });

fn with<R>(change: impl FnOnce(&mut Unfinished) -> R) -> R {
    change(&mut UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Removes a file or folder if the command is ended before [`finished`].
pub fn unfinished(path: &Path) {
    with(|all| all.paths.push(path.to_owned()));
}

/// Leaves a file or folder alone from now on.
pub fn finished(path: &Path) {
    with(|all| all.paths.retain(|known| known != path));
}

/// Gives the terminal back with the settings that it has now.
#[cfg(feature = "view")]
pub fn keep_terminal() {
    let settings = rustix::termios::tcgetattr(rustix::stdio::stdin()).ok();
    with(|all| all.terminal = settings);
}

/// The signals that the command was started to ignore, as `nohup` does it.
fn ignored() -> u64 {
    let about = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = about.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Starts to look after signals, once. Where that cannot be done, they end the command as they always do.
pub fn watch() {
    // SAFETY: no memory is touched, and nothing else sets handlers of this signal. Where files may not grow any more
    // (`ulimit -f`), a write fails then, as on a disk that is full, and nothing is left of what was begun.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    let ignored = ignored();
    let is_ignored = move |signal: i32| {
        let bit = u32::try_from(signal).ok().and_then(|signal| 1_u64.checked_shl(signal.checked_sub(1)?));
        bit.is_some_and(|bit| ignored & bit != 0)
    };
    let watch = move || {
        // SAFETY: no memory is touched, and nothing else sets handlers of this signal. Without it, the handler that the
        // standard library has set, for stacks that overflow, would be called first, and end the process.
        unsafe { libc::signal(SIGBUS, libc::SIG_DFL) };
        let wanted = [SIGHUP, SIGINT, SIGTERM, SIGBUS].into_iter().filter(|&signal| !is_ignored(signal));
        if let Ok(mut signals) = Signals::new(wanted)
            && let Some(signal) = signals.forever().next()
        {
            end(signal);
        }
    };
    // Without a thread nothing has changed yet.
    drop(std::thread::Builder::new().name("signals".to_owned()).stack_size(STACK).spawn(watch));
}

/// Puts everything in order, and ends the command.
fn end(signal: i32) {
    let (paths, terminal) = with(|all| (std::mem::take(&mut all.paths), all.terminal.take()));
    for path in paths {
        // One of both it is; if it is gone, all is well.
        let _ = std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir_all(&path));
    }
    if let Some(settings) = terminal {
        // The terminal may be gone, too.
        let _ = tcsetattr(rustix::stdio::stdin(), OptionalActions::Flush, &settings);
        let _ = rustix::io::write(rustix::stdio::stdout(), LEAVE);
    }
    if signal == SIGBUS {
        // Not by `std`: who was interrupted may hold its lock.
        let says = b"traceglass: a file became shorter while it was read\n";
        let _ = rustix::io::write(rustix::stdio::stderr(), says);
        std::process::exit(Status::Failed.code().into());
    }
    // Ends the process as the signal would have done; if it cannot, by a status.
    let _ = signal_hook::low_level::emulate_default_handler(signal);
    std::process::exit(signal.saturating_add(128));
}
