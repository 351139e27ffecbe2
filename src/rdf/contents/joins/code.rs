//! Code objects, and what other chunks say of each.

use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use crate::rdf::contents::element::CODE_OBJECT;
use crate::rdf::contents::{CodeObject, Hash128, LoadEvent, LoadKind, PipelineHash, PipelineNote};
use crate::sort::sort_by_key;
use crate::work;

/// One record about a code object: a place of the storage that is lent to [`join_code`].
#[derive(Clone, Copy, Debug)]
pub struct CodeFact<'a> {
    number: usize,
    source: Source<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Source<'a> {
    Empty,
    Object(CodeObject<'a>),
    Pipeline(PipelineHash<'a>),
    Load(LoadEvent<'a>),
}

impl<'a> CodeFact<'a> {
    /// A place for the storage that is lent.
    pub const EMPTY: Self = Self { number: 0, source: Source::Empty };

    fn hash(&self) -> Hash128 {
        match self.source {
            Source::Empty => Hash128::new(0, 0),
            Source::Object(object) => object.hash(),
            Source::Pipeline(pipeline) => pipeline.hash(),
            Source::Load(load) => load.fields().hash(),
        }
    }

    /// Objects, then pipelines in the order of the file, then loadings by address and time.
    fn order(&self) -> (Hash128, u8, u64, u64, usize) {
        let (rank, base, ticks) = match self.source {
            Source::Empty | Source::Object(_) => (0, 0, 0),
            Source::Pipeline(_) => (1, 0, 0),
            Source::Load(load) => (2, load.fields().base(), load.fields().ticks()),
        };
        (self.hash(), rank, base, ticks, self.number)
    }
}

default_is_empty!(CodeFact<'_>);

/// All that is known of the code object with one hash.
#[derive(Clone, Copy, Debug)]
pub struct CodeUse<'a, 's> {
    facts: &'s [CodeFact<'a>],
}

impl<'a, 's> CodeUse<'a, 's> {
    /// The hash.
    #[must_use]
    pub fn hash(&self) -> Hash128 {
        self.facts.first().unwrap_or(&CodeFact::EMPTY).hash()
    }

    /// The code object; `None` if the file has load events or pipelines of it alone.
    #[must_use]
    pub fn object(&self) -> Option<CodeObject<'a>> {
        self.facts.iter().find_map(|fact| match fact.source {
            Source::Object(object) => Some(object),
            _ => None,
        })
    }

    /// The pipelines of the API that became it.
    pub fn pipelines(&self) -> impl Iterator<Item = PipelineHash<'a>> + use<'a, 's> {
        self.facts.iter().filter_map(|fact| match fact.source {
            Source::Pipeline(pipeline) => Some(pipeline),
            _ => None,
        })
    }

    /// The places and times of its loading and unloading, in order of address, then of time.
    pub fn loads(&self) -> impl DoubleEndedIterator<Item = LoadEvent<'a>> + use<'a, 's> {
        self.facts.iter().filter_map(|fact| match fact.source {
            Source::Load(load) => Some(load),
            _ => None,
        })
    }

    /// The GPU address at which it lay at a moment, in CPU ticks; `None` if it was not loaded then. Of several
    /// addresses, the one where it was loaded last.
    #[must_use]
    pub fn base_at(&self, ticks: u64) -> Option<u64> {
        let mut found: Option<LoadEvent<'a>> = None;
        // The last event at the address that is looked at.
        let mut last: Option<LoadEvent<'a>> = None;
        for load in self.loads().filter(|load| load.fields().ticks() <= ticks).map(Some).chain([None]) {
            let base = load.map(|load| load.fields().base());
            if let Some(done) = last
                && Some(done.fields().base()) != base
                && done.kind() == LoadKind::Load
                && found.is_none_or(|found| found.fields().ticks() < done.fields().ticks())
            {
                found = Some(done);
            }
            last = load;
        }
        found.map(|load| load.fields().base())
    }

    /// The note of the compiler about the pipeline in the code object.
    #[must_use]
    pub fn note(&self) -> Option<PipelineNote<'a>> {
        self.object()?.pipeline_note()
    }
}

/// Code objects by hash, each with what is known of it.
#[derive(Clone, Copy, Debug)]
pub struct CodeUses<'a, 's> {
    facts: &'s [CodeFact<'a>],
}

impl<'a, 's> CodeUses<'a, 's> {
    /// All of them, in order of hash.
    pub fn iter(&self) -> impl Iterator<Item = CodeUse<'a, 's>> + use<'a, 's> {
        self.facts.chunk_by(|a, b| a.hash() == b.hash()).map(|facts| CodeUse { facts })
    }

    /// The one with a hash.
    #[must_use]
    pub fn get(&self, hash: Hash128) -> Option<CodeUse<'a, 's>> {
        let from = self.facts.partition_point(|fact| fact.hash() < hash);
        let rest = self.facts.get(from..)?;
        let facts = rest.get(..rest.partition_point(|fact| fact.hash() == hash))?;
        (!facts.is_empty()).then_some(CodeUse { facts })
    }
}

/// Brings together the code objects of a workload, the pipelines they were made of, and where they were loaded: chunks
/// `CodeObject`, `PsoCorrelation` and `COLoadEvent`, by hash.
///
/// # Errors
/// [`CapacityExceeded`](ErrorKind::CapacityExceeded) if `storage` has fewer places than there are records in all; the
/// error tells how many it takes.
///
/// # Examples
/// ```
/// use traceglass::rdf::contents::{Content, joins::{CodeFact, join_code}};
///
/// fn programs<'a>(contents: &[Content<'a>], ticks: u64, storage: &mut [CodeFact<'a>]) -> traceglass::Result<()> {
///     let objects = contents.iter().filter_map(|content| match content {
///         Content::CodeObject(object) => Some(*object),
///         _ => None,
///     });
///     let pipelines = contents.iter().filter_map(|content| match content {
///         Content::PipelineHashes(pipelines) => Some(pipelines.pipelines().map(|(_, pipeline)| pipeline)),
///         _ => None,
///     });
///     let loads = contents.iter().filter_map(|content| match content {
///         Content::LoadEvents(loads) => Some(loads.events()),
///         _ => None,
///     });
///     for code in join_code(objects, pipelines.flatten(), loads.flatten(), storage)?.iter() {
///         let api = code.note().and_then(|note| note.api());
///         println!("{} {api:?} at {:?}", code.hash(), code.base_at(ticks));
///     }
///     Ok(())
/// }
/// # assert!(programs(&[], 0, &mut []).is_ok());
/// ```
pub fn join_code<'a, 's>(
    objects: impl IntoIterator<Item = CodeObject<'a>>,
    pipelines: impl IntoIterator<Item = PipelineHash<'a>>,
    loads: impl IntoIterator<Item = LoadEvent<'a>>,
    storage: &'s mut [CodeFact<'a>],
) -> Result<CodeUses<'a, 's>> {
    let objects = objects.into_iter().map(Source::Object);
    let pipelines = pipelines.into_iter().map(Source::Pipeline);
    let loads = loads.into_iter().map(Source::Load);
    let mut needed = 0_usize;
    for source in objects.chain(pipelines).chain(loads) {
        work::count(1);
        if let Some(place) = storage.get_mut(needed) {
            *place = CodeFact { number: needed, source };
        }
        needed = needed.saturating_add(1);
    }
    let capacity = to_u64(storage.len());
    let Some(facts) = storage.get_mut(..needed) else {
        let kind = ErrorKind::CapacityExceeded { capacity, needed: to_u64(needed) };
        return Err(Error::new(0, CODE_OBJECT, kind));
    };
    sort_by_key(facts, |fact| work::counted(fact.order()));
    Ok(CodeUses { facts })
}
