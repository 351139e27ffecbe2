//! Events and tracks as records: what they were made of, told as that tells it.

use super::data::Data;
use super::event::Event;
use super::track::Track;
use crate::error::Result;
use crate::record::{Any, Listener, Record, event_listener};

/// Tells the record that the event was made of. One that was not made of a record, such as a gap or an end that was
/// [inferred](Event::is_inferred), tells nothing: not even that it begins.
impl Record for Event<'_> {
    #[inline]
    fn tell<L: Listener>(&self, to: &mut L) -> Result<()> {
        self.data.tell(to)
    }
}

/// Tells what is known of the track: a task, a stream, a queue. One of which nothing is known tells nothing.
impl Record for Track<'_> {
    // Tracks are few.
    fn tell<L: Listener>(&self, to: &mut L) -> Result<()> {
        self.data.tell(event_listener!(to))
    }
}

impl Data<'_> {
    pub(super) fn tell<L: Listener>(&self, to: &mut L) -> Result<()> {
        match self {
            Self::None | Self::Named(_) | Self::Never(..) => Ok(()),
            Self::Other(record) => record.0.tell_any(&mut Any(to)),
            // It is never made of another one.
            Self::State(data) => match data.of {
                Self::State(_) => Ok(()),
                of => of.tell(to),
            },
            #[cfg(feature = "rfr")]
            Self::Rfr(data) => data.tell(to),
            #[cfg(feature = "rdf-contents")]
            Self::Rdf(data) => data.tell(to),
            #[cfg(feature = "rtc")]
            Self::Rtc(data) => data.tell(to),
            #[cfg(feature = "dial9")]
            Self::Dial9(data) => data.tell(to),
            #[cfg(feature = "ctf")]
            Self::Ctf(data) => data.tell(to),
        }
    }
}
