//! Lines and columns, for people who look at the text in an editor.

use crate::ctf::metadata::{MetadataStream, Text};
use crate::json::Source;

/// The place of an offset in the text.
#[derive(Clone, Copy, Debug)]
pub struct Position<'a> {
    /// The line, from 1.
    pub line: u64,
    /// The byte in its line, from 1.
    pub column: u64,
    /// The line itself, without its end. It may lie in several metadata packets.
    pub text: Text<'a>,
}

/// The place in the text of `offset`, a byte of the metadata file such as an [error](crate::Error::offset) has.
///
/// An offset between two packets is that of the byte before it, and one after the text that of its end.
///
/// ```
/// use traceglass::ctf::metadata::MetadataStream;
/// use traceglass::ctf::schema::tsdl::position;
///
/// let stream = MetadataStream::parse(b"/* CTF 1.8 */\ntrace { major = 2; };")?;
/// let at = position(stream, 30);
/// assert_eq!((at.line, at.column, at.text.borrowed()), (2, 17, Some(&b"trace { major = 2; };"[..])));
/// # Ok::<(), traceglass::Error>(())
/// ```
pub fn position(stream: MetadataStream<'_>, offset: u64) -> Position<'_> {
    let (text, _) = stream.text_until_error();
    let mut ahead = text;
    let mut start = text;
    let (mut line, mut column) = (1_u64, 1_u64);
    'pieces: while !ahead.is_empty() {
        let piece = ahead.front();
        for byte in piece {
            if ahead.offset() >= offset {
                break 'pieces;
            }
            ahead.advance(1);
            if *byte == b'\n' {
                line = line.saturating_add(1);
                column = 1;
                start = ahead;
            } else {
                column = column.saturating_add(1);
            }
        }
    }
    let mut end = start;
    let mut len = 0_u64;
    let mut last = b'\n';
    while let Some(byte) = end.front().first().copied().filter(|byte| *byte != b'\n') {
        end.advance(1);
        len = len.saturating_add(1);
        last = byte;
    }
    if last == b'\r' {
        len = len.saturating_sub(1);
    }
    Position { line, column, text: start.limited(len) }
}
