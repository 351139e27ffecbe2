//! Options about names and tracks: what is asked for.

use super::time::Window;
use crate::record::Names;
use traceglass_open::selected::Selected;

/// The names and tracks that are asked for.
#[derive(clap::Args, Clone, Default)]
pub struct Select {
    /// Only records, events and slices with this name; * stands for any text. More than one may be given
    #[arg(long, value_name = "GLOB")]
    pub name: Vec<String>,
    /// Only events and slices on the track of this name, such as 'CPU 0', 'thread 17' or a task's name, and on those below
    /// it; * stands for any text. More than one may be given
    #[arg(long, value_name = "GLOB")]
    pub track: Vec<String>,
}

impl Select {
    /// True if all names and tracks are.
    pub fn is_everything(&self) -> bool {
        self.name.is_empty() && self.track.is_empty()
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

    /// The tracks by their names.
    pub fn tracks(&self) -> Names {
        Names::new(self.track.iter().map(String::as_str))
    }

    /// The message that nothing was found, if not all was asked for.
    pub fn found_nothing(&self, window: &Window) -> Option<String> {
        let asked = [
            (!self.name.is_empty(), "has this name"),
            (!self.track.is_empty(), "is on this track"),
            (!window.is_everything(), "is in this range"),
        ];
        let asked: Vec<_> = asked.iter().filter(|(is_asked, _)| *is_asked).map(|(_, of)| *of).collect();
        (!asked.is_empty()).then(|| format!("nothing of it {}", asked.join(" and ")))
    }
}
