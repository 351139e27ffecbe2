//! Measuring, and the table of what was measured.

use rustix::time::{ClockId, clock_gettime};
use std::fmt::Write;
use std::hint::black_box;
use std::time::Duration;

/// The unit of a figure.
#[derive(Clone, Copy)]
pub enum Unit {
    /// Nanoseconds an item, for this many of them.
    Nanoseconds(&'static str, u64),
    /// Millions of items a second, for this many of them.
    Millions(&'static str, u64),
    /// Gigabytes a second, for this many bytes.
    Gigabytes(u64),
    /// The time that all of it takes.
    Time,
}

impl Unit {
    fn show(self, seconds: f64) -> String {
        match self {
            Self::Nanoseconds(what, count) => format!("{} ns a{what}", digits(seconds * 1e9 / count as f64)),
            Self::Millions(what, count) => format!("{} M {what}/s", digits(count as f64 / seconds / 1e6)),
            Self::Gigabytes(bytes) => format!("{} GB/s", digits(bytes as f64 / seconds / 1e9)),
            Self::Time if seconds < 1e-6 => format!("{} ns", digits(seconds * 1e9)),
            Self::Time if seconds < 1e-3 => format!("{} µs", digits(seconds * 1e6)),
            Self::Time => format!("{} ms", digits(seconds * 1e3)),
        }
    }
}

/// Three significant digits, or more if there are more before the point.
fn digits(value: f64) -> String {
    match value {
        ..10.0 => format!("{value:.2}"),
        ..100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// One way to do the work of a row.
pub struct Way<'a> {
    name: &'a str,
    /// Prepares the work; not measured.
    before: Box<dyn FnMut() + 'a>,
    work: Box<dyn FnMut() -> u64 + 'a>,
    /// True if the work can run only once after each `before`.
    once: bool,
}

pub fn way<'a>(name: &'a str, work: impl FnMut() -> u64 + 'a) -> Way<'a> {
    Way { name, before: Box::new(|| {}), work: Box::new(work), once: false }
}

impl<'a> Way<'a> {
    pub fn before(self, before: impl FnMut() + 'a) -> Self {
        Self { before: Box::new(before), once: true, ..self }
    }
}

/// CPU time that this thread has taken.
fn now() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

/// The shortest time that is measured at once, in seconds.
const LONG_ENOUGH: f64 = 0.004;
/// The time that a row takes, in seconds, unless its rounds take longer.
const ROW: f64 = 1.5;
const ROUNDS: std::ops::RangeInclusive<usize> = 5..=41;

pub struct Table {
    text: String,
    filters: Vec<String>,
    group: String,
    /// Of the rows since the last mean: the ratio to each peer.
    ratios: Vec<(String, Vec<f64>)>,
}

impl Table {
    pub fn new(filters: Vec<String>) -> Self {
        let text = "| work | traceglass | ± | beside it, and our speed as a multiple of its |\n|---|---:|---:|---|\n".into();
        Self { text, filters, group: String::new(), ratios: Vec::new() }
    }

    /// True if rows of that group are asked for.
    pub fn begin(&mut self, group: &str) -> bool {
        self.group = group.to_owned();
        self.ratios.clear();
        self.filters.is_empty() || self.filters.iter().any(|filter| group.to_lowercase().contains(filter))
    }

    /// A row: the first way is ours, and the others must give the same, except those whose names begin with `~`.
    ///
    /// All take turns, round by round; the figures are medians, a ratio is the median of those of the rounds.
    pub fn row(&mut self, work: &str, unit: Unit, mut ways: Vec<Way<'_>>) {
        let mut repeats = Vec::new();
        let mut expected = None;
        let mut round_takes = 0.0;
        for way in &mut ways {
            (way.before)();
            let found = (way.work)();
            if !way.name.starts_with('~') {
                assert_eq!(*expected.get_or_insert(found), found, "{work}: {}", way.name);
            }
            // Measures the second run: the first one warms up the caches.
            (way.before)();
            let start = now();
            black_box((way.work)());
            let taken = (now() - start).as_secs_f64().max(1e-9);
            let repeat = if way.once { 1 } else { (LONG_ENOUGH / taken).ceil() as u32 };
            round_takes += taken * f64::from(repeat);
            repeats.push(repeat);
        }
        let rounds = ((ROW / round_takes) as usize).clamp(*ROUNDS.start(), *ROUNDS.end());
        let mut times = vec![Vec::new(); ways.len()];
        for round in 0..rounds {
            // The order rotates, so that no way always goes first.
            for turn in 0..ways.len() {
                let place = (turn + round) % ways.len();
                let way = &mut ways[place];
                (way.before)();
                let start = now();
                for _ in 0..repeats[place] {
                    black_box((way.work)());
                }
                times[place].push((now() - start).as_secs_f64() / f64::from(repeats[place]));
            }
        }
        let ours = &times[0];
        let quarter = |part: usize| sorted(ours)[(rounds - 1) * part / 4];
        let spread = 50.0 * (quarter(3) - quarter(1)) / quarter(2);
        let mut others = Vec::new();
        for (way, theirs) in ways.iter().zip(&times).skip(1) {
            let name = way.name.trim_start_matches('~');
            let ratio =
                median(&theirs.iter().zip(ours).map(|(theirs, ours)| theirs / ours).collect::<Vec<_>>());
            others.push(format!("{name} {}, **{}×**", unit.show(median(theirs)), digits(ratio)));
            match self.ratios.iter_mut().find(|(known, _)| known == name) {
                Some((_, ratios)) => ratios.push(ratio),
                None => self.ratios.push((name.to_owned(), vec![ratio])),
            }
        }
        self.line(work, &unit.show(median(ours)), &format!("{spread:.0} %"), &others.join(" · "));
    }

    /// A row with the geometric means of the ratios since the last such row of this group.
    pub fn means(&mut self, work: &str) {
        let means = self.ratios.iter().map(|(name, ratios)| {
            let mean = ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64;
            format!("{name} **{}×**", digits(mean.exp()))
        });
        let means = means.collect::<Vec<_>>().join(" · ");
        self.ratios.clear();
        self.line(work, "", "", &means);
    }

    fn line(&mut self, work: &str, ours: &str, spread: &str, others: &str) {
        let line = format!("| {}: {work} | {ours} | {spread} | {others} |", self.group);
        eprintln!("{line}");
        let _ = writeln!(self.text, "{line}");
    }

    pub fn text(&self) -> &str {
        &self.text
    }
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values
}

fn median(values: &[f64]) -> f64 {
    sorted(values)[(values.len() - 1) / 2]
}
