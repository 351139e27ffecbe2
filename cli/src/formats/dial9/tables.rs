//! The segments of a recording, lent out to be read as tables.

use super::Dial9;
use super::segments::Segment;
use crate::output::shown;
use crate::status::Result;
use crate::trace::{Lent, ReadTables};
use std::borrow::Cow;
use traceglass_tables as tables;

/// The bytes of a segment.
struct Data<'d>(Cow<'d, [u8]>);

impl AsRef<[u8]> for Data<'_> {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Dial9<'_> {
    pub(super) fn lend_segments(&self, name: &str, read: &mut ReadTables<'_>) -> Result<()> {
        let name = |segment: &Segment<'_>| segment.path().map_or_else(|| name.to_owned(), shown);
        let mut problems = Vec::new();
        for segment in &self.segments {
            // A row for what cannot be inflated comes before those of the rest.
            let damage = if segment.is_gzip() { segment.open(|opened| Ok(opened.damage))? } else { None };
            problems.extend(damage.map(|cause| tables::Problem {
                file: name(segment),
                message: cause.to_string(),
                cause: Some(cause),
            }));
        }
        let lent = |segment| {
            let segment: &Segment<'_> = segment;
            Lent::new(name(segment), segment.size(), move || match segment.load() {
                Ok((data, _)) => Ok(Box::new(Data(data)) as tables::Bytes<'_>),
                Err(failure) => Err(failure.to_string()),
            })
        };
        let files: Vec<Lent<'_>> = self.segments.iter().map(lent).collect();
        let mut trace = tables::Trace::dial9(files.iter().map(|file| file as &dyn tables::File).collect());
        trace.add_problems(problems);
        read(&trace)
    }
}
