//! The work that goes on beside the screen.
//!
//! The pass for places at which reading can begin and the errands look at the same maps as the screen, and end with it.
//! `check` and the timeline read everything, and cannot be interrupted everywhere: each opens the files anew, and the
//! viewer ends without waiting for it.

use super::View;
use super::errand::{self, Errand, Found};
use super::filler::Filler;
use super::findings::{self, List};
use super::lanes::Lanes;
use crate::input::Input;
use crate::states::Pairs;
use crate::status::Failure;
use crate::trace::{Browse, Findings, Open, READ_WHOLE, Reading, no_events};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};
use traceglass::Severity;

/// A result of the background work.
pub enum Message {
    Found(Found),
    Lanes(Box<Lanes>),
    Findings(Box<List>),
}

/// The state shared with the threads.
#[derive(Default)]
struct Shared {
    stopped: AtomicBool,
    /// The file whose places are wanted; those of which have been found.
    focus: AtomicUsize,
    indexed: AtomicUsize,
    /// The number of the last errand: others are given up.
    errand: AtomicU64,
    errand_done: AtomicU64,
    /// The number of the last window of the timeline that was asked for.
    window: AtomicU64,
    window_done: AtomicU64,
    checking: AtomicBool,
    woken: Mutex<u64>,
    wake: Condvar,
}

impl Shared {
    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Waits until someone wakes, or a while.
    fn wait(&self) {
        let woken = self.woken.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.wake.wait_timeout(woken, Duration::from_millis(200)));
    }

    fn wake(&self) {
        let mut woken = self.woken.lock().unwrap_or_else(PoisonError::into_inner);
        *woken = woken.wrapping_add(1);
        self.wake.notify_all();
    }
}

/// A window of time; none is all of it.
type Window = Option<(i128, i128)>;

pub struct Work {
    shared: Arc<Shared>,
    errands: Sender<(u64, Errand)>,
    windows: Sender<(u64, Window)>,
    messages: Receiver<(u64, Message)>,
    sender: Sender<(u64, Message)>,
    path: PathBuf,
    reading: Reading,
    open: Open,
    /// The errand that was wanted last.
    wanted: Option<Errand>,
    /// True if no errand is being done, and the results of the last one were taken.
    idle: bool,
}

impl Work {
    pub fn start<'s>(scope: &'s std::thread::Scope<'s, '_>, browse: &'s dyn Browse, view: &View<'_>) -> Self {
        let shared = Arc::new(Shared { indexed: AtomicUsize::new(usize::MAX), ..Shared::default() });
        let (sender, messages) = mpsc::channel();
        let (errands, wanted) = mpsc::channel();
        let (windows, windows_wanted) = mpsc::channel();
        let index = Arc::clone(&shared);
        spawn_in(scope, move || find_places(browse, &index));
        let (errand, tell) = (Arc::clone(&shared), sender.clone());
        spawn_in(scope, move || do_errands(browse, &errand, &wanted, &tell));
        let (path, reading, open) = (view.path.to_owned(), view.reading, view.open);
        let (lanes, tell, at) = (Arc::clone(&shared), sender.clone(), path.clone());
        spawn(move || draw_lanes(&at, reading, open, &lanes, &windows_wanted, &tell));
        let (wanted, idle) = (None, true);
        Self { shared, errands, windows, messages, sender, path, reading, open, wanted, idle }
    }

    /// The file in which the cursor is.
    pub fn focus(&self, file: usize) {
        if self.shared.focus.swap(file, Ordering::Relaxed) != file {
            self.shared.wake();
        }
    }

    /// Has an errand done; the one before is given up.
    pub fn errand(&mut self, errand: Errand) {
        let number = self.shared.errand.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        // The receiver lives as long as the viewer.
        let _ = self.errands.send((number, errand));
        self.idle = false;
    }

    /// Has an errand done that is wanted until its result is there: it is asked for again and again. The one that is being
    /// done is given up only if something else was wanted before.
    pub fn want(&mut self, errand: Errand) {
        if self.idle || self.wanted.as_ref() != Some(&errand) {
            self.wanted = Some(errand.clone());
            self.errand(errand);
        }
    }

    pub fn timeline(&mut self, window: Window) {
        let number = self.shared.window.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        let _ = self.windows.send((number, window));
    }

    pub fn check(&mut self) {
        let (path, reading, open) = (self.path.clone(), self.reading, self.open);
        let (shared, sender) = (Arc::clone(&self.shared), self.sender.clone());
        shared.checking.store(true, Ordering::Relaxed);
        spawn(move || check(&path, reading, open, &shared, &sender));
    }

    pub fn is_busy(&self) -> bool {
        let load =
            |one: &AtomicU64, other: &AtomicU64| one.load(Ordering::Relaxed) != other.load(Ordering::Relaxed);
        load(&self.shared.errand, &self.shared.errand_done)
            || load(&self.shared.window, &self.shared.window_done)
            || self.shared.checking.load(Ordering::Relaxed)
            || self.shared.focus.load(Ordering::Relaxed) != self.shared.indexed.load(Ordering::Relaxed)
    }

    /// The results that came in; those of work that was given up are dropped.
    pub fn messages(&mut self) -> Vec<Message> {
        let errand = self.shared.errand.load(Ordering::Relaxed);
        // Looked at first: what is done has sent all of its results.
        self.idle = errand == self.shared.errand_done.load(Ordering::Acquire);
        let window = self.shared.window.load(Ordering::Relaxed);
        let is_current = |(number, message): &(u64, Message)| match message {
            Message::Found(_) => *number == errand,
            Message::Lanes(_) => *number == window,
            Message::Findings(_) => true,
        };
        self.messages.try_iter().filter(is_current).map(|(_, message)| message).collect()
    }

    /// Ends what can be ended.
    pub fn stop(self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
        self.shared.wake();
    }
}

/// Starts a thread that ends with the screen.
fn spawn_in<'s>(scope: &'s std::thread::Scope<'s, '_>, work: impl FnOnce() + Send + 's) {
    let started = std::thread::Builder::new().stack_size(crate::parallel::STACK).spawn_scoped(scope, work);
    // Without it little is found that is far away; the rest works.
    drop(started);
}

/// Starts a thread that is not waited for.
fn spawn(work: impl FnOnce() + Send + 'static) {
    let started = std::thread::Builder::new().stack_size(crate::parallel::STACK).spawn(work);
    // Without it there is no timeline, or no findings; the rest works.
    drop(started);
}

fn find_places(browse: &dyn Browse, shared: &Shared) {
    let mut last = usize::MAX;
    while !shared.is_stopped() {
        let file = shared.focus.load(Ordering::Relaxed);
        if file == last {
            shared.wait();
            continue;
        }
        let is_wanted = || !shared.is_stopped() && shared.focus.load(Ordering::Relaxed) == file;
        browse.index(file, &|_| is_wanted());
        if is_wanted() {
            last = file;
            shared.indexed.store(file, Ordering::Relaxed);
        }
    }
}

fn do_errands(
    browse: &dyn Browse,
    shared: &Shared,
    wanted: &Receiver<(u64, Errand)>,
    tell: &Sender<(u64, Message)>,
) {
    while !shared.is_stopped() {
        let Ok((number, errand)) = wanted.recv_timeout(Duration::from_millis(100)) else { continue };
        let is_wanted = || !shared.is_stopped() && shared.errand.load(Ordering::Relaxed) == number;
        if is_wanted() {
            errand::run(browse, &errand, &mut |found| {
                // The receiver ends last.
                let _ = tell.send((number, Message::Found(found)));
                is_wanted()
            });
        }
        // Its results were sent before.
        shared.errand_done.store(number, Ordering::Release);
    }
}

fn draw_lanes(
    path: &Path,
    reading: Reading,
    open: Open,
    shared: &Shared,
    wanted: &Receiver<(u64, Window)>,
    tell: &Sender<(u64, Message)>,
) {
    while !shared.is_stopped() {
        let Ok((number, window)) = wanted.recv_timeout(Duration::from_millis(100)) else { continue };
        let is_wanted = || !shared.is_stopped() && shared.window.load(Ordering::Relaxed) == number;
        if is_wanted() {
            let lanes = lanes(path, reading, open, window, &mut |lanes| {
                if is_wanted() {
                    let _ = tell.send((number, Message::Lanes(Box::new(lanes.clone()))));
                }
                is_wanted()
            });
            let _ = tell.send((number, Message::Lanes(Box::new(lanes))));
        }
        shared.window_done.store(number, Ordering::Relaxed);
    }
}

/// The number of windows before one that are read for what is open when that begins.
const BEFORE: i128 = 4;

/// The lanes of a window.
pub fn lanes(
    path: &Path,
    reading: Reading,
    open: Open,
    window: Window,
    tell: &mut dyn FnMut(&Lanes) -> bool,
) -> Lanes {
    let mut filler = Filler::new(window, tell);
    let done = Input::open(path).and_then(|input| {
        let trace = open(&input, reading)?;
        let mut pairs = Pairs::default();
        let range = match window {
            // Of a large trace, only what lies shortly before a window is asked for what reaches into it.
            Some((from, to)) if trace.bytes() > READ_WHOLE => {
                let span = to.saturating_sub(from).max(1);
                pairs.since = Some(from.saturating_sub(span.saturating_mul(BEFORE)));
                traceglass::event::Window::new(Some(from), Some(to.saturating_add(span)))
            }
            _ => traceglass::event::Window::ALL,
        };
        let failed = trace.states_in(range, &pairs, &mut filler).err();
        // That there are none is told with advice for `export`.
        let none = no_events(trace.format()).to_string();
        Ok(failed.filter(|failure| !matches!(failure, Failure::Stopped)).map(|failure| {
            let why = failure.to_string();
            if why == none { "no events".to_owned() } else { why }
        }))
    });
    let mut lanes = filler.finish();
    lanes.failed = match done {
        Ok(failed) => failed,
        Err(unreadable) => Some(unreadable.message),
    };
    lanes
}

fn check(path: &Path, reading: Reading, open: Open, shared: &Shared, tell: &Sender<(u64, Message)>) {
    let mut next = Instant::now();
    let list = checked(path, reading, open, &mut |list| {
        if Instant::now() >= next {
            next = Instant::now().checked_add(Duration::from_millis(200)).unwrap_or(next);
            let _ = tell.send((0, Message::Findings(Box::new(list.clone()))));
        }
    });
    let _ = tell.send((0, Message::Findings(Box::new(list))));
    shared.checking.store(false, Ordering::Relaxed);
}

/// The findings of `check`; `tell` sees the list after each finding.
pub fn checked(path: &Path, reading: Reading, open: Open, tell: &mut dyn FnMut(&List)) -> List {
    let mut list = List { started: true, ..List::default() };
    let failed = Input::open(path).and_then(|input| {
        let trace = open(&input, reading)?;
        let mut sink = |path: Option<&Path>, severity: Severity, offset: u64, message: &str| {
            let (path, message) = (path.map(Path::to_owned), message.to_owned());
            let is_error = severity == Severity::Error;
            list.add(findings::Found { path, offset, is_error, message });
            tell(&list);
        };
        Ok(trace.check(&mut Findings::told(&mut sink)).err().map(|failure| failure.to_string()))
    });
    list.failed = match failed {
        Ok(failed) => failed,
        Err(unreadable) => Some(unreadable.message),
    };
    list.done = true;
    list
}
