//! Memory traces: what a driver did with GPU memory, as a stream of tokens.
//!
//! A file has one stream for the kernel, one for the process and one for names; a stream may be cut into chunks
//! anywhere, inside a token, too. [`join`] puts the chunks of a stream together in lent storage.

mod names;
mod progress;
mod tell;
mod tokens;
mod value;
mod window;

pub use names::{
    AllocationHeap, Commit, MiscEvent, Owner, PageSize, PageUpdate, ProcessChange, ResourceType, TokenKind,
    UserDataKind,
};
pub use progress::{Progress, TokenOrder};
pub use tell::TokenRecord;
pub use tokens::{Token, Tokens};
pub use value::{Image, ResourceDetail, TokenValue, UserData};

use super::api::supported;
use super::element;
use super::layout::layout;
use crate::bytes::{Bytes, to_u64};
use crate::error::{Error, ErrorKind, Finding, Result, Severity};
use crate::rdf::Chunk;

layout! {
    /// The header of an `RmtData` chunk.
    pub struct RmtFields, RawRmt: 24 {
        /// The process; 0 for the kernel and for names.
        process: u32,
        /// The thread.
        thread: u32,
        /// Size of the data in bytes.
        size: u64 [None "B"],
        /// Number of the stream.
        stream: u32,
        /// Major version of the tokens.
        major: u16,
        /// Minor version of the tokens.
        minor: u16,
    }
}

/// A piece of a memory trace: chunk `RmtData`, version 1.
///
/// # Layout
/// Header: [`RmtFields`]. Data: [tokens](Tokens), the last of which may continue in the next chunk of the stream.
#[derive(Clone, Copy, Debug)]
pub struct RmtData<'a> {
    fields: RmtFields<'a>,
    data: &'a [u8],
}

/// The stream that a chunk is a piece of, as its header tells: its data need not be readable.
#[derive(Clone, Copy, Debug)]
pub enum PieceOf<'a> {
    /// The one that the header names.
    Stream(RmtFields<'a>),
    /// It may be any: it is a chunk of tokens whose header cannot be read.
    Any,
    /// None: it holds no tokens, or is of a version that is not known.
    None,
}

impl<'a> PieceOf<'a> {
    /// Looks at a chunk.
    pub fn of(chunk: &Chunk<'a>) -> Self {
        let entry = chunk.entry();
        if entry.identifier().name() != b"RmtData" {
            return Self::None;
        }
        match chunk.header().and_then(|header| RmtData::parse(entry.version(), header, &[])) {
            Ok(rmt) => Self::Stream(rmt.fields),
            Err(error) if matches!(error.kind(), ErrorKind::UnsupportedVersion { .. }) => Self::None,
            Err(_) => Self::Any,
        }
    }

    /// The header, if it names a stream.
    pub fn fields(self) -> Option<RmtFields<'a>> {
        match self {
            Self::Stream(fields) => Some(fields),
            _ => None,
        }
    }
}

impl<'a> RmtData<'a> {
    pub(super) fn parse(version: u32, header: &'a [u8], data: &'a [u8]) -> Result<Self> {
        supported(version, 1..=1)?;
        let fields = RmtFields::new(Bytes::new(header).view(element::RMT_HEADER)?);
        Ok(Self { fields, data })
    }

    /// The header.
    pub const fn fields(&self) -> RmtFields<'a> {
        self.fields
    }

    /// The tokens' bytes.
    pub const fn data(&self) -> &'a [u8] {
        self.data
    }

    /// The stream, where it is this one chunk.
    pub fn stream(&self) -> Stream<'a> {
        Stream::new(self.fields, self.data)
    }

    /// The tokens, where the stream is this one chunk.
    pub fn tokens(&self) -> Tokens<'a> {
        self.stream().tokens()
    }

    pub(super) fn check(&self, report: &mut dyn FnMut(Finding)) {
        let (stated, found) = (self.fields.size(), to_u64(self.data.len()));
        if stated != found {
            let kind = ErrorKind::SizeMismatch { stated, found };
            report(Finding::warning(Error::new(8, element::RMT_HEADER, kind)));
        }
    }
}

/// A stream of tokens, joined from its chunks.
#[derive(Clone, Copy)]
pub struct Stream<'a> {
    process: u32,
    number: u32,
    version: (u16, u16),
    data: &'a [u8],
}

impl<'a> Stream<'a> {
    /// The stream of `data`, with the header of its first chunk.
    pub fn new(fields: RmtFields<'_>, data: &'a [u8]) -> Self {
        Self {
            process: fields.process(),
            number: fields.stream(),
            version: (fields.major(), fields.minor()),
            data,
        }
    }

    /// A stream of the process, with tokens of that version; for containers other than RDF.
    pub const fn from_parts(process: u32, number: u32, version: (u16, u16), data: &'a [u8]) -> Self {
        Self { process, number, version, data }
    }

    /// The process; 0 for the kernel and for names.
    pub const fn process(&self) -> u32 {
        self.process
    }

    /// Number of the stream.
    pub const fn number(&self) -> u32 {
        self.number
    }

    /// Version of the tokens, major and minor.
    pub const fn version(&self) -> (u16, u16) {
        self.version
    }

    /// The tokens' bytes.
    pub const fn data(&self) -> &'a [u8] {
        self.data
    }

    /// The tokens.
    pub fn tokens(&self) -> Tokens<'a> {
        Tokens::new(self.data, self.version)
    }

    /// Reads all tokens and reports what is wrong.
    pub fn check(&self, report: &mut dyn FnMut(Finding)) {
        let mut order = TokenOrder::default();
        for token in self.tokens() {
            match token {
                Ok(token) => {
                    let odd = order.check(&TokenRecord::new(token, self.number, 0));
                    odd.into_iter().for_each(&mut *report);
                }
                Err(error) => report(Finding::new(Severity::Error, error)),
            }
        }
    }
}

impl core::fmt::Debug for Stream<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Stream")
            .field("process", &self.process)
            .field("number", &self.number)
            .field("version", &self.version)
            .field("len", &self.data.len())
            .finish()
    }
}

/// Puts the chunks of a stream together in `storage`, in the order given.
///
/// # Errors
/// [`CapacityExceeded`](ErrorKind::CapacityExceeded) with the size needed.
pub fn join<'a, 's>(
    chunks: impl Iterator<Item = RmtData<'a>> + Clone,
    storage: &'s mut [u8],
) -> Result<Option<Stream<'s>>> {
    let capacity = to_u64(storage.len());
    let needed = chunks.clone().fold(0_u64, |sum, chunk| sum.saturating_add(to_u64(chunk.data.len())));
    let too_small = Error::new(0, element::STREAM_STORAGE, ErrorKind::CapacityExceeded { capacity, needed });
    let mut first = None;
    let mut written = 0_usize;
    for chunk in chunks {
        first = first.or(Some(chunk.fields));
        let end = written.saturating_add(chunk.data.len());
        let Some(to) = storage.get_mut(written..end) else { return Err(too_small) };
        for (to, from) in to.iter_mut().zip(chunk.data) {
            *to = *from;
        }
        written = end;
    }
    let data = storage.get(..written).unwrap_or_default();
    Ok(first.map(|fields| Stream::new(fields, data)))
}

#[cfg(test)]
pub(in crate::rdf::contents) mod tests {
    /// Random numbers.
    pub(in crate::rdf::contents) fn random() -> impl FnMut() -> u64 {
        let mut seed = 0x2545_f491_4f6c_dd1d_u64;
        move || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8
        }
    }
}
