//! `traceglass cat`

use super::export;
use crate::IS_COMMAND;
use crate::disk;
use crate::input::Input;
use crate::look_back::look_back;
use crate::output::Out;
use crate::pipe::Pipe;
use crate::progress;
use crate::record::SliceLines;
use crate::slices;
use crate::states::Pairs;
use crate::status::{Failure, Result, Status};
use crate::trace::{Cursor, DamageExt as _, Open, Selection};
use std::path::Path;
use std::time::{Duration, Instant};

/// The time to wait before looking for new data again.
const TICK: Duration = Duration::from_millis(200);

/// Print the content of a file: records, or the raw bytes of the selected part
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    selection: Selection,
}

const EXAMPLES: &str = "\
\x1b[1;4mExamples:\x1b[0m
  traceglass cat --chunk AsicInfo a.rmv > asic   RDF: one chunk, decompressed
  traceglass cat --all -o scene/ scene.rgp       RDF: each chunk as a file
  traceglass cat --stream adc trace.rtc          RTC: what one stream said
  traceglass cat --from +1.5s --to +2s trace/    half a second of any trace
  traceglass cat --metadata trace/               CTF: the text, without packets
  traceglass cat --task main recording/          RFR: one task's records
  traceglass cat --follow --json trace.rtc       and what comes from now on";

#[cfg(target_family = "wasm")]
impl From<Selection> for Args {
    fn from(selection: Selection) -> Self {
        Self { selection }
    }
}

pub fn run(args: &Args, open: Open, out: &mut Out) -> Result<Status> {
    let args = &args.selection;
    args.privacy.hide(std::slice::from_ref(&args.path), args.reading, open)?;
    if args.force {
        out.force();
    }
    if let (true, Some(folder)) = (IS_COMMAND && args.rdf.all, &args.rdf.output) {
        return export::files(folder, std::slice::from_ref(&args.path), args.reading, open, out);
    }
    if IS_COMMAND && args.slices {
        let mut pairs = Pairs::open(&args.pairing)?;
        let done = slices(args, &mut pairs, open, out);
        return done.or_else(|failure| out.failed(&args.path, failure));
    }
    progress::begin("reading", 0);
    let mut cursor = Cursor { follows: args.follow, ..Cursor::default() };
    let mut worst = Status::Clean;
    let (mut pipe, mut has_begun) = (None, false);
    loop {
        let follows = IS_COMMAND && args.follow;
        let started = follows.then(Instant::now);
        let size = size(&args.path);
        let done = (|| {
            if follows && args.path == Path::new("-") {
                return Err(Failure::usage("--follow: stdin is read to its end as it is; name a pipe"));
            }
            if follows && pipe.is_none() {
                pipe = Pipe::open(&args.path)?;
            }
            let input = match &mut pipe {
                Some(pipe) => {
                    pipe.grow()?;
                    cursor.has_ended = pipe.has_ended;
                    Input::of(pipe.data(), &args.path)
                }
                None => Input::open(&args.path)?,
            };
            let trace = match open(&input, args.reading) {
                // The format can be detected when more has come.
                Err(_) if !has_begun && pipe.as_ref().is_some_and(Pipe::may_begin) => return Ok(worst),
                Err(_) if !has_begun && follows && size == Some(0) => return Ok(worst),
                opened => opened?,
            };
            has_begun = true;
            args.refuse_foreign(trace.format())?;
            trace.cat(args, &mut cursor, out)
        })();
        match done {
            Err(failure) => return out.failed(&args.path, failure),
            Ok(status) => worst = worst.max(status),
        }
        if !follows {
            if out.is_empty()
                && let Some(message) = args.select.found_nothing(&args.window)
            {
                out.warn(&args.path, message);
            }
            return Ok(worst);
        }
        out.finish()?;
        if let Some(pipe) = &pipe {
            if pipe.has_ended {
                return Ok(worst);
            }
            continue;
        }
        if !wait(&args.path, size, started.map_or(Duration::ZERO, |started| started.elapsed()), out)? {
            return Ok(worst);
        }
    }
}

/// Prints slices, in the order in which they end.
fn slices(args: &Selection, pairs: &mut Pairs, open: Open, out: &mut Out) -> Result<Status> {
    let input = Input::open(&args.path)?;
    let trace = open(&input, args.reading)?;
    args.refuse_foreign(trace.format())?;
    let window = export::in_ns(&args.window, &*trace)?;
    look_back(pairs, window, &*trace, out);
    progress::begin("reading", trace.bytes());
    let lines = SliceLines::new(args.json, args.tree, window, &args.select, out);
    let (lines, mut outcome) = slices::read(&*trace, pairs, args.select.on_tracks(), lines)?;
    if !lines.finish()? {
        match args.select.found_nothing(&args.window) {
            Some(message) => out.warn(&args.path, message),
            None if args.json => {}
            None => out.warn(&args.path, "nothing of it lasted: it has no slices"),
        }
    }
    outcome.add_untold(&*trace, window)?;
    outcome.damage.tell(&args.path, out);
    Ok(outcome.status)
}

/// The size of a file; of a folder none.
fn size(path: &Path) -> Option<u64> {
    disk::metadata(path).ok().filter(disk::Metadata::is_file).map(|about| about.len())
}

/// Waits until a file has grown, or until it is worth reading a folder again. Returns whether there may be more.
fn wait(path: &Path, size: Option<u64>, last: Duration, out: &mut Out) -> Result<bool> {
    let Some(size) = size else {
        // Reading the folder takes at most a tenth of the time.
        std::thread::sleep(TICK.max(last.saturating_mul(10)));
        return Ok(true);
    };
    loop {
        match self::size(path) {
            Some(now) if now > size => return Ok(true),
            Some(now) if now < size => {
                out.warn(path, "has become shorter, and is not followed any more");
                return Ok(false);
            }
            Some(_) => std::thread::sleep(TICK),
            None => {
                out.warn(path, "is not there any more");
                return Ok(false);
            }
        }
        // Fails if the reader of stdout is gone.
        out.finish()?;
    }
}
