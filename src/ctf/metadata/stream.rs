use super::header::{Profile, RECORD_SEPARATOR, SHORT};
use super::pieces::Pieces;
use super::text::Place;
use super::{ByteOrder, Fragments, PacketHeader, Packets, ParseOptions, Text, Uuid};
use crate::bytes::{Bytes, to_u64};
use crate::ctf::element::{METADATA, PACKET_HEADER};
use crate::error::{Error, ErrorKind, Result};
use crate::json::Source;

/// The first bytes of TSDL.
pub(super) const TSDL_SIGNATURE: &[u8] = b"/* CTF 1.8";

/// The wrapping of a metadata stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Form {
    /// Not at all: a JSON text sequence, or TSDL.
    Plain,
    /// In packets whose integers have this byte order.
    Packets(ByteOrder),
}

impl Form {
    /// The form that the first bytes of `data` tell; `None` if they are those of something else, or fewer than four
    /// of a packet.
    pub fn detect(data: &[u8]) -> Option<Self> {
        match data {
            [RECORD_SEPARATOR, ..] => Some(Self::Plain),
            _ => data.first_chunk().copied().and_then(super::header::order_of_magic).map(Self::Packets),
        }
    }
}

/// True if `data` is metadata of CTF 1.8: in packets of that version, or with the signature of its language.
pub(crate) fn detect_tsdl(data: &[u8]) -> bool {
    data.starts_with(TSDL_SIGNATURE)
        || MetadataStream::parse(data).is_ok_and(|stream| {
            // A first packet that is cut may hold either language.
            let content = stream.packets().next().is_some_and(|packet| packet.is_ok());
            content && stream.language() == Language::Tsdl
        })
}

/// True if `data` is metadata without doubt: plain text goes on with an object after its 0x1E.
pub(crate) fn detect(data: &[u8]) -> bool {
    match Form::detect(data) {
        Some(Form::Packets(_)) => true,
        Some(Form::Plain) => {
            data.iter().find(|byte| !matches!(**byte, RECORD_SEPARATOR | b' ' | b'\t' | b'\n' | b'\r'))
                == Some(&b'{')
        }
        None => false,
    }
}

/// The language of a metadata text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Language {
    /// A sequence of JSON fragments, as in CTF 2.
    Json,
    /// The Trace Stream Description Language of CTF 1.8.
    Tsdl,
}

/// A metadata stream: a whole file, or all that a relay has sent.
#[derive(Clone, Copy, Debug)]
pub struct MetadataStream<'a> {
    input: Bytes<'a>,
    /// The first packet, unless it is plain.
    first: Option<(PacketHeader, Profile)>,
    /// True if it begins after damage: with the rest of a fragment, and without a preamble.
    resumed: bool,
}

impl<'a> MetadataStream<'a> {
    /// Text without packets, whatever it begins with.
    pub(in crate::ctf) const fn plain(text: &'a [u8]) -> Self {
        Self { input: Bytes::new(text), first: None, resumed: false }
    }

    /// The whole input.
    pub(in crate::ctf) const fn input(&self) -> &'a [u8] {
        self.input.as_slice()
    }

    /// A stream of any form; with packets, the header of the first one is read.
    ///
    /// # Errors
    /// Of the first header here, and of each later one when it is reached; the rules in this order:
    ///
    /// | kind | element |
    /// |---|---|
    /// | [`BadMagic`](crate::ErrorKind::BadMagic) | [`METADATA`], or [`MAGIC`](crate::ctf::element::MAGIC) after the
    /// first packet |
    /// | [`UnexpectedEnd`](crate::ErrorKind::UnexpectedEnd) | [`PACKET_HEADER`]: 37 bytes |
    /// | [`ByteOrderChanged`](crate::ErrorKind::ByteOrderChanged) | [`MAGIC`](crate::ctf::element::MAGIC) |
    /// | [`Unsupported`](crate::ErrorKind::Unsupported) |
    /// [`COMPRESSION_SCHEME`](crate::ctf::element::COMPRESSION_SCHEME),
    /// [`ENCRYPTION_SCHEME`](crate::ctf::element::ENCRYPTION_SCHEME),
    /// [`CHECKSUM_SCHEME`](crate::ctf::element::CHECKSUM_SCHEME) |
    /// | [`UnsupportedRevision`](crate::ErrorKind::UnsupportedRevision) | [`VERSION`](crate::ctf::element::VERSION) |
    /// | [`UnexpectedEnd`](crate::ErrorKind::UnexpectedEnd) | [`PACKET_HEADER`]: 44 bytes in version 2 |
    /// | [`UnderLimit`](crate::ErrorKind::UnderLimit), [`NotMultiple`](crate::ErrorKind::NotMultiple),
    /// [`OverLimit`](crate::ErrorKind::OverLimit) | [`HEADER_SIZE`](crate::ctf::element::HEADER_SIZE) |
    /// | [`NotMultiple`](crate::ErrorKind::NotMultiple) | [`CONTENT_SIZE`](crate::ctf::element::CONTENT_SIZE),
    /// [`TOTAL_SIZE`](crate::ctf::element::TOTAL_SIZE) |
    /// | [`UnderLimit`](crate::ErrorKind::UnderLimit), [`OverLimit`](crate::ErrorKind::OverLimit) |
    /// [`CONTENT_SIZE`](crate::ctf::element::CONTENT_SIZE) |
    /// | [`UuidMismatch`](crate::ErrorKind::UuidMismatch) | [`UUID`](crate::ctf::element::UUID) |
    /// | [`UnexpectedEnd`](crate::ErrorKind::UnexpectedEnd) | [`CONTENT`](crate::ctf::element::CONTENT), when the
    /// packet is reached |
    pub fn parse(data: &'a [u8]) -> Result<Self> {
        Self::parse_with(data, ParseOptions::STRICT)
    }

    /// As [`Self::parse`], with a choice of what is tolerated.
    pub fn parse_with(data: &'a [u8], options: ParseOptions) -> Result<Self> {
        let input = Bytes::new(data);
        match Form::detect(data) {
            Some(Form::Plain) => Ok(Self { input, first: None, resumed: false }),
            Some(Form::Packets(_)) => PacketHeader::first(input, options).map(|first| Self {
                input,
                first: Some(first),
                resumed: false,
            }),
            None if data.starts_with(TSDL_SIGNATURE) => Ok(Self { input, first: None, resumed: false }),
            None => Err(not_metadata(data)),
        }
    }

    /// The stream with what is there of a packet whose content the input cuts, as that of a file that is being written.
    ///
    /// Without it such a packet is an error, and no part of the text. With it [`Packet::check_content`] gives that
    /// error, and [`check`](Self::check) reports it.
    ///
    /// [`Packet::check_content`]: super::Packet::check_content
    #[must_use]
    pub fn with_cut_content(self) -> Self {
        Self { first: self.first.map(|(header, profile)| (header, profile.with_cut())), ..self }
    }

    /// The stream from the packet at `offset` on, which [`Packets::recover`](super::Packets::recover) has found; `None`
    /// if none begins there.
    ///
    /// Its first fragment may be the rest of one whose beginning is lost: [`Fragment::is_separated`] tells. Its text
    /// goes up to the next packet that cannot be read.
    ///
    /// [`Fragment::is_separated`]: super::Fragment::is_separated
    pub fn resumed_at(&self, offset: u64) -> Option<Self> {
        let (_, profile) = self.first?;
        let mut input = self.input;
        input.advance(usize::try_from(offset.checked_sub(input.offset())?).ok()?);
        let header = PacketHeader::next(input, &profile).ok()?;
        Some(Self { input, first: Some((header, profile)), resumed: true })
    }

    /// True if it begins after damage.
    pub(super) const fn is_resumed(&self) -> bool {
        self.resumed
    }

    /// A stream of any form; what begins neither as packets nor as JSON is taken for TSDL text.
    ///
    /// The signature `/* CTF 1.8 */` may be missing in plain text, so that nothing tells what it is. This is for a file
    /// of which that is known, such as one named `metadata`.
    ///
    /// # Errors
    ///
    /// As [`Self::parse`]; never [`BadMagic`](crate::ErrorKind::BadMagic) with [`METADATA`].
    pub fn parse_text(data: &'a [u8]) -> Result<Self> {
        Self::parse_text_with(data, ParseOptions::STRICT)
    }

    /// As [`Self::parse_text`], with a choice of what is tolerated.
    pub fn parse_text_with(data: &'a [u8], options: ParseOptions) -> Result<Self> {
        match Form::detect(data) {
            Some(_) => Self::parse_with(data, options),
            None => Ok(Self { input: Bytes::new(data), first: None, resumed: false }),
        }
    }

    /// The form.
    pub fn form(&self) -> Form {
        match &self.first {
            None => Form::Plain,
            Some((header, _)) => Form::Packets(header.byte_order()),
        }
    }

    /// The header of the first packet; `None` if there are no packets.
    pub fn first_header(&self) -> Option<&PacketHeader> {
        self.first.as_ref().map(|(header, _)| header)
    }

    /// The UUID that all packets have; `None` if there are no packets.
    pub fn uuid(&self) -> Option<Uuid> {
        self.first.map(|(header, _)| header.uuid())
    }

    /// The packets; none if it is plain.
    pub fn packets(&self) -> Packets<'a> {
        let profile = self.first.map(|(_, profile)| profile);
        Packets::new(self.input, profile)
    }

    /// The contents, piece by piece: one for each packet that has any, or all if it is plain.
    pub fn pieces(&self) -> Pieces<'a> {
        let plain = if self.first.is_none() { self.input } else { Bytes::at(&[], 0) };
        Pieces::new(plain, self.packets())
    }

    /// The whole text.
    ///
    /// # Errors
    /// The error of the first packet that cannot be read.
    pub fn text(&self) -> Result<Text<'a>> {
        match self.text_until_error() {
            (text, None) => Ok(text),
            (_, Some(error)) => Err(error),
        }
    }

    /// The text at a place that a text of this stream gave.
    pub(crate) fn text_of(&self, place: Place) -> Text<'a> {
        Text::at(self.input, self.first.map(|(_, profile)| profile), place)
    }

    /// The text up to the first packet that cannot be read, and why it cannot.
    ///
    /// The headers are read once; no text is.
    pub fn text_until_error(&self) -> (Text<'a>, Option<Error>) {
        let mut packets = self.packets();
        if self.first.is_none() {
            return (Text::new(self.input, &packets, to_u64(self.input.len())), None);
        }
        let mut len = 0_u64;
        let error = loop {
            match packets.next_packet() {
                Ok(Some(packet)) => len = len.saturating_add(to_u64(packet.content().len())),
                Ok(None) => break None,
                Err(error) => break Some(error),
            }
        };
        (Text::new(Bytes::at(&[], 0), &self.packets(), len), error)
    }

    /// `len` bytes of the text from `offset` in the input, which lies in a content; less where there are fewer.
    ///
    /// Only a range that `crosses` packets needs to know where those are.
    pub(in crate::ctf) fn text_at(&self, offset: u64, len: u64, crosses: bool) -> Text<'a> {
        let mut packets = self.packets();
        if !crosses || self.first.is_none() {
            let piece = self.input.range(offset, len).unwrap_or(Bytes::at(&[], offset));
            return Text::from_piece(piece);
        }
        while let Ok(Some(packet)) = packets.next_packet() {
            let content = packet.content_range();
            if (content.offset()..content.end_offset()).contains(&offset) {
                let piece = content.range(offset, content.end_offset().saturating_sub(offset));
                return Text::new(piece.unwrap_or(Bytes::at(&[], offset)), &packets, len);
            }
        }
        Text::from_piece(Bytes::at(&[], offset))
    }

    /// The byte at `offset` in the input; 0 if there is none.
    pub(in crate::ctf) fn byte_at(&self, offset: u64) -> u8 {
        self.text_at(offset, 1, false).front().first().copied().unwrap_or(0)
    }

    /// The fragment that begins at `offset`; an empty one if the text ends there.
    pub(in crate::ctf) fn text_from(&self, offset: u64) -> Text<'a> {
        self.text_at(offset, self.input.end_offset().saturating_sub(offset), self.first.is_some())
    }

    /// The language of the text.
    ///
    /// Packets of version 1.8 and plain text leave a choice: it is JSON if its first byte is 0x1E.
    pub fn language(&self) -> Language {
        match self.first_header() {
            Some(header) if header.major() == 1 => match self.pieces().next() {
                Some(Ok([RECORD_SEPARATOR, ..])) => Language::Json,
                _ => Language::Tsdl,
            },
            None if self.input.as_slice().first() != Some(&RECORD_SEPARATOR) => Language::Tsdl,
            _ => Language::Json,
        }
    }

    /// True if the text begins as the TSDL of CTF 1.8 does: `/* CTF 1.8`.
    pub fn has_tsdl_signature(&self) -> bool {
        self.text_until_error().0.starts_with(TSDL_SIGNATURE)
    }

    /// The fragments of the text; none if it is TSDL.
    pub fn fragments(&self) -> Fragments<'a> {
        match self.language() {
            Language::Json => Fragments::new(self.pieces()),
            Language::Tsdl => Fragments::none(self.pieces()),
        }
    }
}

/// The error for data that does not begin as metadata does.
#[cold]
pub(super) fn not_metadata(data: &[u8]) -> Error {
    let input = Bytes::new(data);
    let begins = |order: ByteOrder| order.u32_bytes(super::MAGIC_NUMBER).starts_with(data);
    if data.is_empty() {
        input.truncated(METADATA, 1)
    } else if begins(ByteOrder::Little) || begins(ByteOrder::Big) {
        input.truncated(PACKET_HEADER, SHORT.into())
    } else {
        input.error(METADATA, ErrorKind::bad_magic(data.iter().take(4)))
    }
}
