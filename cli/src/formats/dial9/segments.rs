//! Segments: the files of a recording, unpacked where they are packed.

use crate::disk::{self, File};
use crate::folder;
use crate::input::Mapped;
use crate::progress::Progress;
use crate::status::{Failure, Result};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use traceglass::dial9::{self, AnnotationSlot, ClassSlot, Frame, Order, PoolSlot, SchemaSlot, Storage};
use traceglass::{Error, Format, Gap};
use traceglass_open::packed::{self, Packing};

/// The place of a segment's bytes.
pub enum Segment<'a> {
    Given(&'a [u8]),
    File(PathBuf),
}

/// A segment that is read.
pub struct Opened<'d> {
    /// The file, of a recording of several.
    pub path: Option<&'d Path>,
    pub data: Cow<'d, [u8]>,
    /// Why not all of it could be unpacked, and where in the file.
    pub damage: Option<Error>,
    /// The size of the file.
    size: u64,
}

/// The bytes of a file that so many of its unpacked bytes stand for.
pub fn share(read: u64, unpacked: u64, size: u64) -> u64 {
    let product = u128::from(read).saturating_mul(size.into());
    product.checked_div(unpacked.into()).and_then(|share| u64::try_from(share).ok()).unwrap_or(size)
}

/// Reads all frames of a segment into an order; `lost` is told of what cannot be read.
pub fn read_frames<'a>(
    order: &mut Order<'a, '_>,
    data: &'a [u8],
    mut each: impl FnMut(&Frame<'a>, &Order<'a, '_>),
    mut lost: impl FnMut(Gap),
) -> Result<()> {
    let content = |error| Failure::content(Format::Dial9, error);
    order.add(0, data).map_err(content)?;
    loop {
        match order.next_frame() {
            Ok(Some(frame)) => each(&frame, order),
            Ok(None) => return Ok(()),
            Err(error) => lost(order.recover().ok_or_else(|| content(error))?),
        }
    }
}

/// Progress through a segment: of what is unpacked, the part that is read is told as a part of the file.
pub struct Reached<'p> {
    progress: &'p Progress,
    size: u64,
    len: u64,
    told: u64,
}

impl<'p> Reached<'p> {
    pub fn new(progress: &'p Progress, segment: &Opened<'_>) -> Self {
        Self { progress, size: segment.size, len: segment.data.len() as u64, told: 0 }
    }

    /// All before this offset was read.
    pub fn at(&mut self, offset: u64) {
        let reached = share(offset.min(self.len), self.len, self.size);
        self.progress.advance(reached.saturating_sub(self.told));
        self.told = reached;
    }
}

impl Drop for Reached<'_> {
    fn drop(&mut self) {
        self.progress.advance(self.size.saturating_sub(self.told));
    }
}

/// What a folder has of a recording.
#[derive(Default)]
pub struct Folder {
    /// The segments in the order of their numbers, damaged ones, too.
    pub segments: Vec<Segment<'static>>,
    /// The files of segments that cannot be read, and why.
    pub unreadable: Vec<(PathBuf, String)>,
}

/// The beginning of a file.
enum Start {
    Segment,
    /// Nothing yet.
    Begun,
    /// Something else: damage, if the file is called as segments are.
    Other,
    Unreadable(String),
}

/// Of a folder with more files than these, only those are looked at that are called as segments are.
const LOOKED_AT: usize = 2000;

/// The recording in a folder; `None` if no file in it begins as a segment.
pub fn of_folder(path: &Path) -> Option<Folder> {
    let entries = folder::entries(path).ok()?;
    let is_small = entries.len() <= LOOKED_AT;
    let mut found: Vec<_> = entries
        .into_iter()
        .map(|path| (series_of(&path), path))
        .filter(|(series, _)| is_small || series.is_some())
        .map(|(series, path)| (series, start_of(&path), path))
        .collect();
    // Those without a number come last.
    let number = |series: &Option<(String, u64)>| series.as_ref().map_or(u64::MAX, |(_, number)| *number);
    found.sort_by(|(a, _, one), (b, _, other)| (number(a), one).cmp(&(number(b), other)));
    // One that is being packed is there twice for a moment, or for good if the recorder ends then.
    found.dedup_by(|(.., packed), (.., path)| name_of(packed) == name_of(path));
    let sound = found.iter().filter(|(_, start, _)| matches!(start, Start::Segment));
    let sound: BTreeSet<_> = sound.filter_map(|(series, ..)| Some(series.as_ref()?.0.clone())).collect();
    let mut folder = Folder::default();
    let mut has_segment = false;
    for (series, start, path) in found {
        let is_one_of = series.is_some_and(|(series, _)| sound.contains(&series));
        has_segment |= matches!(start, Start::Segment);
        match start {
            Start::Segment => folder.segments.push(Segment::File(path)),
            Start::Other if is_one_of => folder.segments.push(Segment::File(path)),
            Start::Unreadable(why) if is_one_of => {
                folder.unreadable.push((path.file_name().unwrap_or_default().into(), why));
            }
            _ => {}
        }
    }
    has_segment.then_some(folder)
}

/// The name of a segment's file once it is written and before it is packed, as recorders rename it.
pub fn name_of(path: &Path) -> PathBuf {
    let is_renamed =
        path.extension().is_some_and(|end| ["gz", "zst", "active"].iter().any(|known| end == *known));
    if is_renamed { path.with_extension("") } else { path.to_owned() }
}

/// The name and the number of `trace.12.bin.gz`, `trace.12.bin.zst`; in a bucket, of `1763900000-12.bin.gz`, where a
/// time stands for the name.
fn series_of(path: &Path) -> Option<(String, u64)> {
    let name = name_of(path);
    let name = name.file_name()?.to_string_lossy();
    let stem = name.strip_suffix(".bin")?;
    let (series, number) = stem.rsplit_once(['.', '-']).unwrap_or(("", stem));
    let is_time = series.bytes().all(|byte| byte.is_ascii_digit());
    Some((if is_time { "" } else { series }.to_owned(), number.parse().ok()?))
}

fn start_of(path: &Path) -> Start {
    let start = || {
        if !disk::metadata(path)?.is_file() {
            return Err(io::Error::other("not a regular file"));
        }
        let mut start = Vec::new();
        File::open(path)?.take(packed::START).read_to_end(&mut start)?;
        Ok(start)
    };
    match start() {
        Ok(start) if dial9::detect(&start) || packing(&start).is_some() => Start::Segment,
        // A recorder has just begun it.
        Ok(start) if start.is_empty() && path.extension().is_some_and(|end| end == "active") => Start::Begun,
        Ok(start) if start.is_empty() => Start::Unreadable("the file is empty".to_owned()),
        Ok(_) => Start::Other,
        Err(error) => Start::Unreadable(format!("cannot read: {error}")),
    }
}

/// The compression of a segment.
pub fn packing(data: &[u8]) -> Option<Packing> {
    packed::detect(data, dial9::detect)
}

/// The bytes of a segment, and why not all of it could be unpacked.
fn unpack(data: &[u8]) -> (Cow<'_, [u8]>, Option<Error>) {
    packed::unpack(data, dial9::detect)
}

impl Segment<'_> {
    /// Calls `with` with the bytes, which are let go afterwards: of a folder, one segment is in memory at a time.
    pub fn open<T>(&self, with: impl FnOnce(&Opened<'_>) -> Result<T>) -> Result<T> {
        match self {
            Self::Given(data) => {
                let (data, damage) = unpack(data);
                with(&Opened { path: None, data, damage, size: self.size() })
            }
            Self::File(path) => {
                let file = Mapped::open(path).map_err(|error| Failure::unreadable(error.message))?;
                let (data, damage) = unpack(file.data());
                let (path, size) = (path.file_name().map(Path::new), file.data().len() as u64);
                with(&Opened { path, data, damage, size })
            }
        }
    }
}

impl Segment<'_> {
    /// Calls `with` with the first bytes, and true if there are more. At most so many are read of the file, and handed out.
    pub fn open_front(&self, most: usize, with: impl FnOnce(&[u8], bool) -> Result<()>) -> Result<()> {
        let front = |data: &[u8]| {
            let read = data.get(..most).unwrap_or(data);
            let (unpacked, _) = unpack(read);
            with(unpacked.get(..most).unwrap_or(&unpacked), read.len() < data.len() || unpacked.len() > most)
        };
        match self {
            Self::Given(data) => front(data),
            Self::File(path) => {
                let file = Mapped::open(path).map_err(|error| Failure::unreadable(error.message))?;
                front(file.data())
            }
        }
    }

    /// True if it is packed.
    pub fn is_packed(&self) -> bool {
        match self {
            Self::Given(data) => packing(data).is_some(),
            Self::File(path) => Mapped::open(path).is_ok_and(|file| packing(file.data()).is_some()),
        }
    }
}

/// The bytes of a segment, for as long as they are needed.
pub enum Data<'d> {
    Given(&'d [u8]),
    Mapped(Mapped),
    Unpacked(Vec<u8>),
}

impl AsRef<[u8]> for Data<'_> {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Given(data) => data,
            Self::Mapped(file) => file.data(),
            Self::Unpacked(data) => data,
        }
    }
}

impl Segment<'_> {
    /// The bytes, and why not all of them could be unpacked.
    pub fn load(&self) -> Result<(Data<'_>, Option<Error>)> {
        match self {
            Self::Given(data) => Ok(match unpack(data) {
                (Cow::Borrowed(data), damage) => (Data::Given(data), damage),
                (Cow::Owned(data), damage) => (Data::Unpacked(data), damage),
            }),
            Self::File(path) => {
                let file = Mapped::open(path).map_err(|error| Failure::unreadable(error.message))?;
                if let (Cow::Owned(data), damage) = unpack(file.data()) {
                    return Ok((Data::Unpacked(data), damage));
                }
                Ok((Data::Mapped(file), None))
            }
        }
    }

    /// The size of the file.
    pub fn size(&self) -> u64 {
        match self {
            Self::Given(data) => data.len() as u64,
            Self::File(path) => disk::metadata(path).map_or(0, |about| about.len()),
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
