//! The files of a recording, lent out to be read as tables.

use super::Rfr;
use super::files::{Data, Part, Problem};
use crate::states::Pairs;
use crate::status::{Failure, Result};
use crate::trace::{Lent, ReadTables, Whole};
use traceglass_tables as tables;

impl AsRef<[u8]> for Data<'_> {
    fn as_ref(&self) -> &[u8] {
        self.bytes()
    }
}

impl<'a> Rfr<'a> {
    pub(super) fn lend_files(&self, name: &str, pairs: &Pairs, read: &mut ReadTables<'_>) -> Result<()> {
        let lent = |part| {
            let part: &Part<'a> = part;
            let path = part.path.as_ref();
            let name = path.map_or_else(|| name.to_owned(), |path| path.to_string_lossy().into_owned());
            Lent::new(name, part.size, move || match part.data() {
                Ok(data) => Ok(Box::new(data) as tables::Bytes<'_>),
                Err(Failure::Unreadable(unreadable)) => Err(unreadable.message),
                Err(other) => Err(other.to_string()),
            })
        };
        let files: Vec<Lent<'_>> = self.files.parts.iter().map(lent).collect();
        let whole = Whole { trace: self, name, pairs };
        let mut trace = tables::Trace::rfr(files.iter().map(|file| file as &dyn tables::File).collect());
        trace.add_problems(self.files.problems.iter().map(|(path, problem)| tables::Problem {
            file: path.as_ref().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default(),
            message: problem.to_string(),
            cause: match problem {
                Problem::Content(error) => Some(*error),
                Problem::Unreadable(_) => None,
            },
        }));
        trace.set_lasting(&whole);
        read(&trace)
    }
}
