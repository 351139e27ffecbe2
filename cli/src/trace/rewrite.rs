//! The rewriting of a trace into files: which of its units are kept, and what was lost.

use super::{Window, widen};
use crate::record::Names;
use crate::status::{Failure, Result};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher};
use std::ops::Range;
use std::path::{Path, PathBuf};
use traceglass::Format;

/// The parts of a trace that are kept.
pub struct Wanted<'w> {
    pub verb: &'static str,
    pub window: &'w Window,
    /// The parts that are kept; all if none is named.
    pub keep: &'w [String],
    /// The parts that are left out.
    pub drop: &'w [String],
    /// The stream that is kept; all if none is named.
    pub stream: Option<&'w str>,
    /// The processors of which packets are kept; all if none is named.
    pub cpus: &'w [u64],
    /// The names of what is kept.
    pub names: &'w Names,
    /// True if units are not kept as a whole: records outside of the range are left out of them.
    pub exact: bool,
    /// True if text will be written over: then it is not compressed.
    pub redacts: bool,
    /// Several inputs may have chunks of the same identifier.
    pub allow_same_id: bool,
}

/// The ways to name a part.
#[derive(Clone, Copy, PartialEq)]
pub enum By {
    Chunk,
    Stream,
    Name,
    /// Records by their time alone.
    Time,
}

impl<'w> Wanted<'w> {
    /// All that a verb keeps of inputs as they are.
    pub const fn all(verb: &'static str, window: &'w Window, names: &'w Names) -> Self {
        Self {
            verb,
            window,
            keep: &[],
            drop: &[],
            stream: None,
            cpus: &[],
            names,
            exact: false,
            redacts: false,
            allow_same_id: false,
        }
    }

    /// True if parts are left out by their names, and not by their time alone.
    pub fn is_named(&self) -> bool {
        !self.keep.is_empty() || !self.drop.is_empty() || self.is_of_parts() || !self.names.are_all()
    }

    /// True if only some streams or processors are wanted.
    pub fn is_of_parts(&self) -> bool {
        self.stream.is_some() || !self.cpus.is_empty()
    }

    /// Refuses what selects parts of another format.
    pub fn refuse_others(&self, format: Format, has: &[By]) -> Result<()> {
        let given = [
            (
                By::Chunk,
                !self.keep.is_empty() || !self.drop.is_empty(),
                "--keep, --drop and --chunk are of RDF, whose chunks have names",
            ),
            (
                By::Stream,
                self.is_of_parts(),
                "--stream and --cpu are of CTF, whose streams have packets of their own",
            ),
            (By::Name, !self.names.are_all(), "--name is of dial9, whose events stand alone"),
            (
                By::Time,
                self.exact,
                "--exact is of CTF, dial9, RFR and RTC; chunks of RDF have no common time",
            ),
        ];
        match given.iter().find(|(by, given, _)| *given && !has.contains(by)) {
            Some((.., says)) => Err(Failure::usage(format!("this is {format}, and {says}"))),
            None => Ok(()),
        }
    }

    /// The error that this cannot be done with a format.
    pub fn unsupported(&self, format: &str) -> Failure {
        Failure::usage(format!("{}: {format} is read, and not written", self.verb))
    }
}

/// Takes the files of a new trace, one after the other.
pub trait NewTrace {
    /// Begins a file: its path in the folder that the trace is, or nothing where the trace is one file.
    fn file(&mut self, path: &Path) -> Result<()>;

    /// More of it.
    fn put(&mut self, bytes: &[u8]) -> Result<()>;

    /// The number of bytes that the file has.
    fn position(&self) -> u64;
}

/// The outcome of rewriting a trace.
#[derive(Default)]
pub struct Rewritten {
    /// The unit that is kept or left out as a whole.
    pub unit: &'static str,
    pub kept: u64,
    pub dropped: u64,
    /// The records in what was kept; 0 where units have none of their own.
    pub records: u64,
    /// Units that were wanted, but could not be carried over.
    pub lost: Vec<Lost>,
    /// True if what is in units is not judged: it was given so.
    pub takes_all: bool,
    /// The new beginning of a file to which bytes are appended, written once these are on the disk.
    pub front: Vec<u8>,
    /// True if all files are the input's as they are, which were checked: then it is enough that they have the same bytes.
    pub is_copy: bool,
    /// The number of errors `check` finds in what that was kept: the format carries them as they are.
    pub carried: u64,
    /// The counts expected when it is read back, if not those of the units and their records.
    pub proof: Option<Tally>,
    /// The records that were not copied as they are, as the input has them, and where they lie in what was written.
    pub digest: Digest,
    pub anew: Anew,
    /// From the first time to the last one of what was kept.
    pub span: Option<(i128, i128)>,
    /// True if times count from 1970, and true if some do and some do not: then they are no range.
    pub is_absolute: bool,
    pub is_mixed: bool,
    /// The names of private text that was hidden, and how often each was met.
    pub redacted: Vec<(String, u64)>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

impl Rewritten {
    /// Nothing yet, of units with this name.
    pub fn of(unit: &'static str) -> Self {
        Self { unit, ..Self::default() }
    }

    /// Widens the time that was kept.
    pub fn meet(&mut self, from: i128, to: i128) {
        widen(&mut self.span, from, to);
    }

    /// From the first time to the last one of what was kept, if they count from one time.
    pub fn range(&self) -> Option<(i128, i128)> {
        self.span.filter(|_| !self.is_mixed)
    }

    /// Adds bytes that could not be carried over.
    pub fn lose(&mut self, path: Option<&Path>, offset: u64, len: u64, what: impl ToString) {
        self.lost.push(Lost { path: path.map(Path::to_owned), offset, len, what: what.to_string() });
    }
}

/// Bytes that could not be carried over.
pub struct Lost {
    /// The file, of an input of several.
    pub path: Option<PathBuf>,
    pub offset: u64,
    pub len: u64,
    pub what: String,
}

/// The places of records that were not copied as they are: they are hashed, and not just their bytes compared.
#[derive(Default)]
pub enum Anew {
    /// Wherever there are any.
    #[default]
    Everywhere,
    /// In parts of files.
    In(BTreeMap<PathBuf, Vec<Range<u64>>>),
}

impl Anew {
    /// Nowhere yet.
    pub const fn nowhere() -> Self {
        Self::In(BTreeMap::new())
    }

    /// Adds a part of a file.
    pub fn add(&mut self, path: &Path, part: Range<u64>) {
        if let Self::In(parts) = self {
            parts.entry(path.to_owned()).or_default().push(part);
        }
    }

    /// The parts of a file, in their order.
    pub fn parts(&self, path: &Path) -> Vec<Range<u64>> {
        match self {
            Self::Everywhere => std::iter::once(0..u64::MAX).collect(),
            Self::In(parts) => parts.get(path).cloned().unwrap_or_default(),
        }
    }
}

/// The sum of the hashes of what a trace says, in whatever order it says it, and wherever that lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest(u64);

impl Digest {
    /// Adds one thing: numbers that tell it from others, and its bytes.
    pub fn add(&mut self, numbers: &[u64], bytes: &[u8]) {
        let mut hasher = foldhash::fast::FixedState::default().build_hasher();
        numbers.iter().for_each(|number| hasher.write_u64(*number));
        hasher.write(bytes);
        self.0 = self.0.wrapping_add(hasher.finish());
    }

    /// Adds one thing of which two numbers tell enough: its bytes are compared with others.
    #[inline]
    pub fn add_pair(&mut self, a: u64, b: u64) {
        // Each pair has a product of its own, or nearly so.
        let (a, b) = (u128::from(a ^ 0x9e37_79b9_7f4a_7c15), u128::from(b ^ 0xd1b5_4a32_d192_ed03));
        let product = a.wrapping_mul(b);
        self.0 = self.0.wrapping_add((product as u64) ^ (product >> 64) as u64);
    }

    /// Adds all that is in another one.
    pub fn join(&mut self, other: Self) {
        self.0 = self.0.wrapping_add(other.0);
    }

    /// Takes all that is in another one out of this.
    pub fn leave(&mut self, other: Self) {
        self.0 = self.0.wrapping_sub(other.0);
    }
}

/// The number of units and records a trace has, counted by reading it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub units: u64,
    pub records: u64,
}

/// Puts inputs in order of time, given the first time of each. One without a time stays after the one before it.
pub fn in_order_of_time<T>(
    inputs: Vec<T>,
    mut first: impl FnMut(&T) -> Result<Option<i128>>,
) -> Result<Vec<T>> {
    let mut last = i128::MIN;
    let mut timed = Vec::new();
    for input in inputs {
        last = first(&input)?.unwrap_or(last);
        timed.push((last, input));
    }
    timed.sort_by_key(|(time, _)| *time);
    Ok(timed.into_iter().map(|(_, input)| input).collect())
}

/// Writes several traces of one format as one.
pub type Merge =
    fn(&[crate::input::Input], super::Reading, &Wanted<'_>, &mut dyn NewTrace) -> Result<Rewritten>;

/// Chunks that are to be written.
pub struct NewParts<'p> {
    /// A folder of them, or a list.
    pub list: &'p Path,
    /// True if they are compressed where the list does not say.
    pub packs: bool,
    /// True if they may have identifiers that are there already.
    pub allow_same_id: bool,
    /// Refuses a file to be read that is the output.
    pub refuse: &'p dyn Fn(&Path) -> Result<()>,
}

/// Writes a file from parts.
pub type Create = fn(&NewParts<'_>, &mut dyn NewTrace) -> Result<Rewritten>;

/// Adds parts to a file: writes what follows after its end, and returns its new beginning.
pub type Append = fn(&crate::input::Input, &NewParts<'_>, &mut dyn NewTrace) -> Result<Rewritten>;
