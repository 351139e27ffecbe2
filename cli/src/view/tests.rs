//! Screens of the viewer, drawn without a terminal: what is typed is done at once, background work included.

#[path = "../../../benches/common/ctf_trace.rs"]
#[allow(dead_code)] // The benchmarks use more.
mod ctf_trace;
#[path = "../../../tests/common/rfr.rs"]
#[allow(dead_code)] // The library's tests use more.
mod rfr;
#[path = "../../../tests/common/rtc.rs"]
#[allow(dead_code)] // The library's tests use more.
mod rtc;

mod color;
mod errands;
mod jumps;
mod large;
mod seen;

use super::key::Key;
use super::pane::{Opened, Pane};
use super::rows::Budget;
use super::screen::Layout;
use super::state::{Effect, State};
use super::{draw, errand, work};
use crate::escape::is_unsafe;
use crate::input::Input;
use crate::status::Failure;
use crate::trace::{Browse, Depth, Each, FileEntry, Reading};
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::style::Color;
use ratatui::terminal::Terminal;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use traceglass::Format;

/// A viewer whose screen is a buffer.
struct Session<'s> {
    state: State,
    browse: &'s dyn Browse,
    path: &'s Path,
    color: bool,
    terminal: Terminal<TestBackend>,
    copied: Vec<String>,
    quit: bool,
}

/// Does something with as much stack as the command has.
fn on_large_stack<R: Send>(test: impl FnOnce() -> R + Send) -> R {
    crate::on_large_stack(test).unwrap()
}

/// Opens a sample, with the background pass done and the timeline filled.
fn session<R: Send>(path: &Path, size: (u16, u16), mut test: impl FnMut(&mut Session<'_>) -> R + Send) -> R {
    on_large_stack(|| {
        let input = Input::open(path).unwrap_or_else(|error| panic!("{}: {}", path.display(), error.message));
        let mut result = None;
        let mut look = |browse: &dyn Browse| {
            let terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
            let (state, copied) = (State::new(browse.first()), Vec::new());
            let mut session = Session { state, browse, path, color: false, terminal, copied, quit: false };
            browse.index(browse.first(), &|_| true);
            session.timeline(None);
            session.draw();
            result = Some(test(&mut session));
        };
        let opened = crate::formats::open(&input, Reading::default()).map_err(Into::into);
        let looked = opened.and_then(|trace| trace.browse(input.path(), &mut look));
        looked.unwrap_or_else(|error: Failure| panic!("{}: {error}", path.display()));
        result.unwrap()
    })
}

impl Session<'_> {
    fn timeline(&mut self, window: Option<(i128, i128)>) {
        let lanes = work::lanes(self.path, Reading::default(), crate::formats::open, window, &mut |_| true);
        self.state.set_lanes(lanes);
    }

    fn draw(&mut self) -> String {
        let before = self.state.place.file;
        let (state, browse, color) = (&mut self.state, self.browse, self.color);
        if let Some(errand) = state.wanted() {
            let mut found = Vec::new();
            errand::run(browse, &errand, &mut |told| {
                found.push(told);
                true
            });
            found.into_iter().for_each(|found| state.take(found, browse));
        }
        self.terminal
            .draw(|frame| {
                let layout = Layout::of(frame.area(), state);
                state.fit(&layout, browse);
                let scene = state.scene(&layout, browse);
                draw::draw(frame.buffer_mut(), &layout, state, &scene, browse, color);
            })
            .unwrap();
        assert_eq!(self.state.place.file, before);
        if let Some(window) = self.state.left_behind() {
            self.timeline(Some(window));
            return self.draw();
        }
        screen(self.terminal.backend().buffer())
    }

    fn key(&mut self, key: Key) {
        let file = self.state.place.file;
        for effect in self.state.update(key, self.browse) {
            match effect {
                Effect::Quit => self.quit = true,
                Effect::Errand(errand) => {
                    let (state, browse) = (&mut self.state, self.browse);
                    let mut found = Vec::new();
                    errand::run(browse, &errand, &mut |told| {
                        found.push(told);
                        true
                    });
                    found.into_iter().for_each(|found| state.take(found, browse));
                }
                Effect::Check => {
                    let shown = self.state.findings.shown;
                    let open = crate::formats::open;
                    self.state.findings = work::checked(self.path, Reading::default(), open, &mut |_| {});
                    self.state.findings.shown = shown;
                }
                Effect::Timeline(window) => self.timeline(window),
                Effect::Copy(text) => self.copied.push(text),
            }
        }
        if self.state.place.file != file {
            self.browse.index(self.state.place.file, &|_| true);
        }
        self.draw();
    }

    /// Types text, in which `\n`, `\t` and `\x1b` are keys.
    fn keys(&mut self, keys: &str) {
        for c in keys.chars() {
            self.key(match c {
                '\n' => Key::Enter,
                '\t' => Key::Tab,
                '\x1b' => Key::Escape,
                c => Key::Char(c),
            });
        }
    }
}

/// A screen as text.
fn screen(buffer: &Buffer) -> String {
    let mut text = String::new();
    for row in 0..buffer.area.height {
        let mut line = String::new();
        for column in 0..buffer.area.width {
            line.push_str(buffer[(column, row)].symbol());
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn sample(name: &str) -> PathBuf {
    // As seen from the package, in which tests run: screens must not tell where the repository lies.
    Path::new("../examples/data").join(name)
}

const SAMPLES: [&str; 8] = [
    "sample.rdf",
    "sample.rtc",
    "sample.ctf2",
    "sample.ctf",
    "sample.ctf/stream",
    "sample.rfr",
    "sample.rfr/2026-11/21-01/chunk-41-54.rfr",
    "stream.rfr",
];

/// The samples whose screens are pictures in the README.
const PICTURES: [&str; 2] = ["sample.rfr", "sample.ctf"];

/// Compares a screen with the one that was recorded; with `TRACEGLASS_BLESS=1`, records it.
fn blessed(name: &str, screen: &str) {
    let name = format!("tests/golden/view/{}.txt", name.replace('/', "_"));
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    if std::env::var_os("TRACEGLASS_BLESS").is_some() {
        fs::create_dir_all(golden.parent().unwrap()).unwrap();
        fs::write(&golden, screen).unwrap();
    }
    let expected =
        fs::read_to_string(&golden).unwrap_or_else(|error| panic!("{}: {error}", golden.display()));
    assert_eq!(screen, expected, "{}", golden.display());
}

#[test]
fn screens_are_as_they_were_blessed() {
    for name in SAMPLES {
        let mut all = String::new();
        session(&sample(name), (110, 32), |session| {
            let mut take = |what: &str, session: &mut Session<'_>| {
                let screen = session.draw();
                all.push_str(&format!("=== {what}\n{screen}"));
            };
            take("start", session);
            session.keys("jjj");
            take("three records on", session);
            if PICTURES.contains(&name) {
                session.color = true;
                session.draw();
                blessed(&format!("color_{name}"), &color::styled(session.terminal.backend().buffer()));
                session.color = false;
            }
            session.keys("i");
            take("all of the record", session);
            session.keys("\x1bpl");
            session.keys("jz");
            take("parts", session);
            session.keys("zbG");
            take("end", session);
            session.keys("!");
            take("findings", session);
        });
        blessed(name, &all);
    }
}

#[test]
fn panes_are_as_they_were_blessed_on_a_small_terminal() {
    for name in SAMPLES {
        let mut all = String::new();
        session(&sample(name), (64, 14), |session| {
            for pane in ["records", "record", "parts", "hex", "timeline"] {
                all.push_str(&format!("=== {pane}\n{}", session.draw()));
                session.keys("\t");
            }
        });
        blessed(&format!("small_{name}"), &all);
    }
}

#[test]
fn any_size_is_drawn() {
    for name in SAMPLES {
        for (width, height) in
            [(1, 1), (1, 40), (2, 2), (3, 3), (5, 2), (20, 5), (59, 19), (60, 20), (400, 3)]
        {
            session(&sample(name), (width, height), |session| {
                for keys in [
                    "", "\t", "ibp", "\t", "m", "z", "?", "x", "!", "jj\x1b", "/abc", "\x1b", "&a\n", "G",
                    "lm",
                ] {
                    session.keys(keys);
                    session.draw();
                }
            });
        }
        session(&sample(name), (100, 30), |session| {
            for (width, height) in [(20, 5), (1, 1), (200, 60), (80, 24)] {
                session.terminal.backend_mut().resize(width, height);
                let screen = session.draw();
                assert_eq!(screen.lines().count(), usize::from(height));
            }
        });
    }
}

#[test]
fn without_colour_there_is_none() {
    session(&sample("sample.rtc"), (110, 32), |session| {
        for color in [false, true] {
            session.color = color;
            session.draw();
            let buffer = session.terminal.backend().buffer();
            let colored =
                buffer.content.iter().any(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset);
            assert_eq!(colored, color);
        }
    });
}

#[test]
fn one_cursor_moves_all_panes() {
    session(&sample("sample.rtc"), (110, 32), |session| {
        session.keys("b:0x700\n");
        assert_eq!(session.state.place.offset, 0x700);
        assert!(session.draw().contains("00000700"));
        session.keys("bj");
        assert_eq!(session.state.pane, Pane::Records);
        let record = session.state.record(session.browse).unwrap();
        assert_eq!(session.state.place, record.place);
        assert!(record.place.offset > 0x700);
        session.keys("k");
        assert!(session.state.place.offset <= 0x700);
        session.keys("g");
        assert_eq!(session.state.place.offset, 0);
        session.keys("G");
        assert!(session.state.place.offset < 20_050 && session.state.place.offset > 19_000);
        session.keys("496g");
        assert_eq!(session.state.place.offset, 496);
        session.keys("q");
        assert!(session.quit);
    });
}

#[test]
fn records_are_gone_through_one_by_one_and_back() {
    for name in SAMPLES {
        session(&sample(name), (110, 32), |session| {
            session.state.pane = Pane::Records;
            let mut places = vec![session.state.place];
            for _ in 0..60 {
                session.keys("j");
                if places.last() == Some(&session.state.place) {
                    break;
                }
                assert!(places.last() < Some(&session.state.place), "{name}");
                places.push(session.state.place);
            }
            // Everything on the way there is met on the way back, too.
            while let Some(place) = places.pop() {
                let file = place.file;
                if file != session.state.place.file
                    || places.iter().filter(|place| place.file == file).count() < 2
                {
                    break;
                }
                assert_eq!(session.state.place, place, "{name}");
                session.keys("k");
            }
        });
    }
}

#[test]
fn text_and_bytes_are_searched_forward_and_back() {
    session(&sample("sample.rdf"), (110, 32), |session| {
        let data = fs::read(sample("sample.rdf")).unwrap();
        let first = data.windows(4).position(|bytes| bytes == b"Navi").unwrap() as u64;
        session.keys("/Navi\n");
        assert_eq!((session.state.place.offset, session.state.hit.map(|hit| hit.1)), (first, Some(4)));
        session.keys("n");
        assert_eq!(session.state.place.offset, first);
        session.keys("G/0x4e ?1 76 6?\n");
        assert_eq!(session.state.place.offset, first);
        session.keys("GN");
        assert_eq!(session.state.place.offset, first);
        session.keys("/not there\n");
        assert!(session.draw().contains("not there: not found"));
        assert_eq!(session.state.place.offset, first);
        session.keys("/0x1\n");
        assert!(session.draw().contains("an odd number of digits"));
    });
}

#[test]
fn all_files_of_a_recording_are_searched() {
    session(&sample("sample.rfr"), (110, 32), |session| {
        session.keys("/read config\n");
        let (file, offset) = (session.state.place.file, session.state.place.offset as usize);
        let data = session.browse.data(file).unwrap();
        assert_eq!(data.get(offset..offset + 11), Some(&b"read config"[..]));
        assert!(file > 0);
    });
}

#[test]
fn times_are_gone_to() {
    session(&sample("sample.rfr"), (110, 32), |session| {
        session.keys(":+1.5s\n");
        let later = session.state.record(session.browse).unwrap().time.unwrap();
        session.keys(":+0s\n");
        let start = session.state.record(session.browse).unwrap().time.unwrap();
        assert!(later.ns() - start.ns() >= 1_500_000_000, "{later} {start}");
        let text = crate::trace::rfc3339(later.ns()).unwrap();
        session.keys(&format!(":{text}\n"));
        assert_eq!(session.state.record(session.browse).unwrap().time, Some(later));
        session.keys(":+99h\n");
        assert!(session.draw().contains("nothing is that late"));
        session.keys(":tomorrow\n");
        assert!(session.draw().contains("neither an offset"));
    });
}

#[test]
fn a_filter_leaves_what_has_the_text() {
    session(&sample("sample.rtc"), (110, 32), |session| {
        session.keys("&adc\n");
        session.draw();
        let filtered = session.state.filtered.as_ref().unwrap();
        assert!(filtered.window.rows.len() > 3);
        assert!(filtered.window.rows.iter().all(|row| row.name.contains("adc") || row.text.contains("adc")));
        session.keys("j");
        let place = session.state.place;
        session.keys("jk");
        assert_eq!(session.state.place, place);
        session.keys("&no such thing\n");
        assert!(session.draw().contains("no record has that in it"));
        session.keys("\x1b");
        assert!(session.state.filter.is_none() && session.draw().contains("═ records ═"));
    });
}

#[test]
fn what_the_cursor_is_on_is_copied() {
    session(&sample("sample.rdf"), (110, 32), |session| {
        session.keys("b8gy");
        assert_eq!(session.copied, ["3"]);
    });
}

#[test]
fn a_finding_leads_to_its_bytes() {
    let path = std::env::temp_dir().join(format!("traceglass-view-{}.rtc", std::process::id()));
    let mut data = fs::read(sample("sample.rtc")).unwrap();
    data[0x2000..0x2400].fill(0xff);
    fs::write(&path, data).unwrap();
    session(&path, (110, 32), |session| {
        session.keys("!");
        let found = session.state.findings.found[0].clone();
        assert!(found.is_error && found.offset >= 0x1f00 && found.offset < 0x2400, "{found:?}");
        session.keys("\n");
        assert_eq!((session.state.pane, session.state.place.offset), (Pane::Hex, found.offset));
        // The event just before.
        session.keys("b");
        let screen = session.draw();
        assert!(screen.contains("(lost)"), "{screen}");
        session.keys("k");
        assert!(session.state.place.offset < found.offset);
        // A gap says why it is one, and what its cause is.
        session.browse.walk(0, 0, Depth::All, &mut |node| {
            let (name, text) = node.about.text();
            assert!(name != "(lost)" || text.starts_with("marker-damaged: "), "{text}");
            true
        });
    });
    fs::remove_file(path).unwrap();
}

#[test]
fn the_timeline_zooms_and_leads_to_bytes() {
    session(&sample("stream.rfr"), (110, 32), |session| {
        session.state.pane = Pane::Timeline;
        let all = session.state.shown_window();
        assert!(!session.state.lanes.lanes.is_empty());
        session.keys("gl");
        assert!(session.state.place.offset > 0);
        session.keys("ww");
        let (from, to) = session.state.shown_window();
        assert!(to - from < all.1 - all.0 && session.state.window.is_some());
        session.keys("d");
        assert!(session.state.shown_window().0 > from);
        session.keys("sssss");
        assert_eq!((session.state.window, session.state.shown_window()), (None, all));
    });
}

#[test]
fn nothing_of_a_file_reaches_the_terminal_unescaped() {
    let hostile = "\x1b[31m\x07\u{202e}\u{2066}\u{9b}2J";
    let path = std::env::temp_dir().join(format!("traceglass-\u{202e}view-{}.rtc", std::process::id()));
    let mut data = fs::read(sample("sample.rfr/callsites.rfr")).unwrap();
    // Replaces text in it by one of the same length.
    let at = data
        .windows(4)
        .position(|bytes| bytes == b"main")
        .or_else(|| data.windows(3).position(|bytes| bytes == b"src"));
    let at = at.unwrap();
    data[at..at + 3].copy_from_slice(b"\x1b[m");
    fs::write(&path, data).unwrap();
    session(&path, (110, 32), |session| {
        for keys in ["", "\t", "j", "!", "\x1b", &format!("/{hostile}\n"), &format!("&{hostile}\n"), "y"] {
            session.keys(keys);
            session.draw();
            let buffer = session.terminal.backend().buffer();
            let found = buffer.content.iter().find(|cell| cell.symbol().chars().any(is_unsafe));
            assert!(found.is_none(), "{found:?}");
        }
        session.state.message = hostile.to_owned();
        assert!(!session.draw().chars().any(|c| is_unsafe(c) && c != '\n'));
        assert!(!session.copied.concat().chars().any(is_unsafe));
    });
    fs::remove_file(path).unwrap();
}

/// A recording of rotated segments, of which one is damaged.
#[test]
fn segments_of_dial9_are_walked_as_they_are_printed() {
    let folder = std::env::temp_dir().join(format!("traceglass-view-segments-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let mut data = fs::read(sample("trace.0.bin")).unwrap();
    fs::write(folder.join("trace.0.bin"), &data).unwrap();
    let events = |data: &[u8]| {
        let (mut events, mut schemas) = (0, Vec::new());
        let mut frames = traceglass::dial9::Frames::new(data, traceglass::dial9::Storage::new(&mut schemas));
        loop {
            match frames.next_event() {
                Ok(Some(_)) => events += 1,
                Ok(None) => return events,
                Err(_) => drop(frames.recover()),
            }
        }
    };
    let whole = events(&data);
    // A tag that no frame has.
    data[0x3b0] = 0xee;
    fs::write(folder.join("trace.1.bin"), &data).unwrap();
    session(&folder, (110, 40), |session| {
        let (browse, mut found) = (session.browse, [0, 0]);
        for (file, found) in found.iter_mut().enumerate() {
            let mut gaps = 0;
            browse.walk(file, 0, Depth::All, &mut |node| {
                *found += usize::from(node.level == crate::trace::Level::Record);
                gaps += usize::from(node.level == crate::trace::Level::Gap);
                true
            });
            assert_eq!(gaps, file);
        }
        assert_eq!(found, [whole, events(&data)]);
        let screen = session.draw();
        assert!(screen.contains("TaskSpawnEvent  task_id=20 spawn_loc=\"src/main.rs:10:5\""), "{screen}");
        session.keys("p");
        let screen = session.draw();
        assert!(screen.contains("0xf9 batch 3"), "{screen}");
        // Into the batch in its middle, whose schemas stand before.
        session.keys(":0x401\n");
        let screen = session.draw();
        assert!(screen.contains("0x401 · batch 3 · 4182.001060000 s"), "{screen}");
        assert!(session.state.record(browse).unwrap().name == "PollStartEvent");
        session.keys(":+42ms\n");
        let time = session.state.record(browse).unwrap().time.unwrap();
        assert!(time.ns() >= 4_182_042_000_000, "{time:?}");
        session.keys("&WakeEvent\n");
        session.draw();
        let filtered = session.state.filtered.as_ref().unwrap();
        assert!(filtered.window.rows.len() > 3);
        assert!(filtered.window.rows.iter().all(|row| row.name == "WakeEventEvent"));
    });
    fs::remove_dir_all(folder).unwrap();
}
