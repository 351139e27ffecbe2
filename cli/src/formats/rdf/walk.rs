//! All records of a file, chunk by chunk in the order of the index: what `cat` prints and the viewer shows.

use super::decoder::Decoder;
use super::loaded::{Loaded, fault, is_known};
use super::plan::{Part, Plan, Turn};
use crate::status::Result;
use std::collections::{BTreeMap, HashMap};
use traceglass::rdf::contents::rmt::{PieceOf, Progress, RmtFields};
use traceglass::rdf::contents::{ChunkRecord, Content};
use traceglass::rdf::{Chunk, Entry, File, Identifier};
use traceglass::{Error, ErrorKind};

/// The chunk whose pieces belong together.
pub const TOKENS: &str = "RmtData";

/// As many bytes as the longest token has, of those whose size stands in it.
const LONGEST: usize = (1 << 20) + 4;

/// Of how many chunks with facts about the computer the first one is looked for that tells the clock's rate.
const SYSTEMS: usize = 16;

/// A chunk that records come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub id: Identifier,
    /// The number of its entry, and which one of its identifier it is.
    pub entry: u64,
    pub index: u64,
}

/// The next step.
pub enum Step<'r> {
    Record(Place, ChunkRecord<'r>),
    /// A chunk that cannot be read.
    Unread(Place, Error),
    /// Content of a chunk that cannot be read, located in the file.
    Lost(Place, Error),
    /// An entry that names the same bytes as an earlier one, with this number.
    Same(Place, usize),
    /// A chunk is done, which takes so many bytes in the file.
    Done(u64),
}

/// Of which chunks the records are wanted.
#[derive(Clone, Copy, PartialEq)]
pub enum Pick {
    All,
    /// Records of tokens.
    Tokens,
    /// The one of an entry.
    Entry(u64),
}

impl Pick {
    fn wants(self, place: Place) -> bool {
        match self {
            Self::All => true,
            Self::Tokens => is_tokens(place.id),
            Self::Entry(entry) => place.entry == entry,
        }
    }
}

/// Takes a step; false ends the walk.
pub type Each<'e> = &'e mut dyn FnMut(Step<'_>) -> Result<bool>;

/// A stream of tokens between two of its chunks.
#[derive(Clone)]
pub struct Open {
    progress: Progress,
    /// The bytes of a token that is cut, and where it begins.
    rest: Vec<u8>,
    place: Place,
    offset: u64,
    /// The reason why the token is not whole.
    cut: Option<Error>,
    /// True after a token or a chunk that cannot be read: nothing can be found after it.
    is_lost: bool,
    /// The number of times that all streams had been ended when it began.
    begun: u64,
}

/// Hands out the records of the chunks that are picked.
pub fn walk(file: &File<'_>, pick: Pick, each: Each<'_>) -> Result<()> {
    let plan = Plan::of(file, Part::Contents);
    let mut decoder = Decoder::new();
    let cpu_hz = cpu_hz(file, &mut decoder);
    let mut streams = Streams::default();
    let mut each = |step: Step<'_>| match &step {
        Step::Record(place, _) | Step::Lost(place, _) | Step::Unread(place, _) | Step::Same(place, _)
            if !pick.wants(*place) =>
        {
            Ok(true)
        }
        _ => each(step),
    };
    // A stream is read from its first chunk on, whichever is wanted.
    let is_of_stream = match pick {
        Pick::Entry(entry) => usize::try_from(entry).ok().and_then(|number| file.index().get(number)),
        _ => None,
    };
    let is_of_stream = is_of_stream.is_some_and(|entry| is_tokens(entry.identifier()));
    for (entry, place) in places(file) {
        let is_needed = pick.wants(place) || is_of_stream && is_tokens(place.id);
        if !is_needed {
            continue;
        }
        let Some(chunk) = file.chunk_at(entry.number()) else { continue };
        let loaded = match plan.turn(entry.number()) {
            Turn::Read if is_known(place.id) || !matches!(pick, Pick::All) => {
                Loaded::read(chunk, &mut decoder)
            }
            Turn::Read => {
                let size = u64::try_from(entry.data_size()).unwrap_or(0);
                let step = match (fault(file, entry), chunk.header()) {
                    (None, Ok(header)) => Step::Record(place, ChunkRecord::unknown(size, header)),
                    (Some(error), _) | (_, Err(error)) => Step::Unread(place, error),
                };
                if !each(step)? {
                    return Ok(());
                }
                continue;
            }
            Turn::As(first) => {
                if !each(Step::Same(place, first))? {
                    return Ok(());
                }
                continue;
            }
            Turn::Beyond(error) => Err(error),
        };
        let going = match loaded {
            Ok(loaded) => match loaded.content() {
                Ok(Content::Rmt(rmt)) => {
                    streams.of(rmt.fields(), place).chunk(file, &loaded, place, &mut each)?
                }
                _ => {
                    streams.lose(PieceOf::of(&chunk), place);
                    records(chunk, &loaded, place, cpu_hz, &mut each)?
                }
            },
            Err(error) => {
                streams.lose(PieceOf::of(&chunk), place);
                each(Step::Unread(place, error))?
            }
        };
        if !going || !each(Step::Done(u64::try_from(entry.stored_size()).unwrap_or(0)))? {
            return Ok(());
        }
    }
    // The streams that no further chunk has completed.
    for (place, error) in streams.cut(file) {
        if !each(Step::Lost(place, error))? {
            break;
        }
    }
    Ok(())
}

/// The entries of a file and their places.
pub fn places<'f>(file: &'f File<'_>) -> impl Iterator<Item = (Entry<'f>, Place)> {
    let mut counts: BTreeMap<Identifier, u64> = BTreeMap::new();
    file.entries().map(move |entry| {
        let next = counts.entry(entry.identifier()).or_default();
        let index = std::mem::replace(next, next.saturating_add(1));
        (entry, Place { id: entry.identifier(), entry: entry.number() as u64, index })
    })
}

/// The rate of the CPU's clock, if the file tells it.
pub fn cpu_hz(file: &File<'_>, decoder: &mut Decoder) -> Option<u64> {
    let mut chunks = file.chunks("SystemInfo").take(SYSTEMS);
    chunks.find_map(|chunk| match Loaded::read(chunk, decoder).ok()?.content().ok()? {
        Content::System(system) => system.cpu_hz(),
        _ => None,
    })
}

/// True if chunks with an identifier hold tokens.
pub fn is_tokens(id: Identifier) -> bool {
    id.name() == TOKENS.as_bytes()
}

/// The streams of tokens that have begun.
#[derive(Default)]
pub struct Streams {
    open: HashMap<u32, Open>,
    /// The number of times that all which had begun were ended.
    ended: u64,
}

impl Streams {
    /// The stream of a piece, which begins with it if it is the first one.
    pub fn of(&mut self, piece: RmtFields<'_>, place: Place) -> &mut Open {
        let ended = self.ended;
        let begin = || Open { begun: ended, ..Open::new(piece, place) };
        let open = self.open.entry(piece.stream()).or_insert_with(begin);
        open.is_lost |= open.begun < ended;
        open
    }

    /// Ends what a chunk that cannot be read may be a piece of: its stream, or all that have begun.
    pub fn lose(&mut self, piece: PieceOf<'_>, place: Place) {
        match piece {
            PieceOf::Stream(fields) => self.of(fields, place).lose(),
            PieceOf::Any => self.ended = self.ended.saturating_add(1),
            PieceOf::None => {}
        }
    }

    /// The errors of tokens that no chunk has completed, in the order of the entries in which they begin.
    pub fn cut(&self, file: &File<'_>) -> Vec<(Place, Error)> {
        let cut = self.open.values().filter_map(|open| Some((open.place, open.cut(file)?)));
        let mut cut: Vec<_> = cut.collect();
        cut.sort_by_key(|(place, _)| place.entry);
        cut
    }
}

/// The records of a chunk for itself.
pub fn records(
    chunk: Chunk<'_>,
    loaded: &Loaded<'_>,
    place: Place,
    cpu_hz: Option<u64>,
    each: Each<'_>,
) -> Result<bool> {
    let mut result = Ok(true);
    loaded.records().cpu_hz(cpu_hz).each(|record| {
        result = match record {
            Ok(record) => each(Step::Record(place, record)),
            Err(error) => each(Step::Lost(place, Content::located(&chunk, error))),
        };
        matches!(result, Ok(true))
    });
    result
}

/// An error in the data of a chunk, as one of the file.
fn located_at(file: &File<'_>, place: Place, error: Error) -> Error {
    let chunk = usize::try_from(place.entry).ok().and_then(|number| file.chunk_at(number));
    chunk.map_or(error, |chunk| Content::located(&chunk, error))
}

impl Open {
    /// A stream that begins with a chunk.
    pub fn new(piece: RmtFields<'_>, place: Place) -> Self {
        let progress = Progress::of(piece);
        Self { progress, rest: Vec::new(), place, offset: 0, cut: None, is_lost: false, begun: 0 }
    }

    /// A chunk of it cannot be read: the next one may begin within a token.
    pub fn lose(&mut self) {
        self.is_lost = true;
    }

    /// The error of a token that no chunk has completed, located in the file.
    fn cut(&self, file: &File<'_>) -> Option<Error> {
        Some(located_at(file, self.place, self.cut?))
    }

    /// The header and the tokens of the next chunk. A token that began in an earlier one is told as one of that.
    pub fn chunk(
        &mut self,
        file: &File<'_>,
        loaded: &Loaded<'_>,
        place: Place,
        each: Each<'_>,
    ) -> Result<bool> {
        let Ok(Content::Rmt(rmt)) = loaded.content() else { return Ok(true) };
        let mut result = Ok(true);
        loaded.records().structures(&mut |record| {
            if let Ok(record) = record {
                result = each(Step::Record(place, record));
            }
            matches!(result, Ok(true))
        });
        if self.is_lost || !matches!(result, Ok(true)) {
            return result;
        }
        let mut read = 0;
        if self.cut.take().is_some() {
            let before = self.rest.len();
            self.rest.extend(rmt.data().iter().take(LONGEST));
            let mut cut = None;
            let size = self.progress.each(&self.rest, self.offset, 1, |token| {
                match token {
                    Ok(token) => result = each(Step::Record(self.place, token.into())),
                    Err(error) => cut = Some(error),
                }
                matches!(result, Ok(true))
            });
            match cut {
                None => read = size.saturating_sub(before),
                // Not even this chunk ends it.
                Some(error) if is_cut(&error) && rmt.data().len() < LONGEST => {
                    self.cut = Some(error);
                    return result;
                }
                Some(error) => {
                    self.is_lost = true;
                    return each(Step::Lost(self.place, located_at(file, self.place, error)));
                }
            }
            self.rest.clear();
            if !matches!(result, Ok(true)) {
                return result;
            }
        }
        let data = rmt.data().get(read..).unwrap_or_default();
        let mut fault = None;
        let size = self.progress.each(data, read as u64, usize::MAX, |token| {
            match token {
                Ok(token) => result = each(Step::Record(place, token.into())),
                Err(error) => fault = Some(error),
            }
            matches!(result, Ok(true))
        });
        match fault {
            Some(error) if is_cut(&error) => {
                self.rest.extend_from_slice(data.get(size..).unwrap_or_default());
                (self.place, self.offset, self.cut) = (place, error.offset(), Some(error));
                result
            }
            Some(error) => {
                self.is_lost = true;
                each(Step::Lost(place, located_at(file, place, error)))
            }
            None => result,
        }
    }
}

fn is_cut(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::UnexpectedEnd { .. })
}
