//! Segments: the files of a recording, inflated where they are gzip.

use crate::folder;
use crate::input::Mapped;
use crate::status::{Failure, Result};
use flate2::bufread::GzDecoder;
use std::borrow::Cow;
use std::io::{ErrorKind as Io, Read};
use std::path::{Path, PathBuf};
use traceglass::dial9::{self, AnnotationSlot, ClassSlot, PoolSlot, SchemaSlot, Storage};
use traceglass::{Element, Error, ErrorKind};

/// A member of a gzip file.
const GZIP: Element = Element::new(&"gzip member");

/// How many times larger what is inflated may be than the file, and how much it may be in any case. Segments are three
/// times as large.
const LARGER: u64 = 256;
const LEAST: u64 = 1 << 20;

/// Where the bytes of a segment are.
pub enum Segment<'a> {
    Given(&'a [u8]),
    File(PathBuf),
}

/// A segment that is read.
pub struct Opened<'d> {
    /// The file, of a recording of several.
    pub path: Option<&'d Path>,
    pub data: Cow<'d, [u8]>,
    /// Why not all of it could be inflated, and where in the file.
    pub damage: Option<Error>,
}

/// The segments of a folder in the order of their numbers; `None` if there are none.
pub fn of_folder(path: &Path) -> Option<Vec<Segment<'static>>> {
    let mut found: Vec<(u64, PathBuf)> = folder::entries(path)
        .ok()?
        .into_iter()
        .filter_map(|path| Some((number(path.file_name()?.to_str()?)?, path)))
        .filter(|(_, path)| begins_as_segment(path))
        .collect();
    found.sort();
    (!found.is_empty()).then(|| found.into_iter().map(|(_, path)| Segment::File(path)).collect())
}

/// The number in `trace.12.bin.gz`; in a bucket, in `1763900000-12.bin.gz`.
fn number(name: &str) -> Option<u64> {
    let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".active")).unwrap_or(name);
    let stem = name.strip_suffix(".bin")?;
    stem.rsplit(['.', '-']).next()?.parse().ok()
}

fn begins_as_segment(path: &Path) -> bool {
    let Ok(file) = std::fs::File::open(path) else { return false };
    let mut start = Vec::new();
    let read = path.is_file() && file.take(256).read_to_end(&mut start).is_ok();
    read && (dial9::detect(&start) || is_gzip(&start))
}

/// True if this is gzip, and what it inflates to begins as a trace does.
pub fn is_gzip(data: &[u8]) -> bool {
    let mut start = [0; 4];
    data.starts_with(&[0x1f, 0x8b])
        && GzDecoder::new(data).read_exact(&mut start).is_ok()
        && dial9::detect(&start)
}

impl Segment<'_> {
    /// Calls `with` with the bytes, which are let go afterwards: of a folder, one segment is in memory at a time.
    pub fn open<T>(&self, with: impl FnOnce(&Opened<'_>) -> Result<T>) -> Result<T> {
        match self {
            Self::Given(data) => {
                let (data, damage) = inflate(data);
                with(&Opened { path: None, data, damage })
            }
            Self::File(path) => {
                let file = Mapped::open(path).map_err(|error| Failure::unreadable(error.message))?;
                let (data, damage) = inflate(file.data());
                let path = path.file_name().map(Path::new);
                with(&Opened { path, data, damage })
            }
        }
    }
}

/// The bytes of a segment, and why not all of it could be inflated.
pub type Loaded<'d> = (Cow<'d, [u8]>, Option<Error>);

impl Segment<'_> {
    /// The bytes, for as long as they are needed.
    pub fn load(&self) -> Result<Loaded<'_>> {
        match self {
            Self::Given(data) => Ok(inflate(data)),
            Self::File(_) => self.open(|segment| Ok((segment.data.to_vec().into(), segment.damage))),
        }
    }

    /// The size of the file.
    pub fn size(&self) -> u64 {
        match self {
            Self::Given(data) => data.len() as u64,
            Self::File(path) => path.metadata().map_or(0, |about| about.len()),
        }
    }

    /// The file, of a recording of several.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Given(_) => None,
            Self::File(path) => path.file_name().map(Path::new),
        }
    }
}

/// Inflates the members of a gzip file; what is no gzip stays as it is. People put files one after the other, packed
/// and not: a segment may follow the last member.
fn inflate(data: &[u8]) -> (Cow<'_, [u8]>, Option<Error>) {
    if !data.starts_with(&[0x1f, 0x8b]) {
        return (Cow::Borrowed(data), None);
    }
    let most = LEAST.saturating_add(LARGER.saturating_mul(data.len() as u64));
    let (mut inflated, mut rest) = (Vec::new(), data);
    let offset = |rest: &[u8]| data.len().saturating_sub(rest.len()) as u64;
    let damage = loop {
        if rest.iter().all(|&byte| byte == 0) {
            break None;
        }
        if dial9::detect(rest) {
            inflated.extend_from_slice(rest);
            break None;
        }
        if !rest.starts_with(&[0x1f, 0x8b]) {
            let count = rest.len() as u64;
            break Some(Error::new(offset(rest), GZIP, ErrorKind::TrailingBytes { count }));
        }
        let room = most.saturating_sub(inflated.len() as u64);
        let mut member = GzDecoder::new(rest);
        let read = (&mut member).take(room).read_to_end(&mut inflated);
        let at = offset(rest);
        match read {
            Err(error) if error.kind() == Io::UnexpectedEof => {
                break Some(Error::new(at, GZIP, ErrorKind::UnexpectedEnd { needed: 1 }));
            }
            Err(_) => break Some(Error::new(at, GZIP, ErrorKind::Malformed)),
            Ok(_) if inflated.len() as u64 >= most => {
                let kind = ErrorKind::OverLimit { value: inflated.len() as u64, limit: most };
                break Some(Error::new(at, GZIP, kind));
            }
            Ok(_) => rest = member.into_inner(),
        }
    };
    (Cow::Owned(inflated), damage)
}

/// Rooms for what a reader remembers.
pub struct Rooms {
    schemas: Vec<SchemaSlot>,
    strings: Vec<PoolSlot>,
    stacks: Vec<PoolSlot>,
    annotations: Vec<AnnotationSlot>,
    classes: Vec<ClassSlot>,
}

impl Rooms {
    pub fn new() -> Self {
        Self {
            schemas: Vec::new(),
            strings: Vec::new(),
            stacks: Vec::new(),
            annotations: Vec::new(),
            classes: Vec::new(),
        }
    }

    pub fn lend(&mut self) -> Storage<'_> {
        Storage::new(&mut self.schemas)
            .strings(&mut self.strings)
            .stacks(&mut self.stacks)
            .annotations(&mut self.annotations)
            .classes(&mut self.classes)
    }
}

/// The bytes from `start` to `end`, as far as they are there.
pub fn range(data: &[u8], start: u64, end: u64) -> &[u8] {
    let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
    range.and_then(|(start, end)| data.get(start..end)).unwrap_or_default()
}
