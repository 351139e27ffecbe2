//! Views of large files, and of captures.

use super::super::rows::Place;
use super::*;

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

/// The number of bytes of a file's map that are in memory.
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
        let trace = crate::formats::open(&input, Reading::default()).ok().unwrap();
        let looked = trace.browse(&path, &mut |browse| {
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
        });
        looked.unwrap_or_else(|error| panic!("{name}: {error}"));
        fs::remove_file(path).unwrap();
    }
    fs::remove_dir_all(folder).unwrap();
}

/// A recording of several megabytes, of which a screen reads a little at a time: what is far away is gone to by time, found
/// by a filter and searched, also where no grid leads there.
#[test]
fn what_lies_far_away_is_gone_to() {
    let path = std::env::temp_dir().join(format!("traceglass-view-far-{}.rtc", std::process::id()));
    let options = rtc::Options::sizes(1 << 20, 1 << 16);
    let mut data = rtc::sample(options, 10 << 20);
    for damaged in [false, true] {
        if damaged {
            // The first unit, and with it the grid.
            data[64..4096].fill(0xff);
        }
        fs::write(&path, &data).unwrap();
        session(&path, (110, 32), |session| {
            session.keys(":+0s\n");
            let start = session.state.record(session.browse).unwrap().time.unwrap().ns();
            session.keys(":+11.5s\n");
            let screen = session.draw();
            let record = session.state.record(session.browse).unwrap();
            let found = record.time.unwrap_or_else(|| panic!("{damaged} {screen}")).ns();
            assert!(
                (11_500_000_000..11_600_000_000).contains(&(found - start)),
                "{damaged} {found} {screen}"
            );
            let place = session.state.place;
            let text = session.state.record(session.browse).unwrap().text;
            session.keys(&format!("g&{text}\n"));
            session.draw();
            let filtered = session.state.filtered.as_ref().unwrap();
            assert!(filtered.window.rows.iter().any(|row| row.place == place), "{damaged} {text}");
            // From a place within a unit, each record once.
            let (mut found, mut ends) = (Vec::new(), Vec::new());
            session.browse.walk(0, 1_234_567, Depth::All, &mut |node| {
                found.extend((node.level == crate::trace::Level::Record).then_some(node.offset));
                true
            });
            let mut buffer = vec![0; 1 << 20];
            let mut records = traceglass::rtc::recover::Records::new(&data, Vec::new(), &mut buffer);
            loop {
                match records.next_step() {
                    traceglass::rtc::Step::Record(record) => ends.push(record.frame().offset()),
                    traceglass::rtc::Step::End => break,
                    _ => {}
                }
            }
            found.retain(|at| *at >= 1_234_567);
            ends.retain(|at| *at >= 1_234_567);
            assert_eq!(found, ends, "{damaged}");
            // A range that a screen does not read is no record.
            let (place, filter) = (Place::at(0, 0), "a".to_owned());
            let wanted = errand::Errand::Filter { place, filter, before: 0, after: usize::MAX };
            errand::run(session.browse, &wanted, &mut |found| {
                let errand::Found::Filtered(found) = found else { return true };
                let rows = found.window.rows;
                assert!(rows.is_sorted_by(|row, next| row.place < next.place), "{damaged}");
                assert!(rows.len() > 100_000 && rows.iter().all(|row| row.name != "(unread)"), "{damaged}");
                true
            });
            session.keys(":+500.25s\n");
            assert!(session.draw().contains("+500.25s: nothing is that late"), "{damaged}");
        });
    }
    fs::remove_file(path).unwrap();
}

/// Records that are so long that one of them lies where a screen reads no further: all are handed out.
#[test]
fn long_records_are_handed_out_once() {
    let path = std::env::temp_dir().join(format!("traceglass-view-long-{}.rtc", std::process::id()));
    let mut writer = rtc::Writer::new(rtc::Options::sizes(1 << 20, 1 << 16));
    let text = writer.stream(r#""name":"text","cont":true,"format":"utf-8""#);
    (0..30).for_each(|_| writer.write(text, &[b'x'; 300_000]));
    fs::write(&path, writer.stop()).unwrap();
    session(&path, (110, 32), |session| {
        for from in [0, 1_000_000] {
            let (mut found, mut last) = (0, 0);
            session.browse.walk(0, from, Depth::All, &mut |node| {
                if node.level == crate::trace::Level::Record {
                    assert!(node.offset > last);
                    (found, last) = (found + 1, node.offset);
                }
                true
            });
            assert!(found == 30 || from > 0 && found >= 26, "{found} from {from}");
        }
    });
    fs::remove_file(path).unwrap();
}

/// A walk for a time begins at or before what happened then, and little before it.
#[test]
fn walks_for_times_begin_near() {
    let folder = std::env::temp_dir().join(format!("traceglass-view-near-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let records: Vec<_> = (0..20_000_u32)
        .map(|number| {
            (1_700_000_000 + u64::from(number / 1000), number % 1000 * 1000, 8, rfr::Writer::new().ints([4]))
        })
        .collect();
    fs::write(folder.join("stream.rfr"), rfr::stream(&records)).unwrap();
    let trace = folder.join("ctf");
    fs::create_dir_all(&trace).unwrap();
    fs::write(trace.join("metadata"), ctf_trace::metadata(0)).unwrap();
    fs::write(trace.join("stream"), ctf_trace::stream(4 << 20)).unwrap();
    // The smallest distance between two marks of RFR, and a packet of CTF; with a record.
    for (path, file, most) in [(folder.join("stream.rfr"), 0, 4096 + 64), (trace, 1, (128 << 10) + 64)] {
        session(&path, (80, 24), |session| {
            let browse = session.browse;
            browse.index(file, &|_| true);
            let mut times = Vec::new();
            browse.walk(file, 0, Depth::All, &mut |node| {
                if let (crate::trace::Level::Record, Some(time)) = (node.level, node.time) {
                    times.push((time.ns(), node.offset));
                }
                true
            });
            assert!(times.len() > 1_000 && times.is_sorted(), "{}", path.display());
            for at in (0..times.len()).step_by(97) {
                let (time, _) = times[at];
                for time in [time - 1, time, time + 1] {
                    let Some(&(_, offset)) = times.iter().find(|(other, _)| *other >= time) else { continue };
                    let near = browse.near(file, time);
                    assert!(near <= offset && offset - near <= most, "{time}: {near} for {offset}");
                }
            }
        });
    }
    fs::remove_dir_all(folder).unwrap();
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
        // Inputs that need options are not asked for here.
        if !expected.exists() || fs::read_to_string(&expected).unwrap().contains("\"options\": [\"") {
            continue;
        }
        on_large_stack(|| {
            let input = Input::open(&folder).ok().unwrap();
            let reading = Reading::default();
            let mut told = 0;
            let trace = crate::formats::open(&input, reading).ok().unwrap();
            let info = trace.info(&crate::trace::Inquiry { full: true, tasks: false }).ok().unwrap();
            let records = info.fields["records"].as_u64();
            let looked = trace.browse(&folder, &mut |browse| {
                let mut end = 0;
                browse.walk(browse.first(), 0, Depth::All, &mut |node| {
                    assert!(node.offset >= end || node.level != crate::trace::Level::Part, "{folder:?}");
                    if node.level == crate::trace::Level::Part {
                        end = node.end;
                    }
                    told += u64::from(node.level == crate::trace::Level::Record);
                    true
                });
            });
            looked.unwrap();
            assert_eq!(Some(told), records, "{}", folder.display());
        });
        captures += 1;
    }
    assert!(captures > 0, "no captures");
}
