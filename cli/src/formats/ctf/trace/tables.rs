//! The data streams of traces, lent out to be read as tables.

use super::Ctf;
use crate::states::Pairs;
use crate::status::Result;
use crate::trace::{Lent, ReadTables, Whole};
use traceglass_tables as tables;

impl Ctf<'_> {
    pub(super) fn lend_streams(&self, pairs: &Pairs, read: &mut ReadTables<'_>) -> Result<()> {
        self.with(|traces, _| {
            let mut lent = Vec::new();
            for trace in traces {
                let streams = trace.files.streams.iter().map(|stream| {
                    Lent::bytes(stream.path.to_string_lossy().into_owned(), stream.data.data())
                });
                lent.push((trace.schema, streams.collect::<Vec<_>>()));
            }
            let files = lent.iter().map(|(schema, files)| {
                (*schema, files.iter().map(|file| file as &dyn tables::File).collect())
            });
            let whole = Whole { trace: self, pairs };
            let mut trace = tables::Trace::ctf(files.collect());
            trace.add_problems(self.found.problems.iter().map(|(path, message)| tables::Problem {
                file: path.to_string_lossy().into_owned(),
                message: message.clone(),
                cause: None,
            }));
            trace.set_lasting(&whole);
            read(&trace)
        })
    }
}
