//! A terminal viewer: what lies at and about one place of a trace of any size.
//!
//! [`State`] is all that is shown, [`State::update`] takes a key, `draw` makes a screen of it. Nothing is scanned before
//! the first frame: a frame makes the rows that are seen, from the nearest place at which reading can begin. What takes
//! longer is done beside it: a pass for such places, searches, `check`, the timeline.

mod axis;
mod clip;
mod detail;
mod draw;
mod errand;
mod filler;
mod findings;
mod focus;
mod help;
mod key;
mod lanes;
mod listed;
mod measure;
mod paint;
mod pane;
mod pattern;
mod prompt;
mod rows;
mod screen;
mod stamp;
mod state;
#[cfg(test)]
mod tests;
mod timeline;
mod travel;
mod when;
mod work;

use crate::input::Input;
use crate::status::{Failure, Result};
use crate::trace::{Browse, Open, Reading};
use key::Key;
use ratatui::backend::Backend;
use ratatui::layout::Rect;
use ratatui::terminal::Terminal;
use ratatui_crossterm::CrosstermBackend;
use ratatui_crossterm::crossterm::cursor::Show;
use ratatui_crossterm::crossterm::event::{self, Event};
use ratatui_crossterm::crossterm::execute;
use ratatui_crossterm::crossterm::terminal::{self, EnterAlternateScreen, LeaveAlternateScreen};
use rows::Place;
use screen::Layout;
use stamp::Stamp;
use state::{Effect, State};
use std::convert::Infallible;
use std::io::{Stdout, stdout};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use work::{Message, Work};

/// The trace to look at, and the way to read it.
pub struct View<'v> {
    pub path: &'v Path,
    pub reading: Reading,
    pub color: bool,
    /// The number of columns that are drawn to, if not all.
    pub width: Option<u16>,
    pub open: Open,
}

/// Shows the viewer, until it is left: then the command ends. What it returns is a failure.
pub fn run(view: &View<'_>) -> Result<Infallible> {
    let mut state: Option<State> = None;
    let mut terminal = None;
    let mut failed = None;
    // The file that the cursor is in.
    let mut at: Option<PathBuf> = None;
    loop {
        let input = Input::open(view.path)?;
        let stamp = Stamp::of(view.path);
        let trace = (view.open)(&input, view.reading)?;
        let looked = trace.browse(input.path(), &mut |browse| {
            let screen = match &mut terminal {
                Some(screen) => screen,
                None => match Screen::enter() {
                    Ok(entered) => terminal.insert(entered),
                    Err(error) => {
                        failed = Some(error);
                        return;
                    }
                },
            };
            let state = state.get_or_insert_with(|| State::new(browse.first()));
            let files = browse.files();
            if let Some(path) = &at {
                // Files may have come to a folder, or have gone.
                match files.iter().position(|file| file.path == *path) {
                    Some(file) => state.place.file = file,
                    None => state.place = Place::at(browse.first(), 0),
                }
            }
            let folder = Stamp::of_folder(view.path, files);
            failed = look(view, folder.as_ref().unwrap_or(&stamp), state, browse, &mut screen.0).err();
            at = files.get(state.place.file).map(|file| file.path.clone());
        });
        if let Some(error) = failed {
            return Err(Failure::unreadable(format!("the terminal: {error}")));
        }
        // The files have changed: they are opened again.
        looked?;
    }
}

/// The terminal, as long as it is ours.
struct Screen(Terminal<CrosstermBackend<Stdout>>);

impl Screen {
    fn enter() -> std::io::Result<Self> {
        // A panic must neither write over the screen nor leave it as it is: its message follows the screen, and the
        // command ends, whichever thread it was.
        let inner = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            leave();
            inner(panic);
            std::process::exit(101);
        }));
        terminal::enable_raw_mode()?;
        let entered = execute!(stdout(), EnterAlternateScreen)
            .and_then(|()| Terminal::new(CrosstermBackend::new(stdout())));
        entered.map(Self).inspect_err(|_| leave())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        leave();
    }
}

/// Gives the terminal back as it was, with its cursor: a frame has hidden that.
fn leave() {
    let left = terminal::disable_raw_mode().and_then(|()| execute!(stdout(), Show, LeaveAlternateScreen));
    if let Err(error) = left {
        eprintln!("the terminal cannot be given back: {error}");
    }
}

/// The time to wait for a key while work is going on, and while none is.
const BUSY: Duration = Duration::from_millis(40);
const IDLE: Duration = Duration::from_millis(250);

/// The least time after which the timeline of a growing file is drawn anew.
const REDRAW: Duration = Duration::from_secs(5);

fn look<B: Backend>(
    view: &View<'_>,
    stamp: &Stamp,
    state: &mut State,
    browse: &dyn Browse,
    terminal: &mut Terminal<B>,
) -> std::io::Result<()>
where
    std::io::Error: From<B::Error>,
{
    std::thread::scope(|scope| {
        let mut work = Work::start(scope, browse, view);
        if state.follows {
            state.update(Key::Char('G'), browse);
        }
        let place = state.place;
        state.go(place, browse);
        let mut looked = Instant::now();
        let mut stale = true;
        loop {
            work.focus(state.place.file);
            paint(view, state, browse, terminal)?;
            // The screen is there: now for what takes longer. A file that grows is not read again all the time.
            if stale && state.drawn.is_none_or(|drawn| drawn.elapsed() >= REDRAW) {
                work.timeline(state.window);
                state.drawn = Some(Instant::now());
                stale = false;
            }
            if let Some(errand) = state.wanted() {
                work.want(errand);
            }
            if let Some(window) = state.left_behind() {
                work.timeline(Some(window));
            }
            let waits = if work.is_busy() { BUSY } else { IDLE };
            let mut quits = false;
            if event::poll(waits)? {
                // All keys that are there already, before the next frame.
                loop {
                    if let Event::Key(pressed) = event::read()?
                        && let Some(key) = Key::of(pressed)
                    {
                        for effect in state.update(key, browse) {
                            match effect {
                                Effect::Quit => quits = true,
                                Effect::Errand(errand) => work.errand(errand),
                                Effect::Check => {
                                    if !state.findings.started {
                                        state.findings.started = true;
                                        work.check();
                                    }
                                }
                                Effect::Timeline(window) => work.timeline(window),
                                Effect::Copy(text) => clip::copy(&text)?,
                            }
                        }
                    }
                    if quits || !event::poll(Duration::ZERO)? {
                        break;
                    }
                }
            }
            if quits {
                // A thread beside the screen may read for a while yet: it is not waited for.
                leave();
                std::process::exit(0);
            }
            for message in work.messages() {
                match message {
                    Message::Found(found) => state.take(found, browse),
                    Message::Lanes(lanes) => state.set_lanes(*lanes),
                    Message::Findings(list) => {
                        let (shown, selected) = (state.findings.shown, state.findings.selected);
                        state.findings = *list;
                        (state.findings.shown, state.findings.selected) = (shown, selected);
                    }
                }
            }
            if looked.elapsed() >= IDLE {
                looked = Instant::now();
                match stamp.change(state.place.file) {
                    // The mapped bytes are no longer there: they must not be touched.
                    Some(std::cmp::Ordering::Less) => {
                        state.message = "the file is shorter than it was: it was opened again".to_owned();
                        break;
                    }
                    Some(_) if state.follows => break,
                    _ => {}
                }
            }
        }
        work.stop();
        Ok(())
    })
}

/// Draws a frame.
fn paint<B: Backend>(
    view: &View<'_>,
    state: &mut State,
    browse: &dyn Browse,
    terminal: &mut Terminal<B>,
) -> Result<(), B::Error> {
    terminal.draw(|frame| {
        let screen = frame.area();
        let width = view.width.map_or(screen.width, |width| width.min(screen.width));
        let layout = Layout::of(Rect { width, ..screen }, state);
        state.fit(&layout, browse);
        let scene = state.scene(&layout, browse);
        draw::draw(frame.buffer_mut(), &layout, state, &scene, browse, view.color);
    })?;
    Ok(())
}
