//! A page with a trace inside: one file that a browser opens, without a network.

use super::file::{NewFile, refuse_existing, refuse_loss};
use crate::disk;
use crate::folder::entries;
use crate::input::{Input, Mapped, is_left_out};
use crate::output::{bytes, shown};
use crate::progress::{self, Progress};
use crate::status::{Failure, Result, Status};
use crate::trace::{Open, Reading};
use flate2::Compression;
use flate2::read::GzEncoder;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The page that this command was built with.
const BUILT_IN: Option<&[u8]> = include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// The place in the page where traces go.
const PLACE: &[u8] = b"<!-- traces -->";

/// More than this is no file to send: the page holds it packed and in base64, and has to unpack it before it shows it.
const BYTES_MAX: u64 = 64 << 20;

/// The most levels of a trace's folders: CTF's session/domain/uid/1000/64-bit.
const DEPTH: usize = 8;

/// The arguments for writing a page.
pub struct Page<'p> {
    pub path: &'p PathBuf,
    pub output: &'p Path,
    /// The page, if it is not the built-in one.
    pub page: Option<&'p Path>,
    pub force: bool,
    pub reading: Reading,
}

/// Writes a page with the files of a trace in it.
pub fn write(args: &Page<'_>, open: Open) -> Result<Status> {
    refuse_loss(args.output, std::slice::from_ref(args.path))?;
    refuse_existing(args.output, args.force)?;
    let given = args.page.map(|path| {
        let failed = |error| Failure::unreadable(format!("{}: cannot read: {error}", shown(path)));
        std::fs::read(path).map_err(failed)
    });
    let given = given.transpose()?;
    let page = given.as_deref().or(BUILT_IN).ok_or_else(|| {
        Failure::usage(
            "this traceglass was built without the page: name it with --page FILE (`.ci/web.sh build` makes \
             bindings/web/dist/traceglass.html), or build with TRACEGLASS_PAGE=FILE",
        )
    })?;
    let place = page.windows(PLACE.len()).rposition(|window| window == PLACE).ok_or_else(|| {
        Failure::usage("--page: this is no page of traceglass: nothing in it says where traces go")
    })?;
    let (front, back) = page.split_at_checked(place).unwrap_or_default();

    // An input that is no trace is refused before anything is written.
    let input = Input::open(args.path)?;
    open(&input, args.reading)?;
    let mut files = files(args.path)?;
    // Of a trace whose private text is hidden, only what was looked at.
    files.retain(|file| !is_left_out(&file.place));
    let sizes = files.iter().map(|file| disk::metadata(&file.place).map_or(0, |about| about.len()));
    let total = sizes.fold(0, u64::saturating_add);
    if total > BYTES_MAX {
        return Err(Failure::usage(format!(
            "{} is {}, and a page holds up to {}: `traceglass cut` makes a part of it",
            shown(args.path),
            bytes(total),
            bytes(BYTES_MAX)
        )));
    }
    progress::begin("writing", total);
    let progress = Progress::new(total);
    let mut to = NewFile::create(args.output)?;
    to.write(front)?;
    for file in &files {
        let data = Mapped::open(&file.place)?;
        let name = attribute(&file.name);
        to.write(format!("<script type=\"application/octet-stream\" data-path=\"{name}\">").as_bytes())?;
        let mut packed = Vec::new();
        GzEncoder::new(data.data(), Compression::best())
            .read_to_end(&mut packed)
            .map_err(|error| Failure::unreadable(error.to_string()))?;
        to.write(base64(&packed).as_bytes())?;
        to.write(b"</script>\n")?;
        progress.advance(data.data().len() as u64);
    }
    to.write(back)?;
    to.finish()?;
    Ok(Status::Clean)
}

/// A file that goes into the page.
struct Inside {
    place: PathBuf,
    /// The path from the folder of the trace on.
    name: String,
}

/// The files of a path: one, or all that lie in a folder.
fn files(path: &Path) -> Result<Vec<Inside>> {
    let cannot = |path: &Path, error| Failure::unreadable(format!("{}: cannot read: {error}", shown(path)));
    let full = path.canonicalize().map_err(|error| cannot(path, error))?;
    let name = full.file_name().unwrap_or(full.as_os_str()).to_string_lossy().into_owned();
    if disk::is_file(&full) {
        return Ok(vec![Inside { place: full, name }]);
    }
    let (mut found, mut todo) = (Vec::new(), vec![(full, name, 0_usize)]);
    while let Some((folder, front, depth)) = todo.pop() {
        for place in entries(&folder).map_err(|error| cannot(&folder, error))? {
            let Some(last) = place.file_name().map(|name| name.to_string_lossy()) else { continue };
            let name = format!("{front}/{last}");
            // Links are not followed: they may lead around in a circle.
            let is_link = place.symlink_metadata().is_ok_and(|about| about.is_symlink());
            if disk::is_dir(&place) {
                if !is_link && depth < DEPTH {
                    todo.push((place, name, depth.saturating_add(1)));
                }
            } else if disk::is_file(&place) {
                found.push(Inside { place, name });
            }
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// Text as it stands in an attribute.
fn attribute(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Bytes as base64 (RFC 4648).
pub fn base64(data: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |bits: u32| char::from(DIGITS.get((bits & 63) as usize).copied().unwrap_or_default());
    let mut text = String::with_capacity(data.len().div_ceil(3).saturating_mul(4));
    for three in data.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        text.push(digit(bits >> 18));
        text.push(digit(bits >> 12));
        text.push(if three.len() > 1 { digit(bits >> 6) } else { '=' });
        text.push(if three.len() > 2 { digit(bits) } else { '=' });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_rfc() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xff, 0xef, 0xbe]), "/+++");
    }

    #[test]
    fn names_end_no_attribute() {
        assert_eq!(attribute("a\"><script>&.rtc"), "a&quot;&gt;&lt;script&gt;&amp;.rtc");
    }

    #[test]
    fn a_folder_goes_in_with_its_name() {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/data");
        let names = |name: &str| {
            let found = files(&data.join(name)).unwrap();
            found.into_iter().map(|file| file.name).collect::<Vec<_>>()
        };
        assert_eq!(names("sample.rtc"), ["sample.rtc"]);
        assert_eq!(names("sample.ctf"), ["sample.ctf/metadata", "sample.ctf/stream"]);
        assert_eq!(names("sample.rfr").len(), 4);
    }
}
