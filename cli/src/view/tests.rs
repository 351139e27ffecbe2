//! Screens of the viewer, drawn without a terminal: what is typed is done at once, background work included.

use super::key::Key;
use super::pane::{Opened, Pane};
use super::rows::Budget;
use super::screen::Layout;
use super::state::{Effect, State};
use super::{draw, errand, work};
use crate::escape::is_unsafe;
use crate::input::Input;
use crate::trace::{Browse, Depth, Each, FileEntry, Reading};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::style::Color;
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
        crate::formats::browse(&input, Reading::default(), &mut |browse| {
            let terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
            let (state, copied) = (State::new(browse.first()), Vec::new());
            let mut session = Session { state, browse, path, color: false, terminal, copied, quit: false };
            browse.index(browse.first(), &|_| true);
            session.timeline(None);
            session.draw();
            result = Some(test(&mut session));
        })
        .unwrap_or_else(|error| panic!("{}: {}", path.display(), error.message));
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

/// Packets, records and gaps of captures, with those of `cat`.
#[test]
fn captures_are_walked_as_they_are_printed() {
    let Some(root) = std::env::var_os("TRACEGLASS_VECTORS") else {
        eprintln!("TRACEGLASS_VECTORS is not set: no captures are walked");
        return;
    };
    let mut captures = 0;
    for entry in fs::read_dir(Path::new(&root).join("ctf-wire")).unwrap() {
        let folder = entry.unwrap().path().join("trace");
        let expected = folder.join("../expected.ndjson");
        // What needs options is not asked for here.
        if !expected.exists() || fs::read_to_string(&expected).unwrap().contains("\"options\": [\"") {
            continue;
        }
        on_large_stack(|| {
            let input = Input::open(&folder).ok().unwrap();
            let reading = Reading::default();
            let mut told = 0;
            let trace = crate::formats::open(&input, reading).ok().unwrap();
            let info =
                trace.info(&crate::trace::Inquiry { full: true, tasks: false, private: false }).ok().unwrap();
            let records = info.fields["records"].as_u64();
            crate::formats::browse(&input, reading, &mut |browse| {
                let mut end = 0;
                browse.walk(browse.first(), 0, Depth::All, &mut |node| {
                    assert!(node.offset >= end || node.level != crate::trace::Level::Part, "{folder:?}");
                    if node.level == crate::trace::Level::Part {
                        end = node.end;
                    }
                    told += u64::from(node.level == crate::trace::Level::Record);
                    true
                });
            })
            .ok()
            .unwrap();
            assert_eq!(Some(told), records, "{}", folder.display());
        });
        captures += 1;
    }
    assert!(captures > 0, "no captures");
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

/// A screen with its colours, as a terminal is told them.
fn styled(buffer: &Buffer) -> String {
    use ratatui::style::Modifier;
    let mut text = String::new();
    for row in 0..buffer.area.height {
        let mut last = String::from("\x1b[0m");
        for column in 0..buffer.area.width {
            let cell = &buffer[(column, row)];
            let mut codes = String::from("0");
            for (modifier, code) in [(Modifier::BOLD, 1), (Modifier::UNDERLINED, 4), (Modifier::REVERSED, 7)]
            {
                if cell.modifier.contains(modifier) {
                    codes.push_str(&format!(";{code}"));
                }
            }
            for (color, code) in [
                (Color::Red, 31),
                (Color::Green, 32),
                (Color::Yellow, 33),
                (Color::Blue, 34),
                (Color::Magenta, 35),
                (Color::Cyan, 36),
                (Color::DarkGray, 90),
                (Color::LightGreen, 92),
                (Color::LightYellow, 93),
                (Color::LightBlue, 94),
                (Color::LightMagenta, 95),
                (Color::LightCyan, 96),
            ] {
                if cell.fg == color {
                    codes.push_str(&format!(";{code}"));
                }
            }
            let code = format!("\x1b[{codes}m");
            if code != last {
                text.push_str(&code);
                last = code;
            }
            text.push_str(cell.symbol());
        }
        text.push_str("\x1b[0m\n");
    }
    text
}

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
                blessed(&format!("color_{name}"), &styled(session.terminal.backend().buffer()));
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
        // What happened just before.
        session.keys("b");
        let screen = session.draw();
        assert!(screen.contains("(lost)"), "{screen}");
        session.keys("k");
        assert!(session.state.place.offset < found.offset);
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

/// Counts what is handed out.
struct Counting<'b>(&'b dyn Browse, AtomicUsize);

impl Browse for Counting<'_> {
    fn format(&self) -> Format {
        self.0.format()
    }

    fn files(&self) -> &[FileEntry] {
        self.0.files()
    }

    fn data(&self, file: usize) -> Result<&[u8], String> {
        self.0.data(file)
    }

    fn walk(&self, file: usize, from: u64, depth: Depth, each: Each<'_>) {
        self.0.walk(file, from, depth, &mut |node| {
            self.1.fetch_add(1, Ordering::Relaxed);
            each(node)
        });
    }

    fn index(&self, file: usize, going: &dyn Fn(u64) -> bool) {
        self.0.index(file, going);
    }
}

/// How much of a file's map is in memory.
#[cfg(target_os = "linux")]
fn resident(path: &Path) -> u64 {
    let maps = fs::read_to_string("/proc/self/smaps").unwrap();
    let (mut inside, mut total) = (false, 0);
    for line in maps.lines() {
        if line.contains('-') && line.split(' ').nth(1).is_some_and(|flags| flags.len() == 4) {
            inside = line.ends_with(path.to_str().unwrap());
        } else if let (true, Some(size)) = (inside, line.strip_prefix("Rss:")) {
            total += size.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024;
        }
    }
    total
}

/// 10 GB, most of which is a hole, and little of which is read before the first frame.
#[test]
#[cfg(target_os = "linux")]
fn the_first_frame_touches_little_of_a_large_file() {
    on_large_stack(look_at_large_files);
}

#[cfg(target_os = "linux")]
fn look_at_large_files() {
    const LARGE: u64 = 10 << 30;
    let folder = std::env::temp_dir().join(format!("traceglass-view-large-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    for name in ["sample.rdf", "sample.rtc", "sample.rfr/2026-11/21-01/chunk-41-54.rfr", "stream.rfr"] {
        let path = folder.join(name.replace('/', "-"));
        fs::write(&path, fs::read(sample(name)).unwrap()).unwrap();
        fs::File::options().append(true).open(&path).unwrap().set_len(LARGE).unwrap();
        let input = Input::open(&path).unwrap_or_else(|error| panic!("{name}: {}", error.message));
        let before = resident(&path);
        crate::formats::browse(&input, Reading::default(), &mut |browse| {
            let counting = Counting(browse, AtomicUsize::new(0));
            let mut state = State::new(0);
            state.opened = Opened { detail: true, parts: true, bytes: true };
            let start = std::time::Instant::now();
            let area = ratatui::layout::Rect::new(0, 0, 120, 40);
            let mut buffer = Buffer::empty(area);
            let layout = Layout::of(area, &state);
            state.fit(&layout, &counting);
            let scene = state.scene(&layout, &counting);
            draw::draw(&mut buffer, &layout, &state, &scene, &counting, true);
            let (nodes, touched) =
                (counting.1.load(Ordering::Relaxed), resident(&path).saturating_sub(before));
            println!("{name}: {nodes} nodes, {touched} bytes of the map, {:?}", start.elapsed());
            assert!(nodes < 4 * Budget::FRAME.0, "{name}: {nodes} nodes");
            assert!(touched < 8 << 20, "{name}: {touched} bytes");
            // At the other end, too, where nothing is known yet.
            state.update(Key::Char('G'), &counting);
            let scene = state.scene(&layout, &counting);
            draw::draw(&mut buffer, &layout, &state, &scene, &counting, true);
            assert_eq!(state.place.offset, LARGE - 1);
            let (nodes, touched) =
                (counting.1.load(Ordering::Relaxed), resident(&path).saturating_sub(before));
            println!("{name}: {nodes} nodes, {touched} bytes of the map at the end, {:?}", start.elapsed());
            assert!(nodes < 8 * Budget::FRAME.0 && touched < 32 << 20, "{name}: {nodes} {touched}");
        })
        .unwrap_or_else(|error| panic!("{name}: {}", error.message));
        fs::remove_file(path).unwrap();
    }
    fs::remove_dir_all(folder).unwrap();
}

/// All of the help is seen on the smallest usual terminal.
#[test]
fn help_fits_80_columns_and_24_lines() {
    session(&sample("sample.rtc"), (80, 24), |session| {
        session.keys("?");
        let screen = session.draw();
        let help: Vec<_> = screen.lines().skip(1).take(22).collect();
        assert!(help.iter().any(|line| line.starts_with(" q ") && line.ends_with("quit")), "{screen}");
        assert!(!help.concat().contains('…'), "{screen}");
    });
}

/// What is wider than its pane ends in a sign, and is there in full in the pane of one record.
#[test]
fn a_wide_record_is_read_in_full() {
    session(&sample("sample.rfr"), (80, 40), |session| {
        let mut wide = 0;
        for _ in 0..30 {
            session.keys("j");
            let Some(record) = session.state.record(session.browse) else { continue };
            let text = crate::escape::printable(&record.text);
            if session.state.pane != Pane::Records || text.len() < 60 || text.contains("  ") {
                continue;
            }
            wide += 1;
            assert!(session.draw().lines().any(|line| line.ends_with('…')), "{text}");
            session.keys("i");
            let screen = session.draw();
            session.keys("i");
            let joined = |text: &str| text.split_whitespace().collect::<String>();
            let pane = screen.split(" record ").nth(1).unwrap();
            assert!(joined(pane).contains(&joined(&text)), "{text}\n{screen}");
        }
        assert!(wide > 2, "{wide} wide records");
    });
}

#[test]
fn lanes_stay_and_the_window_follows() {
    session(&sample("sample.rfr"), (110, 40), |session| {
        let names = |session: &Session<'_>| -> Vec<String> {
            session.state.lanes.lanes.iter().map(|lane| lane.name.clone()).collect()
        };
        let all = names(session);
        assert!(all.len() > 2);
        session.keys("jjj");
        let near = session.state.lanes_at.unwrap();
        session.keys("wwwwwww");
        assert_eq!(names(session), all);
        let (from, to) = session.state.shown_window();
        assert!((from..to).contains(&near));
        session.keys(":+1.5s\n");
        session.draw();
        let far = session.state.lanes_at.unwrap();
        let (low, high) = session.state.shown_window();
        assert!((low..high).contains(&far) && !(low..high).contains(&near));
        assert_eq!((high - low, names(session)), (to - from, all));
    });
}

#[test]
fn the_time_between_two_marks_is_told() {
    session(&sample("sample.rtc"), (110, 40), |session| {
        session.keys("jm");
        let first = session.state.lanes_at.unwrap();
        session.keys("jjjjjj");
        let second = session.state.lanes_at.unwrap();
        assert!(second > first);
        let told = super::when::duration(second - first);
        assert!(session.draw().contains(&format!("since mark 1: +{told}")));
        session.keys("m");
        session.keys("G");
        assert!(session.draw().contains(&format!("mark 1 to 2: +{told}")));
        session.keys("m");
        assert!(!session.draw().contains("mark 1"));
    });
}
