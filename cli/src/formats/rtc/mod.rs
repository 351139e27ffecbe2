//! RTC for each verb: all but `hex` use what one pass over the file reports.

mod cat;
mod export;
mod extract;
mod hex;
mod info;
mod ls;
mod rewrite;
mod scan;
mod session;
mod value;
mod verify;
#[cfg(feature = "view")]
mod view;
mod window;

use crate::output::Out;
use crate::status::{Result, Status, Unreadable};
use crate::trace::{
    Cursor, Events, Fields, Findings, Info, Inquiry, Listing, NewTrace, Outcome, Parts, Rewritten, Selection,
    Trace, Untold, Wanted,
};
pub use rewrite::merge;
use session::Rtc;
use traceglass::Format;
use traceglass::event::Window;
use traceglass::rtc;

pub fn open(data: &[u8]) -> Result<Box<dyn Trace + '_>, Unreadable> {
    match rtc::recover::probe(data) {
        Ok(()) => Ok(Box::new(Rtc { data })),
        Err(error) => Err(Unreadable::content(Format::Rtc, error)),
    }
}

impl Trace for Rtc<'_> {
    fn format(&self) -> Format {
        Format::Rtc
    }

    #[cfg(feature = "view")]
    fn browse(&self, path: &std::path::Path, look: &mut dyn FnMut(&dyn crate::trace::Browse)) -> Result<()> {
        view::browse(self.data, path, look);
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.data.len() as u64
    }

    fn events_in(&self, window: Window, events: &mut dyn Events) -> Result<Outcome> {
        self.export_events(window, events)
    }

    fn has_slices(&self) -> bool {
        false
    }

    fn untold(&self, tell: &mut Untold<'_>) -> Result<()> {
        self.tell_untold(tell)
    }

    fn bounds(&self, window: &crate::trace::Window) -> Result<crate::trace::Bounds> {
        self.range(window)
    }

    #[cfg(feature = "tables")]
    fn tables(
        &self,
        name: &str,
        pairs: &crate::states::Pairs,
        read: &mut crate::trace::ReadTables<'_>,
    ) -> Result<()> {
        let file = crate::trace::Lent::bytes(name.to_owned(), self.data);
        let whole = crate::trace::Whole { trace: self, name, pairs };
        let mut trace = traceglass_tables::Trace::whole(&file);
        trace.set_lasting(&whole);
        read(&trace)
    }

    #[cfg(not(target_family = "wasm"))]
    fn rewrite(&self, wanted: &Wanted<'_>, to: &mut dyn NewTrace) -> Result<Rewritten> {
        self.write(wanted, to)
    }

    #[cfg(not(target_family = "wasm"))]
    fn extract(&self, parts: &mut dyn Parts) -> Result<Outcome> {
        self.extract_streams(parts)
    }

    fn info(&self, args: &Inquiry) -> Result<Info> {
        self.summarise(args)
    }

    fn ls(&self, args: &Listing, out: &mut Out) -> Result<Status> {
        if args.json { self.list_json(args, out) } else { self.list(args, out) }
    }

    fn cat(&self, args: &Selection, cursor: &mut Cursor, out: &mut Out) -> Result<Status> {
        self.print(args, cursor, out)
    }

    fn check(&self, findings: &mut Findings<'_>) -> Result<Status> {
        self.verify(findings);
        Ok(findings.status())
    }

    fn hex(&self, fields: &mut Fields<'_, '_>) -> Result<Status> {
        self.dump(fields)
    }
}
