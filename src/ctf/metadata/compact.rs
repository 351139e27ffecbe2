use super::header::Profile;
use super::packet::cut_content;
use super::{Form, MetadataStream, PacketHeader, ParseOptions};
use crate::bytes::{Bytes, to_usize};
use crate::error::{Error, Result};

/// The text of a stream in the buffer that held its packets.
#[derive(Debug)]
pub struct Compacted<'a> {
    text: &'a mut [u8],
    error: Option<Error>,
}

impl<'a> Compacted<'a> {
    /// The text, up to the error if there is one.
    pub const fn text(&self) -> &[u8] {
        &*self.text
    }

    /// The text, for as long as the buffer lives.
    pub const fn into_text(self) -> &'a mut [u8] {
        self.text
    }

    /// Why the packet after this text could not be read; its offset is that in the packets.
    pub const fn error(&self) -> Option<Error> {
        self.error
    }
}

/// Takes headers and padding out of a stream, in place: what is left is its text.
///
/// Nothing is moved where the stream is plain or its text lies in one packet.
///
/// # Errors
/// The errors of [`MetadataStream::parse`] for the first header; of a later packet, see [`Compacted::error`].
///
/// ```
/// # let mut file = [b"\x57\x1d\xd1\x75", &[7; 20][..], &[0x40, 1, 0, 0, 0x40, 1, 0, 0, 0, 0, 0, 1, 8], b"\x1e{}"].concat();
/// use traceglass::ctf::metadata::{ParseOptions, compact};
///
/// let compacted = compact(&mut file, ParseOptions::STRICT)?;
/// assert_eq!(compacted.error(), None);
/// assert_eq!(compacted.text(), b"\x1e{}");
/// # Ok::<(), traceglass::Error>(())
/// ```
pub fn compact(data: &mut [u8], options: ParseOptions) -> Result<Compacted<'_>> {
    let stream = MetadataStream::parse_with(data, options)?;
    let profile = match (stream.form(), stream.packets().profile()) {
        (Form::Packets(_), Some(profile)) => profile,
        _ => return Ok(Compacted { text: data, error: None }),
    };
    let (range, error) = gather(data, &profile);
    Ok(Compacted { text: data.get_mut(range).unwrap_or_default(), error })
}

/// Moves all contents after the first one, and says where they are together.
#[allow(clippy::arithmetic_side_effects)] // Sums of positions that have been checked to lie in `data`.
fn gather(data: &mut [u8], profile: &Profile) -> (core::ops::Range<usize>, Option<Error>) {
    let mut text = 0..0;
    let mut at = 0_usize;
    // Headers are read before anything is moved over them: the text ends at or before the packet that is read.
    while let Some(rest) = data.get(at..).filter(|rest| !rest.is_empty()) {
        let input = Bytes::at(rest, crate::bytes::to_u64(at));
        let header = match PacketHeader::next(input, profile) {
            Ok(header) => header,
            Err(error) => return (text, Some(error)),
        };
        let content = to_usize(header.content_bytes());
        let skip = to_usize(header.header_bytes());
        if rest.get(skip..).is_none_or(|body| body.len() < content) {
            return (text, Some(cut_content(&header, input.end_offset())));
        }
        let start = at + skip;
        if text.is_empty() {
            text = start..start;
        }
        let gap = start - text.end;
        if let Some(window) = data.get_mut(text.end..start + content)
            && (1..=window.len()).contains(&gap)
        {
            window.copy_within(gap.., 0);
        }
        text.end += content;
        at = at.saturating_add(to_usize(header.total_bytes())).min(data.len());
    }
    (text, None)
}
