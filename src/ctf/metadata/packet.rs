use super::PacketHeader;
use super::header::{MAGIC_NUMBER, Profile, at};
use crate::bytes::{Bytes, to_u64, to_usize};
use crate::ctf::element::{CONTENT, PADDING};
use crate::error::{Error, ErrorKind, Result};
use crate::gap::Gap;
use core::iter::FusedIterator;

/// A metadata packet: its header, and its content as a borrowed slice.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    header: PacketHeader,
    content: Bytes<'a>,
    padding: Bytes<'a>,
}

impl<'a> Packet<'a> {
    /// The packet at the front of `input`, whose header has been read, and the input after it.
    pub(super) fn read(input: Bytes<'a>, header: PacketHeader, keeps_cut: bool) -> Result<(Self, Bytes<'a>)> {
        let size = to_usize(header.content_bytes());
        let body = input.split(to_usize(header.header_bytes())).map(|(_, body)| body);
        let size = if keeps_cut { size.min(body.map_or(0, |body| body.len())) } else { size };
        let Some((content, rest)) = body.and_then(|body| body.split(size)) else {
            return Err(cut_content(&header, input.end_offset()));
        };
        let padding = rest.len().min(to_usize(header.padding_bytes()));
        let (padding, rest) = rest.split(padding).unwrap_or((rest, rest));
        Ok((Self { header, content, padding }, rest))
    }

    /// The header.
    pub const fn header(&self) -> &PacketHeader {
        &self.header
    }

    /// Offset of the packet in the input.
    pub const fn offset(&self) -> u64 {
        self.header.offset()
    }

    /// The part of the text. A packet may end anywhere, even inside a UTF-8 sequence.
    pub const fn content(&self) -> &'a [u8] {
        self.content.as_slice()
    }

    /// Offset of its content in the input.
    pub const fn content_offset(&self) -> u64 {
        self.content.offset()
    }

    pub(super) const fn content_range(&self) -> Bytes<'a> {
        self.content
    }

    /// The padding after the content, as much of it as is there. It may hold anything.
    pub const fn padding(&self) -> &'a [u8] {
        self.padding.as_slice()
    }

    /// The number of bytes of padding that are missing, which is tolerated after the last packet.
    pub fn missing_padding(&self) -> u64 {
        u64::from(self.header.padding_bytes()).saturating_sub(to_u64(self.padding.len()))
    }

    /// The error of missing content, in a [stream that keeps it](super::MetadataStream::with_cut_content).
    ///
    /// # Errors
    /// [`UnexpectedEnd`](ErrorKind::UnexpectedEnd) if the input ends in it.
    pub fn check_content(&self) -> Result<()> {
        if to_u64(self.content.len()) < u64::from(self.header.content_bytes()) {
            return Err(cut_content(&self.header, self.content.end_offset()));
        }
        Ok(())
    }

    /// The oddities of a packet that is readable: a minor version that is not known, missing padding.
    pub(super) fn oddities(&self) -> impl Iterator<Item = Error> {
        let header = &self.header;
        let minor = (header.major() == 2 && header.minor() > 0).then(|| {
            let kind = ErrorKind::UnsupportedRevision { major: 2, minor: header.minor().into() };
            Error::new(header.offset().saturating_add(at::MAJOR), crate::ctf::element::VERSION, kind)
        });
        // A packet whose content is cut has no padding to be missing.
        let needed = if self.check_content().is_ok() { self.missing_padding() } else { 0 };
        let missing = (needed > 0).then(|| self.padding.error(PADDING, ErrorKind::UnexpectedEnd { needed }));
        minor.into_iter().chain(missing)
    }
}

/// The error that the input ends at `end`, before the content does.
#[cold]
pub(super) fn cut_content(header: &PacketHeader, end: u64) -> Error {
    let start = header.offset().saturating_add(header.header_bytes().into());
    let needed = start.saturating_add(header.content_bytes().into()).saturating_sub(end);
    Error::new(start.min(end), CONTENT, ErrorKind::UnexpectedEnd { needed })
}

/// The packets of a stream.
///
/// After an error it ends. [`Packets::recover`] looks for a packet after the damage.
#[derive(Clone, Debug)]
pub struct Packets<'a> {
    input: Bytes<'a>,
    profile: Option<Profile>,
    failed: bool,
}

impl<'a> Packets<'a> {
    /// The packets of `input`; none without a profile, as in plain text.
    pub(super) const fn new(input: Bytes<'a>, profile: Option<Profile>) -> Self {
        Self { input, profile, failed: false }
    }

    /// The next packet; `None` at the end, and after an error.
    ///
    /// # Errors
    /// The errors of [`MetadataStream::parse`](super::MetadataStream::parse) for each packet, and
    /// [`BadMagic`](ErrorKind::BadMagic), [`ByteOrderChanged`](ErrorKind::ByteOrderChanged) or
    /// [`UuidMismatch`](ErrorKind::UuidMismatch) where the packet does not belong to the stream.
    #[inline]
    pub fn next_packet(&mut self) -> Result<Option<Packet<'a>>> {
        let Some(profile) = &self.profile else { return Ok(None) };
        if self.failed || self.input.is_empty() {
            return Ok(None);
        }
        let packet = PacketHeader::next(self.input, profile)
            .and_then(|header| Packet::read(self.input, header, profile.keeps_cut()));
        match packet {
            Ok((packet, rest)) => {
                self.input = rest;
                Ok(Some(packet))
            }
            Err(error) => {
                self.failed = true;
                Err(error)
            }
        }
    }

    /// Offset of the next packet in the input, or of the one that could not be read.
    pub fn offset(&self) -> u64 {
        self.input.offset()
    }

    pub(super) const fn rest(&self) -> Bytes<'a> {
        self.input
    }

    pub(super) const fn profile(&self) -> Option<Profile> {
        self.profile
    }

    /// The content that is there of a packet that the end of the input cuts; `None` after any other fault.
    ///
    /// It is not part of the stream's text: the packet may have been cut by damage to its sizes as well.
    pub fn cut_content(&self) -> Option<&'a [u8]> {
        let profile = self.profile.as_ref().filter(|_| self.failed)?;
        // If the header can be read, only the content can have failed.
        let header = PacketHeader::next(self.input, profile).ok()?;
        self.input.as_slice().get(to_usize(header.header_bytes())..)
    }

    /// After an error, looks for the next packet of this stream, and says what was lost up to there.
    ///
    /// `None` if nothing failed, or if no packet follows, which ends the stream. A packet counts if it begins with the
    /// stream's magic and UUID and can be read. The text in between is lost, so that a fragment may lack its middle:
    /// that is why nothing recovers unless it is asked to.
    pub fn recover(&mut self) -> Option<Gap> {
        let profile = self.profile.filter(|_| self.failed)?;
        let start = self.input;
        // Reading it again tells why it failed.
        let cause = PacketHeader::next(start, &profile)
            .and_then(|header| Packet::read(start, header, profile.keeps_cut()))
            .err()?;
        let magic = profile.order().u32_bytes(MAGIC_NUMBER);
        while !self.input.is_empty() {
            self.input.advance(1);
            let data = self.input.as_slice();
            let at = memchr::memchr(magic[0], data).unwrap_or(data.len());
            self.input.advance(at);
            if !self.input.as_slice().starts_with(&magic) {
                continue;
            }
            let packet = PacketHeader::next(self.input, &profile)
                .and_then(|header| Packet::read(self.input, header, profile.keeps_cut()));
            if packet.is_ok() {
                self.failed = false;
                return Some(Gap::new(start.offset(), self.offset().saturating_sub(start.offset()), cause));
            }
        }
        None
    }
}

impl<'a> Iterator for Packets<'a> {
    type Item = Result<Packet<'a>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.next_packet().transpose()
    }
}

impl FusedIterator for Packets<'_> {}
