//! Options about what is asked for: names, tracks, streams.

use super::time::Window;
use crate::record::Names;
use crate::status::{Failure, Result};
use traceglass::Format;
use traceglass_open::selected::Selected;
use traceglass_open::tracks::TrackNames;

/// The names, and the tracks or streams that are asked for: the same options for each verb.
#[derive(clap::Args, Clone, Default)]
pub struct Select {
    /// Only records, events and slices with this name; * stands for any text. More than one may be given
    #[arg(long, value_name = "GLOB")]
    pub name: Vec<String>,
    /// Only events and slices on the track of this name, such as 'queue 2', and on those below it; * stands for any text. Of
    /// cat with --slices. More than one may be given; with the options below, what is on any of them
    #[arg(long, value_name = "GLOB")]
    pub track: Vec<String>,
    /// CTF: only what happened on this processor; several with commas
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub cpu: Vec<u64>,
    /// CTF and dial9: only events and slices of this thread; several with commas. Of cat with --slices. What a worker of
    /// dial9 does is on a track of its own: --track 'worker 2'
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub thread: Vec<u64>,
    /// RFR: only what is of the task with this name or instrumentation id; of events and slices, what is on its track
    #[arg(long, value_name = "NAME|ID")]
    pub task: Option<String>,
    /// RTC: only what is of the stream with this name or number. CTF, of cat alone: only records of the stream in this file,
    /// or with this number
    #[arg(long, value_name = "NAME|ID")]
    pub stream: Option<String>,
}

impl Select {
    /// True if all names are, and all tracks.
    pub fn is_everything(&self) -> bool {
        self.name.is_empty() && self.tracks().are_all()
    }

    /// Refuses options of another format, for records or for events and slices.
    pub fn refuse_foreign(&self, format: Format, are_records: bool) -> Result<()> {
        let is_ctf = matches!(format, Format::Ctf1 | Format::Ctf2);
        let options = [
            (!self.cpu.is_empty() && !is_ctf, "--cpu is of CTF"),
            (!self.thread.is_empty() && !is_ctf && format != Format::Dial9, "--thread is of CTF and dial9"),
            (self.task.is_some() && format != Format::Rfr, "--task is of RFR"),
            (self.stream.is_some() && !is_ctf && format != Format::Rtc, "--stream is of RTC and CTF"),
            // Its tracks are those of processors and threads, whatever stream an event is from.
            (
                self.stream.is_some() && is_ctf && !are_records,
                "--stream selects records of it: `cat` prints them, and `cut` writes a trace of them",
            ),
        ];
        match options.iter().find(|(is_refused, _)| *is_refused) {
            Some((_, why)) => Err(Failure::usage(format!("this is {format}, and {why}"))),
            None => Ok(()),
        }
    }

    /// Events and slices of these names, on these tracks.
    pub fn selected(&self) -> Selected {
        Selected::new(self.names(), self.tracks())
    }

    /// Events and slices of any name on these tracks.
    pub fn on_tracks(&self) -> Selected {
        Selected::new(Names::default(), self.tracks())
    }

    /// The names of events and slices.
    pub fn names(&self) -> Names {
        Names::new(self.name.iter().map(String::as_str))
    }

    /// The tracks: one that has any of these names is asked for.
    pub fn tracks(&self) -> TrackNames {
        let names = |names: &[String]| Names::new(names.iter().map(String::as_str));
        // Some have tracks beside them: of interrupts, of system calls.
        let numbered = |name: &str, numbers: &[u64]| {
            let both = |number| [format!("{name} {number}"), format!("{name} {number} *")];
            names(&numbers.iter().flat_map(both).collect::<Vec<_>>())
        };
        let mut tracks = TrackNames::default()
            .and(&[], names(&self.track))
            .and(&[], numbered("CPU", &self.cpu))
            .and(&[], numbered("thread", &self.thread));
        for (kinds, name) in [(&["task"][..], &self.task), (&["stream", "counter"], &self.stream)] {
            if let Some(name) = name {
                tracks = tracks.and_one(kinds, name);
            }
        }
        tracks
    }

    /// The message that nothing was found, if not all was asked for.
    pub fn found_nothing(&self, window: &Window) -> Option<String> {
        let asked = [
            (!self.name.is_empty(), "has this name"),
            (!self.track.is_empty(), "is on this track"),
            (!self.cpu.is_empty(), "is of this processor"),
            (!self.thread.is_empty(), "is of this thread"),
            (self.task.is_some(), "is of this task"),
            (self.stream.is_some(), "is of this stream"),
            (!window.is_everything(), "is in this range"),
        ];
        let asked: Vec<_> = asked.iter().filter(|(is_asked, _)| *is_asked).map(|(_, of)| *of).collect();
        (!asked.is_empty()).then(|| format!("nothing of it {}", asked.join(" and ")))
    }
}
