//! The data streams of traces, lent out to be read as tables.

use super::Ctf;
use super::wire::{damage, message, skipped};
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
                lent.push((trace, streams.collect::<Vec<_>>()));
            }
            let files = lent.iter().map(|(trace, files)| {
                let files = files.iter().zip(&trace.files.streams).enumerate();
                let files = files.map(|(place, (file, stream))| {
                    let Some(capture) = trace.capture(place) else {
                        return tables::DataStream::from(file as &dyn tables::File);
                    };
                    let gaps = damage(capture).into_iter();
                    let gaps = gaps.map(|slot| (*slot, message(slot, stream.data.data())));
                    tables::DataStream::capture(file, capture.tracks().collect(), gaps.collect())
                });
                (trace.schema, files.collect::<Vec<_>>())
            });
            let whole = Whole { trace: self, name: "", pairs };
            let mut trace = tables::Trace::ctf(files.collect());
            trace.add_problems(self.found.problems.iter().map(|(path, message)| tables::Problem {
                file: path.to_string_lossy().into_owned(),
                message: message.clone(),
                cause: None,
            }));
            for files in &self.found.traces {
                let errors = super::wrong_in(files.parse(self.options())).into_iter();
                trace.add_problems(errors.map(|error| tables::Problem {
                    file: files.metadata_path.to_string_lossy().into_owned(),
                    message: error.to_string(),
                    cause: Some(error),
                }));
            }
            trace.set_lasting(&whole);
            trace.add_problems(skipped(self.reading).map(|message| tables::Problem {
                file: String::new(),
                message,
                cause: None,
            }));
            read(&trace)
        })
    }
}
