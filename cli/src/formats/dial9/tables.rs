//! The segments of a recording, lent out to be read as tables.

use super::Dial9;
use super::segments::Segment;
use crate::output::shown;
use crate::status::Result;
use crate::trace::{Lent, ReadTables};
use traceglass_tables as tables;

impl Dial9<'_> {
    pub(super) fn lend_segments(&self, name: &str, read: &mut ReadTables<'_>) -> Result<()> {
        let lent = |segment| {
            let segment: &Segment<'_> = segment;
            let name = segment.path().map_or_else(|| name.to_owned(), shown);
            Lent::part(name, segment.size(), move || match segment.load() {
                Ok((data, damage)) => Ok((Box::new(data) as tables::Bytes<'_>, damage)),
                Err(failure) => Err(failure.to_string()),
            })
        };
        let files: Vec<Lent<'_>> = self.segments.iter().map(lent).collect();
        let files = files.iter().map(|file| file as &dyn tables::File);
        let mut trace = tables::Trace::dial9(files.collect());
        trace.add_problems(self.unreadable.iter().map(|(path, why)| tables::Problem {
            file: shown(path),
            message: why.clone(),
            cause: None,
        }));
        read(&trace)
    }
}
