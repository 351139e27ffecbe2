//! The files of traces: metadata and data streams.

use crate::disk;
use crate::folder::{entries, folders, is_stream};
use crate::input::Mapped;
use crate::status::{Failure, Unreadable};
use std::path::{Path, PathBuf};
use traceglass::ctf::metadata::{Language, MetadataStream, ParseOptions};
use traceglass::ctf::schema::element::SCHEMA;
use traceglass::ctf::schema::tsdl::{self, NameEntry, TypeNode, Workspace};
use traceglass::ctf::schema::{Node, Schema};
use traceglass::{Error, ErrorKind};

/// The levels of LTTng's session folders: session/domain/uid/1000/64-bit.
const DEPTH: usize = 6;

/// The number of folders without metadata that are searched: the per-user buffers of a busy machine have a few hundred.
const FOREIGN_MAX: usize = 10_000;

/// A data stream.
pub struct Stream {
    /// From the folder that was named.
    pub path: PathBuf,
    pub data: Mapped,
    /// True if LTTng's index lies beside it.
    pub is_indexed: bool,
}

/// A trace: a folder with metadata.
pub struct Files {
    pub metadata: Mapped,
    pub metadata_path: PathBuf,
    pub streams: Vec<Stream>,
}

/// The traces that could be opened, and the paths that could not.
pub struct Found {
    pub traces: Vec<Files>,
    pub problems: Vec<(PathBuf, String)>,
}

impl Files {
    fn open(
        folder: &Path,
        root: &Path,
        only: Option<(&Path, &Mapped)>,
        problems: &mut Vec<(PathBuf, String)>,
    ) -> Result<Self, Unreadable> {
        let relative = |path: &Path| relative(path, root);
        let metadata_path = folder.join("metadata");
        let metadata = Mapped::open(&metadata_path)?;
        let mut streams = Vec::new();
        let paths = match only {
            Some((path, data)) => {
                // A pipe, or anything else that is no file, was read when it was named.
                streams.push(Stream {
                    path: relative(path),
                    data: data.clone(),
                    is_indexed: index(path).is_file(),
                });
                Vec::new()
            }
            None => entries(folder).unwrap_or_else(|error| {
                problems.push((relative(folder), format!("cannot read: {error}")));
                Vec::new()
            }),
        };
        for path in paths.into_iter().filter(|path| is_stream(path)) {
            // Nothing might come from it, for ever.
            let is_special = disk::metadata(&path).is_ok_and(|about| !about.is_file());
            let opened =
                if is_special { Err(Unreadable::new("not a regular file")) } else { Mapped::open(&path) };
            match opened {
                Ok(data) => {
                    let is_indexed = index(&path).is_file();
                    streams.push(Stream { path: relative(&path), data, is_indexed });
                }
                Err(unreadable) => problems.push((relative(&path), unreadable.message)),
            }
        }
        Ok(Self { metadata, metadata_path: relative(&metadata_path), streams })
    }
}

impl Files {
    /// The metadata: a file of this name may be TSDL without the signature.
    pub fn parse(&self, options: ParseOptions) -> Result<MetadataStream<'_>, Error> {
        MetadataStream::parse_text_with(self.metadata.data(), options)
    }
}

impl Found {
    /// The traces in a folder; `None` if there is none.
    ///
    /// It is an error if there is a great deal of something else: then another folder was meant.
    pub fn below(root: &Path) -> Result<Option<Self>, Unreadable> {
        let mut problems = Vec::new();
        let mut traces = Vec::new();
        let mut todo = vec![(root.to_owned(), 0)];
        let mut foreign = 0_usize;
        while let Some((folder, depth)) = todo.pop() {
            if disk::is_file(&folder.join("metadata")) {
                match Files::open(&folder, root, None, &mut problems) {
                    Ok(files) => traces.push(files),
                    Err(unreadable) if depth == 0 => return Err(unreadable),
                    Err(unreadable) => problems.push((relative(&folder, root), unreadable.message)),
                }
            } else if depth < DEPTH {
                let below = folders(&folder, FOREIGN_MAX.saturating_add(1)).unwrap_or_else(|error| {
                    problems.push((relative(&folder, root), format!("cannot read: {error}")));
                    Vec::new()
                });
                foreign = foreign.saturating_add(below.len());
                if foreign > FOREIGN_MAX {
                    if traces.is_empty() {
                        // It may still be a recording of another format.
                        return Ok(None);
                    }
                    return Err(Unreadable::new(format!(
                        "more than {FOREIGN_MAX} folders in it are of no trace: name the folder of a trace itself"
                    )));
                }
                todo.extend(below.into_iter().rev().map(|path| (path, depth + 1)));
            }
        }
        Ok((!traces.is_empty()).then_some(Self { traces, problems }))
    }

    /// One data stream, with the metadata beside it.
    pub fn stream(path: &Path, data: &Mapped) -> Result<Self, Unreadable> {
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut problems = Vec::new();
        let files = Files::open(folder, folder, Some((path, data)), &mut problems)?;
        Ok(Self { traces: vec![files], problems })
    }

    pub fn bytes(&self) -> u64 {
        let of = |files: &Files| {
            let streams: usize = files.streams.iter().map(|stream| stream.data.data().len()).sum();
            (files.metadata.data().len() + streams) as u64
        };
        self.traces.iter().map(of).sum()
    }
}

/// The path of LTTng's index of a stream.
pub fn index(stream: &Path) -> PathBuf {
    let mut name = stream.file_name().unwrap_or_default().to_owned();
    name.push(".idx");
    stream.with_file_name("index").join(name)
}

/// A path from the folder that was named.
fn relative(path: &Path, root: &Path) -> PathBuf {
    let below = path.strip_prefix(root).unwrap_or(path);
    if below == Path::new("") { PathBuf::from(".") } else { below.to_owned() }
}

/// The number of nodes this metadata may take: aliases that double again and again describe no trace.
fn limit(metadata: &MetadataStream<'_>) -> u64 {
    let (text, _) = metadata.text_until_error();
    text.len().saturating_mul(16).saturating_add(1 << 14)
}

/// Compiles a trace's metadata into as many nodes as it takes.
pub fn compile<'a, 's>(
    metadata: &MetadataStream<'a>,
    nodes: &'s mut Vec<Node>,
) -> Result<Schema<'a, 's>, Error> {
    if metadata.language() == Language::Tsdl {
        return compile_tsdl(*metadata, nodes);
    }
    let limit = limit(metadata);
    let mut size = Schema::needed(metadata)?.min(limit);
    loop {
        nodes.resize(usize::try_from(size).unwrap_or(usize::MAX), Node::EMPTY);
        // With many aliases, what is needed turns out step by step.
        match Schema::compile(metadata, nodes).map_err(|error| error.kind()) {
            Err(ErrorKind::CapacityExceeded { capacity, needed })
                if capacity == size && needed > size && needed <= limit =>
            {
                size = needed.max(size.saturating_mul(2)).min(limit);
            }
            _ => return Schema::compile(metadata, nodes),
        }
    }
}

/// Compiles TSDL, in a workspace that grows until it suffices.
fn compile_tsdl<'a, 's>(
    metadata: MetadataStream<'a>,
    nodes: &'s mut Vec<Node>,
) -> Result<Schema<'a, 's>, Error> {
    let most = usize::try_from(limit(&metadata)).unwrap_or(usize::MAX);
    let (mut types, mut names) = (vec![TypeNode::default(); 1024], vec![NameEntry::default(); 1024]);
    loop {
        match tsdl::needed(metadata, Workspace { nodes: &mut types, names: &mut names }) {
            Ok(needed) if needed.nodes > most as u64 => {
                let kind = ErrorKind::CapacityExceeded { capacity: most as u64, needed: needed.nodes };
                return Err(Error::new(0, SCHEMA, kind));
            }
            Ok(needed) => {
                nodes.resize(usize::try_from(needed.nodes).unwrap_or(usize::MAX), Node::EMPTY);
                return tsdl::compile(metadata, nodes, Workspace { nodes: &mut types, names: &mut names });
            }
            Err(error) => match error.kind() {
                ErrorKind::CapacityExceeded { .. } if types.len() < most => {}
                _ => return Err(error),
            },
        }
        let size = types.len().saturating_mul(2).min(most);
        types.resize(size, TypeNode::default());
        names.resize(size, NameEntry::default());
    }
}

/// A schema as a table.
pub fn write_table(schema: &Schema<'_, '_>) -> Result<Vec<u8>, Failure> {
    let mut table = vec![0; usize::try_from(schema.written_size()).unwrap_or(usize::MAX)];
    let len = schema.write(&mut table).map_err(|error| Failure::unreadable(error.to_string()))?.len();
    table.truncate(len);
    Ok(table)
}

/// The line of TSDL that an error is about, and a caret below the place.
pub fn marked_line(metadata: &MetadataStream<'_>, error: &Error) -> Option<String> {
    const WIDTH: usize = 100;
    if metadata.language() != Language::Tsdl || !error.element().name().starts_with("TSDL") {
        return None;
    }
    let at = tsdl::position(*metadata, error.offset());
    let line: Vec<u8> = at.text.pieces().flatten().copied().collect();
    let column = usize::try_from(at.column - 1).ok()?.min(line.len());
    // Of a long line only what is near the place.
    let start = if line.len() > WIDTH { column.saturating_sub(WIDTH / 2) } else { 0 };
    let visible = |part: &[u8]| -> String {
        let text = String::from_utf8_lossy(part);
        text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
    };
    let front = visible(&line[start..column]);
    let back = visible(&line[column..line.len().min(start + WIDTH).max(column)]);
    let number = at.line.to_string();
    let margin = " ".repeat(number.len());
    let indent = " ".repeat(front.chars().count());
    Some(format!(
        "\n {margin}--> line {number}, column {}\n {number} | {front}{back}\n {margin} | {indent}^",
        at.column
    ))
}
