//! A trace, its tables and its pieces.

use crate::ctf::{Ctf, DataStream};
use crate::dial9::Segments;
use crate::error::{Error, Result};
use crate::events::{Common, OWN};
use crate::file::{File, Problem};
use crate::other::Whole;
use crate::query::{Query, Wanted};
use crate::rfr::Recording;
use crate::seen::Seen;
use crate::sink::Sink;
use crate::slices::{self, Lasting, SLICES};
use crate::table::Table;
use traceglass::ctf::schema::Schema;
use traceglass::event::Window;

/// A trace that is read as tables.
pub struct Trace<'t> {
    content: Content<'t>,
    tables: Vec<Table>,
    problems: Vec<Problem>,
    lasting: Option<&'t dyn Lasting>,
}

enum Content<'t> {
    Rfr(Recording<'t>),
    Ctf(Ctf<'t>),
    Dial9(Segments<'t>),
    Whole(Whole<'t>),
}

impl<'t> Trace<'t> {
    /// An RFR recording: its files, the chunks among them in the order of time.
    pub fn rfr(files: Vec<&'t dyn File>) -> Self {
        let mut tables = Common::tables();
        tables.extend(crate::rfr::tables());
        Self::new(Content::Rfr(Recording::new(files)), tables)
    }

    /// CTF traces, each with its schema and its data streams.
    pub fn ctf<S: Into<DataStream<'t>>>(traces: Vec<(Schema<'t, 't>, Vec<S>)>) -> Self {
        let mut tables = Common::tables();
        let ctf = Ctf::new(traces, &mut tables);
        Self::new(Content::Ctf(ctf), tables)
    }

    /// A dial9 recording: its segments in order, inflated when they are opened.
    pub fn dial9(files: Vec<&'t dyn File>) -> Self {
        let mut tables = Common::tables();
        tables.extend(crate::dial9::tables());
        Self::new(Content::Dial9(Segments::new(files)), tables)
    }

    /// A file of any other format: what it consists of, and what can be told of it without its events.
    pub fn whole(file: &'t dyn File) -> Self {
        let whole = Whole::new(file);
        let mut tables = Common::tables();
        tables.extend(whole.tables());
        Self::new(Content::Whole(whole), tables)
    }

    fn new(content: Content<'t>, tables: Vec<Table>) -> Self {
        Self { content, tables, problems: Vec::new(), lasting: None }
    }

    /// Says where slices come from. Without this, their table is empty, but of dial9.
    pub fn set_lasting(&mut self, lasting: &'t dyn Lasting) {
        self.lasting = Some(lasting);
    }

    /// Adds problems that were found before: they become rows of `gaps`.
    pub fn add_problems(&mut self, problems: impl IntoIterator<Item = Problem>) {
        self.problems.extend(problems);
    }

    /// The tables, empty ones included.
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// The number of tables, from the first, that each trace of the format has. Those after them are of events that
    /// only this trace describes.
    pub(crate) fn fixed_tables(&self) -> usize {
        match &self.content {
            Content::Ctf(_) => crate::events::OWN,
            Content::Rfr(_) | Content::Dial9(_) | Content::Whole(_) => self.tables.len(),
        }
    }

    /// The number of the table of this name.
    ///
    /// # Errors
    /// [`Error::NoTable`].
    pub fn table(&self, name: &str) -> Result<usize> {
        let found = self.tables.iter().position(|table| table.name() == name);
        found.ok_or_else(|| Error::NoTable(name.to_owned()))
    }

    /// The number of pieces. They are read independently of each other, and are in the order of time as far as the
    /// format lets that be known.
    pub fn pieces(&self) -> usize {
        let pieces = match &self.content {
            Content::Rfr(recording) => recording.pieces(),
            Content::Ctf(ctf) => ctf.pieces(),
            Content::Dial9(segments) => segments.pieces(),
            Content::Whole(_) => 1,
        };
        // Reports earlier problems even if nothing else is left of the trace.
        pieces.max(1)
    }

    /// The number of bytes a piece has.
    pub fn piece_bytes(&self, piece: usize) -> u64 {
        match &self.content {
            Content::Rfr(recording) => recording.piece_bytes(piece),
            Content::Ctf(ctf) => ctf.piece_bytes(piece),
            Content::Dial9(segments) => segments.piece_bytes(piece),
            Content::Whole(whole) => whole.bytes(),
        }
    }

    /// True if a table is read from the whole of the trace. Pieces have none of it.
    pub fn is_whole(&self, table: usize) -> bool {
        table == SLICES || matches!(self.content, Content::Dial9(_)) && table >= OWN
    }

    /// Reads those of the tables that are read from the whole of the trace.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_whole(&self, tables: &[usize], query: &Query, sink: &mut Sink<'_>) -> Result<()> {
        if let Content::Dial9(segments) = &self.content {
            return match tables.iter().any(|table| *table >= SLICES) {
                true => segments.read_whole(tables, &self.tables, query, None, sink),
                false => Ok(()),
            };
        }
        match (self.lasting, self.tables.get(SLICES)) {
            (Some(lasting), Some(table)) if tables.contains(&SLICES) => {
                slices::read(lasting, table, query, sink)
            }
            _ => Ok(()),
        }
    }

    /// True if [`Self::read_all`] reads tables of pieces and of the whole trace in one pass.
    pub(crate) fn is_read_at_once(&self, query: &Query) -> bool {
        matches!(self.content, Content::Dial9(_)) && query.window == Window::ALL
    }

    /// Reads pieces and the whole of a trace in one pass, if it [can be](Self::is_read_at_once). The rows of `events` are
    /// in the order of time.
    pub(crate) fn read_all(
        &self,
        tables: &[usize],
        query: &Query,
        seen: &Seen,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        let Content::Dial9(segments) = &self.content else { return Ok(()) };
        let mut common = Common::new(tables, query, seen);
        self.tell_problems(&mut common, sink)?;
        segments.read_whole(tables, &self.tables, query, Some(&mut common), sink)?;
        common.finish(sink)
    }

    /// Reports the problems that were found before.
    fn tell_problems(&self, common: &mut Common<'_>, sink: &mut Sink<'_>) -> Result<()> {
        self.problems.iter().try_for_each(|problem| tell(problem, common, sink))
    }

    /// Reports the damage that no event tells of, when what events need is not in memory any more.
    fn tell_untold(&self, query: &Query, common: &mut Common<'_>, sink: &mut Sink<'_>) -> Result<()> {
        match self.lasting.filter(|_| query.window == Window::ALL && common.needs_gaps()) {
            Some(lasting) => lasting.untold(&mut |problem| tell(&problem, common, sink)),
            None => Ok(()),
        }
    }

    /// Reads a piece, once for all of these tables. `seen` is what the other pieces have reported. A piece of RTC takes
    /// up to 8 MiB of the stack, the others a few KiB.
    ///
    /// # Errors
    /// The errors of `sink`; [`Error::Arrow`]. Damage is not an error: it becomes rows of `gaps`.
    pub fn read(
        &self,
        piece: usize,
        tables: &[usize],
        query: &Query,
        seen: &Seen,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        let mut common = Common::new(tables, query, seen);
        if piece == 0 {
            self.tell_problems(&mut common, sink)?;
        }
        let wanted = Wanted { tables, all: &self.tables, query };
        match &self.content {
            Content::Rfr(recording) => recording.read(piece, wanted, &mut common, sink)?,
            Content::Ctf(ctf) => ctf.read(piece, wanted, &mut common, sink)?,
            Content::Dial9(segments) => segments.read(piece, &mut common, sink)?,
            Content::Whole(whole) => whole.read(wanted, &mut common, sink)?,
        }
        if piece == 0 {
            self.tell_untold(query, &mut common, sink)?;
        }
        common.finish(sink)
    }

    /// Refuses columns that none of the tables to be read has.
    ///
    /// # Errors
    /// [`Error::NoColumn`].
    pub fn check_columns(&self, tables: &[usize], query: &Query) -> Result<()> {
        let has = |column: &String| {
            let tables = tables.iter().filter_map(|&table| self.tables.get(table));
            tables.into_iter().any(|table| table.schema().column_with_name(column).is_some())
        };
        match query.columns.iter().flatten().find(|column| !has(column)) {
            Some(column) => Err(Error::NoColumn(column.clone())),
            None => Ok(()),
        }
    }

    /// The columns of a table that are wanted.
    pub fn schema(&self, table: usize, query: &Query) -> Option<arrow_schema::SchemaRef> {
        self.tables.get(table).map(|table| crate::rows::wanted(table, query))
    }
}

fn tell(problem: &Problem, common: &mut Common<'_>, sink: &mut Sink<'_>) -> Result<()> {
    common.problem(&problem.file, problem.cause.as_ref(), &problem.message, sink)
}
