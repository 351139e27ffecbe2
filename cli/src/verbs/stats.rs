//! `traceglass stats`

use super::export;
use crate::input::Input;
use crate::json::Line;
use crate::look_back::look_back;
use crate::output::{DIM, HEADING, Out, counted, grouped, percent, printable, shortened};
use crate::progress;
use crate::record::Names;
use crate::slices;
use crate::states::Pairs;
use crate::stats::{Busy, ByName, Named, Sketch, Stats};
use crate::status::{Failure, Result, Status};
use crate::table::{Table, left, name, right};
use crate::trace::{DamageExt as _, Open, Pairing, Privacy, Reading, Select, Window, aligned};
use serde_json::Value;
use std::cmp::Reverse;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Count and measure: counts, rates and durations by name, and how busy each track is
///
/// Slices come first, the longest total first; then tracks, the busiest first; then events, the most frequent first.
/// Count, total, minimum and maximum are exact; p50 and p99 are off by 1/64 at most. Memory does not grow with the
/// number of events. Symbols of dial9 are no events.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// One JSON object for each name and each track
    #[arg(long)]
    json: bool,
    /// All names and tracks, of which otherwise the first hundred are shown
    #[arg(long)]
    all: bool,
    /// Another trace to compare with: what became slower, what is new
    #[arg(long, value_name = "PATH")]
    against: Option<PathBuf>,
    #[command(flatten)]
    select: Select,
    /// How the durations of slices are spread: how many last from each power of two nanoseconds up to the next
    #[arg(long, conflicts_with_all = ["json", "against"])]
    histogram: bool,
    #[command(flatten)]
    window: Window,
    #[command(flatten)]
    pairing: Pairing,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    privacy: Privacy,
    /// A file or directory; - for stdin
    #[arg(value_name = "PATH")]
    path: PathBuf,
}

const EXAMPLES: &str = "\
\x1b[1;4mExamples:\x1b[0m
  traceglass stats trace/                       which call is slow, who hogs
  traceglass stats --from +1s --to +2s trace/   in one second
  traceglass stats --against before/ after/     what became slower
  traceglass stats --histogram --name 'irq*' trace/
  traceglass stats --json trace/ | jq 'select(.kind == \"slice\") | .p99_ns'";

/// The widest name in a table.
const WIDE: usize = 60;

/// The number of names or tracks that are shown of many; JSON has all.
const SHOWN: usize = 100;

/// Says that there is more than is shown.
fn more(count: usize, shown: usize, out: &mut Out) -> Result<()> {
    match count.saturating_sub(shown) {
        0 => Ok(()),
        rest => out.line(out.paint(DIM, format!("and {} more: --all", grouped(rest as u64)))),
    }
}

pub fn run(args: &Args, open: Open, out: &mut Out) -> Result<Status> {
    args.window.refuse_reversed()?;
    let paths: Vec<_> = [&args.path].into_iter().chain(&args.against).cloned().collect();
    args.privacy.hide(&paths, args.reading, open)?;
    let mut pairs = Pairs::open(&args.pairing)?;
    let (stats, mut worst) = match read(args, &args.path, &mut pairs, open, out) {
        Ok(found) => found,
        Err(failure) => return out.failed(&args.path, failure),
    };
    let other = match &args.against {
        Some(path) => match read(args, path, &mut pairs, open, out) {
            Ok((other, status)) => {
                worst = worst.max(status);
                Some(other)
            }
            Err(failure) => return out.failed(path, failure),
        },
        None => None,
    };
    let names = args.select.names();
    let shown = Statistics { of: &stats, other: other.as_ref(), names: &names };
    let most = if args.all { usize::MAX } else { SHOWN };
    if args.json {
        shown.print_json(out)?;
    } else if args.histogram {
        if let Err(failure) = shown.print_histograms(most, out) {
            worst = worst.max(out.failed(&args.path, failure)?);
        }
    } else {
        shown.print_text(most, out)?;
    }
    Ok(worst)
}

/// The lines that are printed.
struct Statistics<'s> {
    of: &'s Stats,
    other: Option<&'s Stats>,
    /// The names of events and slices that are asked for. Tracks are shown if all are: they add up whatever is on them.
    names: &'s Names,
}

/// The counts of names that are asked for.
fn named_so<'s, T>(all: &'s ByName<T>, names: &Names) -> impl Iterator<Item = (&'s str, &'s T)> + Clone {
    all.iter().filter(move |(name, _)| names.has(name))
}

/// The names that are asked for and that only the other trace has.
fn only_there<'s, T>(
    other: &'s ByName<T>,
    of: &'s ByName<T>,
    names: &'s Names,
) -> impl Iterator<Item = &'s str> {
    named_so(other, names).map(|(name, _)| name).filter(|name| of.get(name).is_none())
}

/// Counts what is in a trace.
fn read(args: &Args, path: &Path, pairs: &mut Pairs, open: Open, out: &mut Out) -> Result<(Stats, Status)> {
    let input = Input::open(path)?;
    let trace = open(&input, args.reading)?;
    args.select.refuse_foreign(trace.format(), false)?;
    let window = export::in_ns(&args.window, &*trace)?;
    look_back(pairs, window, &*trace, out);
    progress::begin("reading", trace.bytes());
    let (stats, mut outcome) = slices::read(&*trace, pairs, args.select.on_tracks(), Stats::new(window))?;
    outcome.add_untold(&*trace, window)?;
    outcome.damage.tell(path, out);
    let names = args.select.names();
    let is_empty =
        named_so(&stats.slices, &names).next().is_none() && named_so(&stats.events, &names).next().is_none();
    if is_empty {
        let message = args.select.found_nothing(&args.window);
        out.warn(
            path,
            message.unwrap_or_else(|| "there is no event, of which there could be statistics".to_owned()),
        );
    }
    Ok((stats, outcome.status))
}

/// The entries of a map with the greatest numbers, at most so many, the greatest first.
fn sorted<'m, T, N: Ord>(
    map: impl IntoIterator<Item = (&'m str, &'m T)>,
    most: usize,
    number: impl Fn(&T) -> N,
) -> Vec<(&'m str, &'m T)>
where
    T: 'm,
{
    let mut entries: Vec<_> = map.into_iter().map(|(name, of)| (Reverse(number(of)), name, of)).collect();
    let order = |(a, name_a, _): &(Reverse<N>, &str, &T), (b, name_b, _): &(Reverse<N>, &str, &T)| {
        a.cmp(b).then_with(|| name_a.cmp(name_b))
    };
    if entries.len() > most {
        entries.select_nth_unstable_by(most, order);
        entries.truncate(most);
    }
    entries.sort_unstable_by(order);
    entries.into_iter().map(|(_, name, of)| (name, of)).collect()
}

/// The frequency per second.
fn rate(count: u64, ns: i128) -> Option<f64> {
    #[allow(clippy::cast_precision_loss)]
    let rate = count as f64 * 1e9 / ns as f64;
    (ns > 0).then_some(rate)
}

/// The ratio of two durations.
fn ratio(one: Option<i128>, other: Option<i128>) -> Option<f64> {
    #[allow(clippy::cast_precision_loss)]
    let ratio = one? as f64 / other.filter(|&other| other > 0)? as f64;
    Some(ratio)
}

fn share(part: i128, whole: i128) -> String {
    let number = |value: i128| u64::try_from(value.max(0)).unwrap_or(u64::MAX);
    percent(number(part), number(whole))
}

/// A number, or null.
fn float(line: &mut Line, key: &str, value: Option<f64>) {
    line.raw(key, Value::from(value));
}

fn of_slices(line: &mut Line, named: &Named, ns: i128) {
    let Named { sketch, longest_at, open } = named;
    let known = |value: i128| (sketch.count > 0).then_some(value);
    float(line.int("count", sketch.count), "rate", rate(sketch.count, ns));
    line.span("total_ns", Some(sketch.total())).span("min_ns", known(sketch.min()));
    line.span("mean_ns", sketch.mean()).span("p50_ns", sketch.percentile(50));
    line.span("p99_ns", sketch.percentile(99)).span("max_ns", known(sketch.max()));
    line.int_or_null("max_offset", (sketch.count > 0).then_some(*longest_at)).int("open", *open);
    let mut histogram = String::new();
    for (power, count) in sketch.powers() {
        let from = if power == 0 { 0 } else { 1_u64.checked_shl(power).unwrap_or(u64::MAX) };
        let comma = if histogram.is_empty() { "" } else { "," };
        // A string takes all that is written to it.
        let _ = write!(histogram, "{comma}{{\"from_ns\":{from},\"count\":{count}}}");
    }
    line.raw("histogram", format_args!("[{histogram}]"));
}

/// The names are those of all slices.
fn of_track(line: &mut Line, busy: &Busy, slices: &[&str], ns: i128) {
    #[allow(clippy::cast_precision_loss)]
    let share = |part: i128| (ns > 0).then(|| part as f64 / ns as f64);
    float(line.span("busy_ns", Some(busy.ns())), "share", share(busy.ns()));
    let (mut names, mut each) = (String::new(), Line::new());
    for (name, part) in busy.parts(slices) {
        float(each.begin().text("name", name).span("ns", Some(part)), "share", share(part));
        names.push_str(if names.is_empty() { "" } else { "," });
        names.push_str(&object(&mut each));
    }
    line.raw("names", format_args!("[{names}]"));
}

fn of_events(line: &mut Line, count: u64, ns: i128) {
    float(line.int("count", count), "rate", rate(count, ns));
}

/// The object of a line.
fn object(line: &mut Line) -> String {
    String::from_utf8_lossy(line.end().trim_ascii_end()).into_owned()
}

/// A name in a table.
fn named(name: &str) -> String {
    printable(&shortened(name, WIDE))
}

fn shown_rate(count: u64, ns: i128) -> String {
    rate(count, ns).map_or_else(String::new, |rate| match rate {
        10.0.. => grouped(rate.round() as i128),
        _ => format!("{rate:.1}"),
    })
}

/// As an integer that has room for each power of a duration.
fn power_of_two(power: u32) -> i128 {
    1_i128.checked_shl(power).unwrap_or(i128::MAX)
}

/// A bar for a part of the largest number. What is not 0 is seen.
fn bar(count: u64, largest: u64) -> String {
    const WIDEST: u128 = 40;
    let width = u128::from(count).saturating_mul(WIDEST).div_ceil(u128::from(largest).max(1));
    "█".repeat(usize::try_from(width).unwrap_or(0))
}

/// A change, where it is one of more than a hundredth.
fn change(ratio: Option<f64>, is_known: bool) -> String {
    match ratio {
        _ if !is_known => "new".to_owned(),
        Some(ratio) if (ratio - 1.0).abs() > 0.01 => format!("{:+.0} %", (ratio - 1.0) * 100.0),
        Some(_) => "same".to_owned(),
        None => String::new(),
    }
}

impl Statistics<'_> {
    fn print_json(&self, out: &mut Out) -> Result<()> {
        let Self { of: stats, other, names: asked } = *self;
        let (ns, other_ns) = (stats.ns(), other.map_or(0, Stats::ns));
        let (mut line, mut against) = (Line::new(), Line::new());
        // Ends a line, with what the other trace says.
        let end = |line: &mut Line, against: Option<&mut Line>, out: &mut Out| {
            if other.is_some() {
                line.raw("against", against.map_or_else(|| "null".to_owned(), object));
            }
            out.json_text(line.end())
        };
        let nothing = Named::default();
        let gone = other.map(|other| only_there(&other.slices, &stats.slices, asked)).into_iter().flatten();
        let slices = sorted(named_so(&stats.slices, asked), usize::MAX, |named| named.sketch.total());
        for (name, named) in slices.into_iter().chain(gone.map(|name| (name, &nothing))) {
            of_slices(line.begin().text("kind", "slice").text("name", name), named, ns);
            let found = other.and_then(|other| other.slices.get(name));
            let found = found.map(|named| of_slices(against.begin(), named, other_ns)).map(|()| &mut against);
            end(&mut line, found, out)?;
        }
        let names = stats.slices.names();
        let other_names = other.map(|other| other.slices.names()).unwrap_or_default();
        let idle = Busy::default();
        let gone = other.map(|other| only_there(&other.tracks, &stats.tracks, asked)).into_iter().flatten();
        let tracks = sorted(stats.tracks.iter(), usize::MAX, |busy| busy.ns());
        let tracks = tracks.into_iter().chain(gone.map(|track| (track, &idle)));
        for (track, busy) in tracks.filter(|_| asked.are_all()) {
            let label = [Some(stats), other].into_iter().flatten().find_map(|stats| stats.aliases.get(track));
            let label = label.map(String::as_str);
            line.begin().text("kind", "track").text("track", track).text_or_null("label", label);
            of_track(&mut line, busy, &names, ns);
            let found = other.and_then(|other| other.tracks.get(track));
            let found = found.map(|busy| of_track(against.begin(), busy, &other_names, other_ns));
            let found = found.map(|()| &mut against);
            end(&mut line, found, out)?;
        }
        let gone = other.map(|other| only_there(&other.events, &stats.events, asked)).into_iter().flatten();
        let events = sorted(named_so(&stats.events, asked), usize::MAX, |count| *count);
        for (name, count) in events.into_iter().chain(gone.map(|name| (name, &0))) {
            of_events(line.begin().text("kind", "event").text("name", name), *count, ns);
            let found = other.and_then(|other| other.events.get(name));
            let found =
                found.map(|count| of_events(against.begin(), *count, other_ns)).map(|()| &mut against);
            end(&mut line, found, out)?;
        }
        Ok(())
    }

    /// From each power of two nanoseconds up to the next, how many slices last that long.
    fn print_histograms(&self, most: usize, out: &mut Out) -> Result<()> {
        let slices = named_so(&self.of.slices, self.names);
        let found = slices.clone().filter(|(_, of)| of.sketch.count > 0);
        let count = found.clone().count();
        let is_empty = slices.count() == 0 && named_so(&self.of.events, self.names).next().is_none();
        if count == 0 && is_empty {
            // Said already.
            return Ok(());
        }
        if count == 0 {
            return Err(Failure::unreadable(
                "no slice of which both ends are known is in what was asked for",
            ));
        }
        for (name, Named { sketch, .. }) in sorted(found, most, |named| named.sketch.total()) {
            let powers = sketch.powers();
            let (Some((&first, _)), Some((&last, _))) = (powers.first_key_value(), powers.last_key_value())
            else {
                continue;
            };
            let largest = powers.values().copied().max().unwrap_or(0);
            out.line(out.paint(HEADING, named(name)))?;
            let mut table = Table::new(&[right("from"), right("up to"), right("count"), left("")]);
            for power in first..=last {
                let count = powers.get(&power).copied().unwrap_or(0);
                let from = if power == 0 { 0 } else { power_of_two(power) };
                let to = power_of_two(power.saturating_add(1));
                table.row(out, vec![aligned(from), aligned(to), grouped(count), bar(count, largest)])?;
            }
            table.finish(out)?;
        }
        more(count, most, out)
    }

    fn print_text(&self, most: usize, out: &mut Out) -> Result<()> {
        if named_so(&self.of.slices, self.names).next().is_some() {
            self.print_slices(most, out)?;
        }
        if !self.of.tracks.is_empty() && self.names.are_all() {
            self.print_tracks(most, out)?;
        }
        if named_so(&self.of.events, self.names).next().is_some() {
            self.print_events(most, out)?;
        }
        let count = match self.other {
            Some(other) if self.names.are_all() => {
                let slices = only_there(&other.slices, &self.of.slices, self.names).count();
                slices.saturating_add(only_there(&other.events, &self.of.events, self.names).count())
            }
            _ => 0,
        };
        if count > 0 {
            let what = counted(i128::try_from(count).unwrap_or(0), "name is", "names are");
            out.line(out.paint(DIM, format!("{what} in the other trace only")))?;
        }
        Ok(())
    }

    fn print_slices(&self, most: usize, out: &mut Out) -> Result<()> {
        let Self { of: stats, other, .. } = *self;
        let ns = stats.ns();
        out.line(out.paint(HEADING, "slices"))?;
        let mut columns = vec![
            name("name"),
            right("count"),
            right("per second").spare(2),
            right("total"),
            right("min").spare(4),
            right("mean"),
            right("p50").spare(3),
            right("p99"),
            right("max"),
            right("at").spare(1),
            left("spread").spare(5),
        ];
        if other.is_some() {
            columns.insert(1, right("mean was").spare(6));
            columns.insert(1, right("change"));
        }
        let mut table = Table::new(&columns);
        for (name, about) in sorted(named_so(&stats.slices, self.names), most, |named| named.sketch.total()) {
            let Named { sketch, longest_at, .. } = about;
            let time = |value: Option<i128>| {
                value.filter(|_| sketch.count > 0).map_or_else(|| "?".to_owned(), aligned)
            };
            let mut cells = vec![
                named(name),
                grouped(sketch.count),
                shown_rate(sketch.count, ns),
                time(Some(sketch.total())),
                time(Some(sketch.min())),
                time(sketch.mean()),
                time(sketch.percentile(50)),
                time(sketch.percentile(99)),
                time(Some(sketch.max())),
                if sketch.count > 0 { format!("{longest_at:#x}") } else { "?".to_owned() },
                sketch.bars(),
            ];
            if let Some(other) = other {
                let was = other.slices.get(name).map(|named| &named.sketch);
                let mean = was.and_then(Sketch::mean);
                cells.insert(1, mean.map_or_else(String::new, aligned));
                cells.insert(1, change(ratio(sketch.mean(), mean), was.is_some()));
            }
            table.row(out, cells)?;
        }
        table.finish(out)?;
        more(named_so(&stats.slices, self.names).count(), most, out)
    }

    fn print_tracks(&self, most: usize, out: &mut Out) -> Result<()> {
        let stats = self.of;
        let (names, ns) = (stats.slices.names(), stats.ns());
        out.line(out.paint(HEADING, "tracks"))?;
        let mut table = Table::new(&[name("track"), right("busy"), right("share"), name("mostly")]);
        for (track, busy) in sorted(stats.tracks.iter(), most, |busy| busy.ns()) {
            let parts = busy.parts(&names).into_iter().take(3);
            let mostly: Vec<_> =
                parts.map(|(name, part)| format!("{} {}", named(name), share(part, ns))).collect();
            let track = match stats.aliases.get(track) {
                Some(alias) => format!("{} ({})", named(track), named(alias)),
                None => named(track),
            };
            table.row(out, vec![track, aligned(busy.ns()), share(busy.ns(), ns), mostly.join(", ")])?;
        }
        table.finish(out)?;
        more(stats.tracks.len(), most, out)
    }

    fn print_events(&self, most: usize, out: &mut Out) -> Result<()> {
        let Self { of: stats, other, .. } = *self;
        let ns = stats.ns();
        out.line(out.paint(HEADING, "events"))?;
        let mut columns = vec![name("name"), right("count"), right("per second")];
        if other.is_some() {
            columns.push(right("was"));
        }
        let mut table = Table::new(&columns);
        for (name, count) in sorted(named_so(&stats.events, self.names), most, |count| *count) {
            let mut cells = vec![named(name), grouped(*count), shown_rate(*count, ns)];
            if let Some(other) = other {
                cells.push(other.events.get(name).map_or_else(|| "new".to_owned(), |count| grouped(*count)));
            }
            table.row(out, cells)?;
        }
        table.finish(out)?;
        more(named_so(&stats.events, self.names).count(), most, out)
    }
}
