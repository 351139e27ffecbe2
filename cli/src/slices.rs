//! Slices of a trace, as it is read.

use crate::progress::Progress;
use crate::states::Pairs;
use crate::status::{Failure, Result};
use crate::trace::{Events, Outcome, Trace};
use traceglass::event::{Event, Item, Window};
use traceglass_open::selected::Selected;
pub use traceglass_open::slices::{Slice, Slices, TakeSlices};

/// Gives out the slices of all of a trace: what is open when a range begins had begun before, and ends after it.
pub fn read<T: TakeSlices>(
    trace: &dyn Trace,
    pairs: &Pairs,
    selected: Selected,
    to: T,
) -> Result<(T, Outcome)>
where
    Failure: From<T::Error>,
{
    let mut lasting = Lasting { slices: Slices::of(selected, to), progress: Progress::new(trace.bytes()) };
    let outcome = trace.states_in(Window::ALL, pairs, &mut lasting)?;
    Ok((lasting.slices.finish()?, outcome))
}

/// Puts begins and ends together, and says how much has been read.
struct Lasting<T> {
    slices: Slices<T>,
    progress: Progress,
}

impl<T: TakeSlices> Events for Lasting<T>
where
    Failure: From<T::Error>,
{
    fn item(&mut self, item: &Item<'_>) -> Result<()> {
        Ok(self.slices.item(item)?)
    }

    fn taken(&mut self, event: &Event<'_>) -> Result<()> {
        Ok(self.slices.taken(event)?)
    }

    fn advance(&mut self, bytes: u64) {
        self.progress.advance(bytes);
    }
}
