//! Files of chunks that lie in files of their own, and chunks added to a file.

use super::rewrite::{hash, hash_parts};
use super::{Rdf, name};
use crate::input::Mapped;
use crate::output::shown;
use crate::status::{Failure, Result};
use crate::trace::{NewParts, NewTrace, Rewritten};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use traceglass::Format;
use traceglass::rdf::{File, Identifier, NewChunk, write};

/// A chunk as a list names it.
struct Listed {
    id: Identifier,
    version: u32,
    header: Option<PathBuf>,
    data: Option<PathBuf>,
    /// True if its data is compressed; `None` if nothing is said.
    packs: Option<bool>,
}

/// A chunk that is to be written.
struct Loaded {
    id: Identifier,
    version: u32,
    header: Option<Mapped>,
    data: Option<Mapped>,
    /// The data as Zstandard, if it is compressed.
    packed: Option<Vec<u8>>,
}

impl Loaded {
    fn read(listed: Listed, packs: bool) -> Result<Self> {
        let open = |path: PathBuf| {
            Mapped::open_whole(&path)
                .map_err(|error| Failure::unreadable(format!("{}: {}", shown(&path), error.message)))
        };
        let header = listed.header.map(open).transpose()?;
        let data = listed.data.map(open).transpose()?;
        let packed = match &data {
            Some(data) if listed.packs.unwrap_or(packs) && !data.data().is_empty() => {
                Some(compress_to_vec(data.data(), CompressionLevel::Fastest))
            }
            _ => None,
        };
        Ok(Self { id: listed.id, version: listed.version, header, data, packed })
    }

    fn header(&self) -> &[u8] {
        self.header.as_ref().map(Mapped::data).unwrap_or_default()
    }

    fn data(&self) -> &[u8] {
        self.data.as_ref().map(Mapped::data).unwrap_or_default()
    }

    fn chunk(&self) -> NewChunk<'_> {
        let chunk = match &self.packed {
            Some(packed) => NewChunk::zstd(self.id, packed, self.data().len() as u64),
            None => NewChunk::raw(self.id, self.data()),
        };
        chunk.version(self.version).header(self.header())
    }
}

/// Writes a file of the chunks that a folder or a list names.
pub fn create(parts: &NewParts<'_>, to: &mut dyn NewTrace) -> Result<Rewritten> {
    let chunks = load(parts)?;
    let mut done = Rewritten::of("chunks");
    to.file(Path::new(""))?;
    write(chunks.iter().map(Loaded::chunk), &mut |bytes: &[u8]| to.put(bytes))?;
    done.takes_all = true;
    tell(&chunks, &mut done);
    Ok(done)
}

/// Writes what follows after the end of a file that gets more chunks; gives the header that makes them count.
pub fn append(data: &[u8], parts: &NewParts<'_>, to: &mut dyn NewTrace) -> Result<Rewritten> {
    let file = File::parse(data).map_err(|error| Failure::content(Format::Rdf, error))?;
    if let Some(error) = (Rdf { file, gap: None }).first_error()? {
        return Err(Failure::usage(format!("the file is damaged, recover it first: {error}")));
    }
    let chunks = load(parts)?;
    let known = |chunk: &&Loaded| file.entries().any(|entry| entry.identifier() == chunk.id);
    if let Some(chunk) = chunks.iter().find(known).filter(|_| !parts.allow_same_id) {
        return Err(Failure::usage(format!(
            "the file has a chunk {} already: --allow-same-id numbers them on",
            name(chunk.id)
        )));
    }
    let mut done = Rewritten::of("chunks");
    done.takes_all = true;
    file.entries().for_each(|entry| hash(&file, &entry, &mut done.digest));
    done.kept = file.index().len() as u64;
    done.front = file.append(chunks.iter().map(Loaded::chunk), &mut |bytes: &[u8]| to.put(bytes))?.to_vec();
    tell(&chunks, &mut done);
    Ok(done)
}

/// Counts chunks that were written.
fn tell(chunks: &[Loaded], done: &mut Rewritten) {
    done.kept = done.kept.saturating_add(chunks.len() as u64);
    for chunk in chunks {
        let (number, size) = if chunk.packed.is_some() { (1, chunk.data().len() as u64) } else { (0, 0) };
        let stored = chunk.packed.as_deref().unwrap_or(chunk.data());
        let about = [chunk.version.into(), number, size];
        hash_parts(chunk.id.bytes(), about, chunk.header(), stored, &mut done.digest);
    }
}

/// The chunks of a folder or a list, with their bytes.
fn load(parts: &NewParts<'_>) -> Result<Vec<Loaded>> {
    let path = parts.list;
    let listed = if path.is_dir() { of_folder(path)? } else { of_list(path)? };
    // A file without chunks may have been exported.
    if listed.is_empty() && !path.join("manifest.json").is_file() {
        return Err(Failure::usage(format!("{}: no chunk is in it", shown(path))));
    }
    let mut files = listed.iter().flat_map(|chunk| chunk.header.iter().chain(&chunk.data));
    files.try_for_each(|file| (parts.refuse)(file))?;
    listed.into_iter().map(|chunk| Loaded::read(chunk, parts.packs)).collect()
}

fn refuse(path: &Path, why: impl std::fmt::Display) -> Failure {
    Failure::usage(format!("{}: {why}", shown(path)))
}

fn identifier(path: &Path, text: &str) -> Result<Identifier> {
    Identifier::try_from(text)
        .map_err(|error| refuse(path, format_args!("{text} is no identifier of a chunk: {error}")))
}

/// An identifier of which all bytes are given, in hex.
fn identifier_of_hex(text: &str) -> Option<Identifier> {
    let is_hex = text.len() == 32 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    let bytes = u128::from_str_radix(text, 16).ok().filter(|_| is_hex)?;
    Some(Identifier::from_bytes(bytes.to_be_bytes()))
}

/// The text of a file of JSON.
fn text(path: &Path) -> Result<String> {
    std::fs::read_to_string(path)
        .map_err(|error| Failure::unreadable(format!("{}: cannot read: {error}", shown(path))))
}

/// A list: an array of objects, or an object with it as `chunks`. Paths begin where the list lies.
fn of_list(path: &Path) -> Result<Vec<Listed>> {
    let value = crate::json::unambiguous_value(&text(path)?);
    let value =
        value.ok_or_else(|| refuse(path, "no list of chunks in JSON, or one in which a key occurs twice"))?;
    let list = match &value {
        Value::Array(list) => Some(list),
        Value::Object(object) => object.get("chunks").and_then(Value::as_array),
        _ => None,
    };
    let list = list.ok_or_else(|| refuse(path, "neither an array of chunks nor an object with `chunks`"))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let chunk = |(number, value): (usize, &Value)| {
        let fails = |why: String| refuse(path, format_args!("chunk {number}: {why}"));
        let object = value.as_object().ok_or_else(|| fails("no object".into()))?;
        listed(object, folder, path).map_err(|failure| fails(failure.to_string()))
    };
    list.iter().enumerate().map(chunk).collect()
}

fn listed(object: &Map<String, Value>, folder: &Path, path: &Path) -> Result<Listed> {
    let wrong = |key: &str| Failure::usage(format!("`{key}` is not understood"));
    let mut id = None;
    let mut chunk = Listed { id: identifier(path, "")?, version: 1, header: None, data: None, packs: None };
    for (key, value) in object {
        let file = || value.as_str().map(|text| folder.join(text)).ok_or_else(|| wrong(key));
        match key.as_str() {
            "id" => id = Some(identifier(path, value.as_str().ok_or_else(|| wrong(key))?)?),
            "version" => {
                let version = value.as_u64().and_then(|version| u32::try_from(version).ok());
                chunk.version = version.ok_or_else(|| wrong(key))?;
            }
            "header" => chunk.header = Some(file()?),
            "data" => chunk.data = Some(file()?),
            "compression" => {
                chunk.packs = Some(match value.as_str() {
                    Some("none") => false,
                    Some("zstd") => true,
                    _ => return Err(wrong(key)),
                });
            }
            // A misspelled key is refused: its value would be missing.
            _ => return Err(wrong(key)),
        }
    }
    chunk.id = id.ok_or_else(|| Failure::usage("`id` is missing"))?;
    Ok(chunk)
}

/// A folder: that of an `export --format files`, or files that have the names of chunks.
fn of_folder(folder: &Path) -> Result<Vec<Listed>> {
    let manifest = folder.join("manifest.json");
    if manifest.is_file() {
        return of_manifest(folder, &manifest);
    }
    let read = |error| Failure::unreadable(format!("{}: cannot read: {error}", shown(folder)));
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(read)? {
        let path = entry.map_err(read)?.path();
        let name = path.file_name().unwrap_or_default().to_owned();
        if path.is_file() && !name.as_encoded_bytes().starts_with(b".") {
            let name = name.into_string();
            let name = name.map_err(|_| refuse(&path, "the name is no identifier of a chunk: not UTF-8"))?;
            files.push((name, path));
        }
    }
    files.sort();
    let chunk = |(name, path): (String, PathBuf)| {
        let id = name.split_once('.').map_or(name.as_str(), |(id, _)| id);
        Ok(Listed { id: identifier(folder, id)?, version: 1, header: None, data: Some(path), packs: None })
    };
    files.into_iter().map(chunk).collect()
}

/// The list in the manifest that `export --format files` wrote for one file.
fn of_manifest(folder: &Path, manifest: &Path) -> Result<Vec<Listed>> {
    let mut chunks: BTreeMap<u64, Listed> = BTreeMap::new();
    let mut files: BTreeMap<(u64, bool), PathBuf> = BTreeMap::new();
    for (line, number) in text(manifest)?.lines().zip(1_u64..) {
        let fails = |why: &str| refuse(manifest, format_args!("line {number}: {why}"));
        let value = crate::json::unambiguous_value(line);
        let value = value.ok_or_else(|| fails("no JSON, or a key occurs twice"))?;
        let get = |key: &str| value.get(key).filter(|value| !value.is_null());
        let is_header = match get("kind").and_then(Value::as_str) {
            Some("header") => true,
            Some("chunk") => false,
            _ => return Err(fails("this is of no chunk of RDF")),
        };
        if get("error").is_some() {
            return Err(fails("what it is about could not be read in full"));
        }
        let entry = get("number").and_then(Value::as_u64).ok_or_else(|| fails("`number` is missing"))?;
        let id = match (get("name_hex"), get("name").and_then(Value::as_str)) {
            (Some(hex), _) => {
                let id = hex.as_str().and_then(identifier_of_hex);
                id.ok_or_else(|| fails("`name_hex` is no 16 bytes in hex"))?
            }
            (None, Some(name)) => identifier(manifest, name)?,
            _ => return Err(fails("`name` is missing")),
        };
        let file = match (get("file").and_then(Value::as_str), get("same_as").and_then(Value::as_u64)) {
            (Some(name), _) => folder.join(name),
            // The file of an entry that was written before.
            (None, Some(other)) => {
                let known = files.get(&(other, is_header));
                known.cloned().ok_or_else(|| fails("`same_as` leads to no entry before it"))?
            }
            _ => return Err(fails("`file` is missing")),
        };
        if files.insert((entry, is_header), file.clone()).is_some() {
            return Err(fails("this entry occurs again: the folder is of several files"));
        }
        let empty =
            Listed { id: identifier(manifest, "")?, version: 1, header: None, data: None, packs: None };
        let chunk = chunks.entry(entry).or_insert(empty);
        chunk.id = id;
        let version = get("version").and_then(Value::as_u64);
        if let Some(version) = version.and_then(|version| u32::try_from(version).ok()) {
            chunk.version = version;
        }
        if is_header {
            chunk.header = Some(file);
        } else {
            chunk.data = Some(file);
        }
    }
    Ok(chunks.into_values().collect())
}
