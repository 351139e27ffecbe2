//! Files that are packed: members of gzip and frames of Zstandard, one after the other.
//!
//! Unpacked data stays in memory, within a bound: the size of the file times a constant.

use flate2::bufread::GzDecoder;
use std::borrow::Cow;
use std::io::{ErrorKind as Io, Read};
use traceglass::zstd::element::FRAME;
use traceglass::zstd::{Decoder, Detected, Workspace};
use traceglass::{Element, Error, ErrorKind};

/// A member of a gzip file.
const GZIP: Element = Element::new(&"gzip member");

/// The most times that unpacked data may be larger than the file, and the size that it may have in any case. Segments
/// of dial9 are three times as large.
const LARGER: u64 = 256;
const LEAST: u64 = 1 << 20;

/// The window that is lent to a frame at first, and the largest one; as the `zstd` command has them.
const WINDOW: usize = 8 << 20;
const WINDOW_MAX: u64 = 128 << 20;

/// The most that a block of Zstandard holds.
const BLOCK: u64 = 128 << 10;

/// The number of bytes of a packed file that suffice to unpack its first bytes.
pub const START: u64 = BLOCK + 64;

/// The compression of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Members of gzip.
    Gzip,
    /// Frames of Zstandard, some of which may be skippable.
    Zstd,
}

impl Packing {
    /// The compression of these bytes, by how they begin.
    pub fn detect(data: &[u8]) -> Option<Self> {
        match *data.first_chunk()? {
            [0x1f, 0x8b, _, _] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => Some(Self::Zstd),
            _ => None,
        }
    }
}

/// The compression of these bytes; `None` as well if their beginning, unpacked, is not `wanted`.
pub fn detect(data: &[u8], wanted: impl Fn(&[u8]) -> bool) -> Option<Packing> {
    let packing = Packing::detect(data)?;
    let mut start = Vec::new();
    match packing {
        Packing::Gzip => {
            // Bytes that are unpacked before an error stay.
            let _ = GzDecoder::new(data).take(64).read_to_end(&mut start);
        }
        Packing::Zstd => drop(frames(data, BLOCK, &mut start)),
    }
    wanted(&start).then_some(packing)
}

/// Unpacks a file as far as that is possible; the error says where in the file it is not. What is not packed stays as it
/// is. People put files one after the other, packed and not: after the last member or frame, bytes that are `plain` are
/// taken as they are.
pub fn unpack(data: &[u8], plain: impl Fn(&[u8]) -> bool) -> (Cow<'_, [u8]>, Option<Error>) {
    if Packing::detect(data).is_none() {
        return (Cow::Borrowed(data), None);
    }
    let most = LEAST.saturating_add(LARGER.saturating_mul(data.len() as u64));
    let (mut unpacked, mut rest) = (Vec::new(), data);
    let damage = loop {
        let at = data.len().saturating_sub(rest.len()) as u64;
        if rest.iter().all(|&byte| byte == 0) {
            break None;
        }
        if plain(rest) {
            unpacked.extend_from_slice(rest);
            break None;
        }
        let room = most.saturating_sub(unpacked.len() as u64);
        let done = match Packing::detect(rest) {
            Some(Packing::Gzip) => member(rest, room, &mut unpacked),
            Some(Packing::Zstd) => frames(rest, room, &mut unpacked),
            None => {
                let count = rest.len() as u64;
                Err(Error::new(0, GZIP, ErrorKind::TrailingBytes { count }))
            }
        };
        match done {
            Ok(left) => rest = left,
            Err(error) => break Some(error.rebased(at)),
        }
    };
    (Cow::Owned(unpacked), damage)
}

/// Unpacks a member of gzip; returns what comes after it.
fn member<'d>(data: &'d [u8], room: u64, to: &mut Vec<u8>) -> Result<&'d [u8], Error> {
    let before = to.len() as u64;
    let mut member = GzDecoder::new(data);
    let read = (&mut member).take(room).read_to_end(to);
    let size = (to.len() as u64).saturating_sub(before);
    match read {
        Err(error) if error.kind() == Io::UnexpectedEof => {
            Err(Error::new(0, GZIP, ErrorKind::UnexpectedEnd { needed: 1 }))
        }
        Err(_) => Err(Error::new(0, GZIP, ErrorKind::Malformed)),
        Ok(_) if size >= room => Err(Error::new(0, GZIP, ErrorKind::OverLimit { value: size, limit: room })),
        Ok(_) => Ok(member.into_inner()),
    }
}

/// Unpacks frames of Zstandard up to what is none; returns that.
fn frames<'d>(data: &'d [u8], room: u64, to: &mut Vec<u8>) -> Result<&'d [u8], Error> {
    let (mut workspace, mut window) = (Workspace::on(Detected::new()), vec![0; WINDOW]);
    let start = to.len() as u64;
    let mut from = 0;
    loop {
        let rest = data.get(from..).unwrap_or_default();
        let used = (to.len() as u64).saturating_sub(start);
        let mut decoder = Decoder::new(&mut workspace);
        decoder.limit(room.saturating_sub(used));
        let read = decoder.stream(rest, &mut window, |piece| to.extend_from_slice(piece));
        let Err(error) = read else { return Ok(&[]) };
        let at = usize::try_from(error.offset()).unwrap_or(usize::MAX);
        let failed = || error.rebased(from as u64);
        match error.kind() {
            // Of a frame, which begins five bytes before where its window is stated.
            ErrorKind::CapacityExceeded { needed, .. } => {
                if needed > WINDOW_MAX {
                    let kind = ErrorKind::OverLimit { value: needed, limit: WINDOW_MAX };
                    return Err(Error::new(failed().offset(), error.element(), kind));
                }
                // Twice as large, so that frames that ask for more each do not take time without end.
                let twice = (window.len() as u64).saturating_mul(2).min(WINDOW_MAX);
                window = vec![0; usize::try_from(needed.max(twice)).unwrap_or(usize::MAX)];
                from = from.saturating_add(at.saturating_sub(5));
            }
            ErrorKind::BadMagic { .. } if error.element() == FRAME && from.saturating_add(at) > 0 => {
                return Ok(data.get(from.saturating_add(at)..).unwrap_or_default());
            }
            _ => return Err(failed()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write as _;

    fn gzip(data: &[u8]) -> Vec<u8> {
        let mut writer = GzEncoder::new(Vec::new(), Compression::fast());
        writer.write_all(data).unwrap();
        writer.finish().unwrap()
    }

    /// A frame of raw blocks, with a window of so many KiB and without a stated size.
    fn zstd(data: &[u8], window_log: u8) -> Vec<u8> {
        let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, (window_log - 10) << 3];
        let mut chunks = data.chunks(1024).peekable();
        while let Some(chunk) = chunks.next() {
            let header = (chunk.len() as u32) << 3 | u32::from(chunks.peek().is_none());
            frame.extend(&header.to_le_bytes()[..3]);
            frame.extend(chunk);
        }
        frame
    }

    fn is_plain(data: &[u8]) -> bool {
        data.starts_with(b"plain")
    }

    #[test]
    fn members_and_frames_of_any_kind_follow_each_other() {
        let (a, b) = (b"a".repeat(3000), b"b".repeat(10));
        let skippable = b"\x50\x2a\x4d\x18\x02\0\0\0hi".to_vec();
        let parts =
            [gzip(&a), zstd(&b, 10), skippable, zstd(&a, 24), gzip(&b), b"plain and \x1f\x8b".to_vec()];
        let expected = [&a[..], &b, &a, &b, b"plain and \x1f\x8b"].concat();
        assert_eq!(unpack(&parts.concat(), is_plain), (Cow::Owned(expected), None));
        let plain = b"as it is";
        assert!(matches!(unpack(plain, is_plain), (Cow::Borrowed(data), None) if data == plain));
        // Zeros after the last one are no damage, anything else is.
        assert_eq!(unpack(&[zstd(&b, 10), vec![0; 9]].concat(), is_plain).1, None);
        let followed = [zstd(&b, 10), b"else".to_vec()].concat();
        let (kept, damage) = unpack(&followed, is_plain);
        let damage = damage.unwrap();
        assert_eq!((&*kept, damage.offset()), (&b[..], 19));
        assert_eq!(damage.kind(), ErrorKind::TrailingBytes { count: 4 });
    }

    #[test]
    fn what_is_cut_is_unpacked_as_far_as_it_goes() {
        let data: Vec<u8> = (0..5000_u32).map(|byte| byte as u8).collect();
        let whole = [zstd(&data, 10), zstd(&data, 10)].concat();
        for len in 6..whole.len() {
            let (kept, damage) = unpack(&whole[..len], is_plain);
            assert_eq!(&*kept, &[&data[..], &data].concat()[..kept.len()]);
            // All blocks that are there as a whole: what is missing is one, and the headers of frames and blocks.
            assert!(kept.len() + 1024 + 2 * (6 + 5 * 3) >= len, "{len}");
            let is_whole = len == whole.len() / 2;
            assert_eq!(damage.is_none(), is_whole, "{len}");
            assert!(damage.is_none_or(|damage| damage.offset() <= len as u64));
        }
    }

    #[test]
    fn a_claim_is_not_believed() {
        // Blocks of 4 bytes, each of which is 128 KiB of zeros.
        let mut bomb = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 0x38];
        for _ in 0..1000 {
            bomb.extend([0x02, 0x00, 0x10, 7]);
        }
        let (kept, damage) = unpack(&bomb, is_plain);
        assert!(kept.len() as u64 <= LEAST + LARGER * bomb.len() as u64);
        assert!(kept.iter().all(|byte| *byte == 7) && kept.len() >= 1 << 20);
        assert!(matches!(damage.unwrap().kind(), ErrorKind::OverLimit { .. }));
        // A window of more than 128 MiB.
        let damage = unpack(&zstd(b"x", 28), is_plain).1.unwrap();
        assert_eq!(damage.kind(), ErrorKind::OverLimit { value: 1 << 28, limit: WINDOW_MAX });
    }

    #[test]
    fn packed_traces_are_told_by_what_is_in_them() {
        assert_eq!(detect(&zstd(b"plain", 10), is_plain), Some(Packing::Zstd));
        assert_eq!(detect(&gzip(b"plain"), is_plain), Some(Packing::Gzip));
        assert_eq!(detect(&gzip(b"other"), is_plain), None);
        assert_eq!(detect(b"plain", is_plain), None);
        // The rest may be missing.
        let large = [zstd(&b"plain".repeat(1000), 10)].concat();
        assert_eq!(detect(&large[..1100], is_plain), Some(Packing::Zstd));
    }
}
