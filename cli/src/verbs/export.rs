//! `traceglass export`

use crate::export::Summary;
use crate::export::chrome::Chrome;
use crate::export::file::{NewFile, refuse_existing, refuse_loss};
use crate::export::files::Files;
use crate::export::perfetto::Perfetto;
use crate::input::Input;
use crate::look_back::look_back;
use crate::output::{Out, counted};
use crate::progress::{self, Progress};
use crate::slices;
use crate::states::Pairs;
use crate::status::{Failure, Result, Status};
use crate::trace::{DamageExt as _, Events, Export, Open, Outcome, Reading, Target, Trace, Window};
use std::path::{Path, PathBuf};
use traceglass::event::{self, Item};
use traceglass_open::selected::Selected;

/// Convert the content for other tools
///
/// For Perfetto, tracks are tasks, threads and streams, and events are slices, instants and counters on them; wakes and
/// spawns are flows. Chrome's JSON has the same, for other viewers. Parquet, Arrow and CSV have tables of events,
/// tracks, gaps and parts, and one for each kind of record. Memory does not grow with the trace.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    export: Export,
}

const EXAMPLES: &str = "\
\x1b[1;4mExamples:\x1b[0m
  traceglass export --format perfetto -o a.pftrace recording/   ui.perfetto.dev
  traceglass export --format perfetto a.rfr | gzip > a.pftrace.gz
  traceglass export --format perfetto --from +1s --to +2s a.rtc > a.pftrace
  traceglass export --format perfetto --name 'irq*' trace/ > irqs.pftrace
  traceglass export --format chrome -o a.json recording/   speedscope.app
  traceglass export --format files -o scene/ scene.rgp     each chunk as a file
  traceglass export --format parquet -o tables/ recording/ duckdb, polars
  traceglass export --format arrow --table tracks recording/
  traceglass export --format csv --from +1s -o a.csv trace/";

pub fn run(args: &Args, open: Open, out: &mut Out) -> Result<Status> {
    let args = &args.export;
    let target = args.format;
    if args.force {
        out.force();
    }
    let output = args.output.as_deref().filter(|path| *path != Path::new("-"));
    if args.table.is_some() && !matches!(target, Target::Arrow | Target::Csv) {
        return Err(Failure::usage("--table is for arrow and csv; the other formats have all of a trace"));
    }
    let selects = match target {
        Target::Perfetto | Target::Chrome => true,
        Target::Arrow | Target::Csv => matches!(args.table.as_deref(), None | Some("events" | "slices")),
        Target::Files | Target::Parquet => false,
    };
    if !args.select.is_everything() && !selects {
        return Err(Failure::usage(
            "--name, --track, --cpu, --thread, --task and --stream: perfetto, chrome, and the tables events and slices of \
             arrow and csv have events by their names and tracks",
        ));
    }
    args.window.refuse_reversed()?;
    if !args.window.is_everything() && target == Target::Files {
        return Err(Failure::usage(
            "--from and --to: a file is written as a whole; `cut` writes a part of it",
        ));
    }
    if let Some(output) = output {
        refuse_loss(output, &args.paths)?;
        refuse_existing(output, args.force)?;
    }
    args.privacy.hide(&args.paths, args.reading, open)?;
    match (target, output) {
        (Target::Files, None) => Err(Failure::usage("files are written to a directory: name it with -o")),
        (Target::Files, Some(folder)) => files(folder, &args.paths, args.reading, open, out),
        (Target::Parquet, None) => Err(Failure::usage("tables are written to a directory: name it with -o")),
        #[cfg(feature = "tables")]
        (Target::Parquet, Some(folder)) => {
            let mut pairs = Pairs::open(&args.pairing)?;
            let folder = crate::export::file::NewFolder::create(folder, false)?;
            let mut names = crate::export::tables::Inputs::default();
            let mut exported = false;
            let status = each(&args.paths, args.reading, open, out, |path, trace, out| {
                let window = asked(args, trace)?;
                look_back(&mut pairs, window, trace, out);
                let part = crate::export::tables::Part {
                    pairs: &pairs,
                    window,
                    select: &crate::trace::Select::default(),
                };
                let (outcome, has_events) =
                    crate::export::tables::parquet(trace, &names.of(path), part, folder.path())?;
                exported = true;
                if !has_events {
                    tell_nothing(args, path, out);
                }
                Ok(outcome)
            });
            let status = status.map_err(|failure| folder.rename(failure))?;
            if exported {
                folder.finish()?;
            }
            Ok(status)
        }
        #[cfg(feature = "tables")]
        (Target::Arrow | Target::Csv, output) => {
            use crate::export::tables::{Part, name_of, stream};
            if args.paths.len() > 1 {
                return Err(Failure::usage("a table is that of one trace; parquet takes several"));
            }
            let mut file = begin(output, out)?;
            let (table, mut pairs) = (args.table.as_deref().unwrap_or("events"), Pairs::open(&args.pairing)?);
            let mut exported = false;
            let status = each(&args.paths, args.reading, open, out, |path, trace, out| {
                let window = asked(args, trace)?;
                look_back(&mut pairs, window, trace, out);
                let part = Part { pairs: &pairs, window, select: &args.select };
                let mut destination = Destination { out, file: file.as_mut() };
                let mut write = |data: &[u8]| destination.write(data);
                let is_csv = target == Target::Csv;
                let (outcome, rows) = stream(trace, &name_of(path), table, is_csv, part, &mut write)?;
                // That there are no gaps is well.
                if rows == 0 && table != "gaps" {
                    tell_nothing(args, path, out);
                }
                exported = true;
                Ok(outcome)
            })?;
            finish(file, exported).map(|()| status)
        }
        #[cfg(not(feature = "tables"))]
        (Target::Parquet | Target::Arrow | Target::Csv, _) => Err(Failure::usage(
            "this traceglass was built without tables; `cargo install --path cli --features tables` has them",
        )),
        (Target::Perfetto, output) => {
            let file = begin(output, out)?;
            perfetto(args, open, out, file)
        }
        (Target::Chrome, output) => {
            let file = begin(output, out)?;
            chrome(args, open, out, file)
        }
    }
}

/// The file to be written, or none for stdout: one that cannot be written is refused before anything is read.
fn begin(output: Option<&Path>, out: &mut Out) -> Result<Option<NewFile>> {
    match output {
        None => out.raw(&[]).map(|()| None),
        Some(path) => NewFile::create(path).map(Some),
    }
}

/// Has the file take its place, if anything was exported.
fn finish(file: Option<NewFile>, exported: bool) -> Result<()> {
    file.filter(|_| exported).map_or(Ok(()), NewFile::finish)
}

/// Writes every part of the traces as a file into a new folder.
pub fn files(
    folder: &Path,
    paths: &[PathBuf],
    reading: Reading,
    open: Open,
    out: &mut Out,
) -> Result<Status> {
    refuse_loss(folder, paths)?;
    let mut files = Files::create(folder)?;
    let mut extracted = false;
    let status = each(paths, reading, open, out, |path, trace, _| {
        files.begin(path, trace.bytes())?;
        extracted = true;
        trace.extract(&mut files)
    });
    let status = status.map_err(|failure| files.rename(failure))?;
    if extracted {
        files.finish()?;
    }
    Ok(status)
}

/// Opens the traces one after the other. Returns the worst status.
fn each(
    paths: &[PathBuf],
    reading: Reading,
    open: Open,
    out: &mut Out,
    mut export: impl FnMut(&Path, &dyn Trace, &mut Out) -> Result<Outcome>,
) -> Result<Status> {
    let mut status = Status::Clean;
    progress::begin("exporting", crate::input::total(paths));
    for path in paths {
        let done = (|| {
            let input = Input::open(path)?;
            let trace = open(&input, reading)?;
            export(path, &*trace, out)
        })();
        let found = match done {
            Ok(outcome) => {
                outcome.damage.tell(path, out);
                outcome.status
            }
            Err(failure) => out.failed(path, failure)?,
        };
        status = status.max(found);
    }
    Ok(status)
}

/// stdout or a file.
struct Destination<'o> {
    out: &'o mut Out,
    file: Option<&'o mut NewFile>,
}

impl Destination<'_> {
    fn write(&mut self, data: &[u8]) -> Result<()> {
        match &mut self.file {
            Some(file) => file.write(data),
            None => self.out.raw(data),
        }
    }
}

/// The output for what is selected of one trace, and how much of the trace has been read.
struct Writing<'w, 'o> {
    perfetto: &'w mut Perfetto,
    destination: &'w mut Destination<'o>,
    selected: Selected,
    progress: Progress,
}

impl Events for Writing<'_, '_> {
    fn item(&mut self, item: &Item<'_>) -> Result<()> {
        let Self { perfetto, destination, selected, .. } = self;
        if !selected.wants(item) {
            return Ok(());
        }
        perfetto.item(item, &mut |data| destination.write(data))
    }

    fn advance(&mut self, bytes: u64) {
        self.progress.advance(bytes);
    }
}

/// A range of time, in nanoseconds of the trace's clock.
pub(super) fn in_ns(window: &Window, trace: &dyn Trace) -> Result<event::Window> {
    if window.is_everything() {
        return Ok(event::Window::ALL);
    }
    let bounds = trace.bounds(window)?;
    Ok(event::Window::new(bounds.from, bounds.to))
}

/// The range that is asked for; what is selected must be of the trace's format.
fn asked(args: &Export, trace: &dyn Trace) -> Result<event::Window> {
    args.select.refuse_foreign(trace.format(), false)?;
    in_ns(&args.window, trace)
}

/// Says so if nothing is exported, though something was asked for.
fn tell_nothing(args: &Export, path: &Path, out: &mut Out) {
    if let Some(message) = args.select.found_nothing(&args.window) {
        out.warn(path, message);
    }
}

/// Says what was left out.
fn tell(summary: &Summary, args: &Export, path: &Path, out: &mut Out) {
    if !summary.has_events {
        tell_nothing(args, path, out);
    }
    let whys = [
        (summary.untimed, "their time is not known"),
        (summary.misfits, "the format has no place for their time"),
    ];
    for (count, why) in whys.into_iter().filter(|(count, _)| *count > 0) {
        let events = counted(count, "event was", "events were");
        out.warn(path, format_args!("{events} left out: {why}"));
    }
}

/// Draws the traces one after the other, into a file or to stdout. Gives the status, and whether one could be drawn.
fn drawn(
    args: &Export,
    open: Open,
    out: &mut Out,
    file: &mut Option<NewFile>,
    mut draw: impl FnMut(
        &str,
        &dyn Trace,
        event::Window,
        &Pairs,
        &mut Destination<'_>,
    ) -> Result<(Outcome, Summary)>,
) -> Result<(Status, bool)> {
    let mut pairs = Pairs::open(&args.pairing)?;
    let mut exported = false;
    let status = each(&args.paths, args.reading, open, out, |path, trace, out| {
        let window = asked(args, trace)?;
        look_back(&mut pairs, window, trace, out);
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        let mut destination = Destination { out, file: file.as_mut() };
        let (mut outcome, summary) = draw(&name, trace, window, &pairs, &mut destination)?;
        outcome.add_untold(trace, window)?;
        tell(&summary, args, path, out);
        exported = true;
        Ok(outcome)
    })?;
    Ok((status, exported))
}

pub fn chrome(args: &Export, open: Open, out: &mut Out, mut file: Option<NewFile>) -> Result<Status> {
    let mut chrome = Chrome::default();
    let draw = |name: &str, trace: &dyn Trace, window, pairs: &Pairs, to: &mut Destination<'_>| {
        let mut write = |data: &[u8]| to.write(data);
        let process = chrome.begin(name, window, &mut write);
        let (process, outcome) = slices::read(trace, pairs, args.select.selected(), process)?;
        Ok((outcome, process.finish()?))
    };
    let (status, exported) = drawn(args, open, out, &mut file, draw)?;
    let mut destination = Destination { out, file: file.as_mut() };
    chrome.finish(&mut |data| destination.write(data))?;
    finish(file, exported).map(|()| status)
}

pub fn perfetto(args: &Export, open: Open, out: &mut Out, mut file: Option<NewFile>) -> Result<Status> {
    let mut perfetto = Perfetto::default();
    let draw = |name: &str, trace: &dyn Trace, window, pairs: &Pairs, to: &mut Destination<'_>| {
        perfetto.begin(name, window);
        let (selected, progress) = (args.select.selected(), Progress::new(trace.bytes()));
        let mut writing = Writing { perfetto: &mut perfetto, destination: to, selected, progress };
        let outcome = trace.states_in(window, pairs, &mut writing)?;
        perfetto.settle(&mut |data| to.write(data))?;
        Ok((outcome, perfetto.take_summary()))
    };
    let (status, exported) = drawn(args, open, out, &mut file, draw)?;
    finish(file, exported).map(|()| status)
}
