use super::header::{LONG, Profile, RECORD_SEPARATOR, SHORT};
use super::stream::{TSDL_SIGNATURE, not_metadata};
use super::text::copy;
use super::{Form, PacketHeader, ParseOptions};
use crate::bytes::{Bytes, to_u64, to_usize};
use crate::ctf::element::{CONTENT, METADATA, PACKET_HEADER, PADDING};
use crate::error::{Error, ErrorKind, Finding, Result};

/// The result of a step of a [`Decoder`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Step<'d> {
    /// A packet begins. Its content follows.
    Packet(PacketHeader),
    /// The next part of the text; never empty.
    Content(&'d [u8]),
    /// All that was fed has been used. At least this many bytes must follow: 0 where the stream may end.
    NeedMore(u64),
}

/// A reader of a stream that arrives in pieces of any size, from a relay or a serial line.
///
/// It keeps one header (44 bytes) and hands out contents where they lie in what it was fed. Offsets count from the
/// first byte that it was fed.
///
/// ```
/// use traceglass::ctf::metadata::{Decoder, ParseOptions, Step};
///
/// # let packet = [b"\x57\x1d\xd1\x75", &[7; 20][..], &[0x40, 1, 0, 0, 0x40, 1, 0, 0, 0, 0, 0, 1, 8],
/// b"\x1e{}"].concat(); let mut decoder = Decoder::new(ParseOptions::STRICT);
/// let mut text = Vec::new();
/// for mut received in packet.chunks(5) {
///     loop {
///         match decoder.step(&mut received)? {
///             Step::Packet(header) => assert_eq!(header.content_bytes(), 3),
///             Step::Content(content) => text.extend_from_slice(content),
///             Step::NeedMore(_) => break,
///             _ => {}
///         }
///     }
/// }
/// assert_eq!(decoder.finish()?, None);
/// assert_eq!(text, b"\x1e{}");
/// # Ok::<(), traceglass::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Decoder {
    options: ParseOptions,
    state: State,
    profile: Option<Profile>,
    /// Offset of the next byte to be fed.
    offset: u64,
    /// The bytes of a header that were read.
    header: [u8; 44],
    /// The number of its bytes that are filled.
    filled: usize,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// The first byte tells the form.
    Start,
    /// As far as it was read, it is the signature of plain TSDL.
    Signature,
    Plain,
    Header,
    /// Content that was read together with a header; the bytes from `next` on follow the packet.
    Kept {
        from: usize,
        to: usize,
        next: usize,
        body: Body,
    },
    /// Content has been handed out.
    Used {
        next: usize,
        body: Body,
    },
    Body(Body),
    Failed(Error),
}

/// The rest of a packet.
#[derive(Clone, Copy, Debug)]
struct Body {
    /// Header bytes of which nothing is known.
    header: u64,
    content: u64,
    padding: u64,
    /// Offsets at which the content and the padding begin.
    content_offset: u64,
    padding_offset: u64,
}

impl Body {
    /// The number of bytes the packet needs at least, without its padding.
    const fn rest(&self) -> u64 {
        self.header.saturating_add(self.content)
    }
}

impl Decoder {
    /// A decoder that has seen nothing.
    pub const fn new(options: ParseOptions) -> Self {
        Self { options, state: State::Start, profile: None, offset: 0, header: [0; 44], filled: 0 }
    }

    /// The form, once it is known.
    pub fn form(&self) -> Option<Form> {
        match (&self.state, &self.profile) {
            (State::Plain, _) => Some(Form::Plain),
            (_, Some(profile)) => Some(Form::Packets(profile.order())),
            _ => None,
        }
    }

    /// Offset of the next byte to be fed.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The next step; takes what it used off the front of `input`.
    ///
    /// When it says [`Step::NeedMore`], `input` is empty. After an error it gives the same error always.
    ///
    /// # Errors
    /// The errors of [`MetadataStream::parse`](super::MetadataStream::parse).
    pub fn step<'s, 'd: 's>(&'s mut self, input: &mut &'d [u8]) -> Result<Step<'s>> {
        loop {
            match self.state {
                State::Failed(error) => return Err(error),
                State::Start => match input.first() {
                    None => return Ok(Step::NeedMore(1)),
                    Some(&RECORD_SEPARATOR) => self.state = State::Plain,
                    Some(first) if TSDL_SIGNATURE.first() == Some(first) => self.state = State::Signature,
                    Some(_) => self.state = State::Header,
                },
                State::Signature => {
                    let Some(expected) = TSDL_SIGNATURE.get(self.filled) else {
                        (self.state, self.filled) = (State::Plain, 0);
                        return Ok(Step::Content(TSDL_SIGNATURE));
                    };
                    match (input.first(), self.header.get_mut(self.filled)) {
                        (Some(found), Some(place)) if found == expected => {
                            *place = *found;
                            self.filled = self.filled.saturating_add(1);
                            self.take(input, 1);
                        }
                        (None, _) => {
                            let lacking = TSDL_SIGNATURE.len().saturating_sub(self.filled);
                            return Ok(Step::NeedMore(to_u64(lacking)));
                        }
                        _ => self.state = State::Header,
                    }
                }
                State::Plain => {
                    let all = self.take(input, u64::MAX);
                    return Ok(if all.is_empty() { Step::NeedMore(0) } else { Step::Content(all) });
                }
                State::Header => {
                    if let Some(header) = self.read_header(input)? {
                        return Ok(Step::Packet(header));
                    }
                    if input.is_empty() {
                        return Ok(Step::NeedMore(self.header_needs(self.filled)));
                    }
                }
                State::Kept { from, to, next, body } => {
                    self.state = State::Used { next, body };
                    if from < to {
                        return Ok(Step::Content(self.header.get(from..to).unwrap_or_default()));
                    }
                }
                State::Used { next, body } => {
                    self.filled = self.filled.saturating_sub(next);
                    for n in 0..self.filled {
                        let byte = self.header.get(next.saturating_add(n)).copied();
                        if let (Some(to), Some(byte)) = (self.header.get_mut(n), byte) {
                            *to = byte;
                        }
                    }
                    self.state = State::Body(body);
                }
                State::Body(body) if body.header > 0 => {
                    let Some(header) = self.skip(input, body.header) else {
                        return Ok(Step::NeedMore(body.rest()));
                    };
                    self.state = State::Body(Body { header, ..body });
                }
                State::Body(body) if body.content > 0 => {
                    let part = self.take(input, body.content);
                    if part.is_empty() {
                        return Ok(Step::NeedMore(body.content));
                    }
                    let content = body.content.saturating_sub(to_u64(part.len()));
                    self.state = State::Body(Body { content, ..body });
                    return Ok(Step::Content(part));
                }
                State::Body(body) if body.padding > 0 => {
                    let Some(padding) = self.skip(input, body.padding) else {
                        return Ok(Step::NeedMore(body.padding));
                    };
                    self.state = State::Body(Body { padding, ..body });
                }
                State::Body(_) => self.state = State::Header,
            }
        }
    }

    /// Says that no more will come.
    ///
    /// The finding, a warning, is that padding of the last packet is missing.
    ///
    /// # Errors
    /// [`UnexpectedEnd`](ErrorKind::UnexpectedEnd) if the stream ends inside a header or a content, or is empty; the
    /// error that [`step`](Self::step) returned before.
    pub fn finish(&self) -> Result<Option<Finding>> {
        let end = |offset, element, needed| Error::new(offset, element, ErrorKind::UnexpectedEnd { needed });
        match self.state {
            State::Failed(error) => Err(error),
            State::Start => Err(not_metadata(&[])),
            State::Signature if self.filled < TSDL_SIGNATURE.len() => Err(not_metadata(self.seen())),
            // Too little to tell the form.
            State::Header if self.profile.is_none() && Form::detect(self.seen()).is_none() => {
                Err(not_metadata(self.seen()))
            }
            State::Plain | State::Signature => Ok(None),
            State::Kept { body, .. } | State::Used { body, .. } | State::Body(body) if body.rest() > 0 => {
                let offset = body.content_offset.min(self.offset);
                Err(end(offset, CONTENT, body.rest()))
            }
            State::Kept { body, .. } | State::Used { body, .. } | State::Body(body) if body.padding > 0 => {
                Ok(Some(Finding::warning(end(body.padding_offset, PADDING, body.padding))))
            }
            // Bytes that were read with a header and follow its packet belong to the next one.
            State::Kept { next, .. } | State::Used { next, .. } => {
                self.finish_header(self.filled.saturating_sub(next))
            }
            State::Header | State::Body(_) => self.finish_header(self.filled),
        }
    }

    /// The end of a stream when `filled` bytes of a header have been read.
    fn finish_header(&self, filled: usize) -> Result<Option<Finding>> {
        let offset = self.offset.saturating_sub(to_u64(filled));
        match self.header_needs(filled) {
            0 => Ok(None),
            needed => Err(Error::new(offset, PACKET_HEADER, ErrorKind::UnexpectedEnd { needed })),
        }
    }

    /// Skips bytes; how many of `max` are left to be skipped, or `None` if there were none.
    fn skip(&mut self, input: &mut &[u8], max: u64) -> Option<u64> {
        let skipped = self.take(input, max);
        (!skipped.is_empty()).then(|| max.saturating_sub(to_u64(skipped.len())))
    }

    /// Up to `max` bytes off the front of `input`.
    fn take<'d>(&mut self, input: &mut &'d [u8], max: u64) -> &'d [u8] {
        let n = usize::try_from(max).unwrap_or(usize::MAX).min(input.len());
        let (front, rest) = input.split_at_checked(n).unwrap_or((input, &[]));
        *input = rest;
        self.offset = self.offset.saturating_add(to_u64(front.len()));
        front
    }

    /// The bytes of the header that have been read.
    fn seen(&self) -> &[u8] {
        self.header.get(..self.filled).unwrap_or_default()
    }

    /// The size of a header of which `filled` bytes have been read, as far as the first 37 tell.
    ///
    /// One of 37 bytes that claims version 2 is read as soon as these are there.
    fn header_size(&self, filled: usize) -> u32 {
        if filled >= to_usize(SHORT) && self.header[35] == 2 { LONG } else { SHORT }
    }

    /// The number of bytes a header lacks at least.
    fn header_needs(&self, filled: usize) -> u64 {
        // Between two packets the stream may end.
        if filled == 0 { 0 } else { u64::from(self.header_size(filled)).saturating_sub(to_u64(filled)) }
    }

    /// Adds to the header, and reads it when it is complete.
    fn read_header(&mut self, input: &mut &[u8]) -> Result<Option<PacketHeader>> {
        let size = to_usize(self.header_size(self.filled));
        let lacking = size.saturating_sub(self.filled);
        let part = self.take(input, to_u64(lacking));
        if let Some(target) = self.header.get_mut(self.filled..).and_then(|free| free.get_mut(..part.len())) {
            copy(target, part);
        }
        self.filled = self.filled.saturating_add(part.len());
        let start = self.offset.saturating_sub(to_u64(self.filled));
        let seen = self.seen();
        if start == 0 && seen.len() >= 4 && Form::detect(seen).is_none() {
            return Err(self.fail(Error::new(0, METADATA, ErrorKind::bad_magic(seen.iter().take(4)))));
        }
        // 37 bytes may be all, or tell that 44 are not worth waiting for.
        if self.filled != to_usize(SHORT) && self.filled != to_usize(LONG) {
            return Ok(None);
        }
        let bytes = Bytes::at(seen, start);
        let read = match &self.profile {
            Some(profile) => PacketHeader::next(bytes, profile),
            None => PacketHeader::first(bytes, self.options).map(|(header, profile)| {
                self.profile = Some(profile);
                header
            }),
        };
        match read {
            Ok(header) => {
                self.begin(&header);
                Ok(Some(header))
            }
            Err(error) if error.is_truncation() => Ok(None),
            Err(error) => Err(self.fail(error)),
        }
    }

    /// Begins the packet after its header. Only where a header of 37 bytes claims version 2, bytes of it have been
    /// read already, and perhaps some of the next header.
    fn begin(&mut self, header: &PacketHeader) {
        let part = |from: usize, size: u32| from.saturating_add(to_usize(size)).min(self.filled);
        let from = part(0, header.header_bytes());
        let to = part(from, header.content_bytes());
        let next = part(to, header.padding_bytes());
        let lacks = |from: usize, to: usize, size: u32| {
            u64::from(size).saturating_sub(to_u64(to.saturating_sub(from)))
        };
        let body = Body {
            header: lacks(0, from, header.header_bytes()),
            content: lacks(from, to, header.content_bytes()),
            padding: lacks(to, next, header.padding_bytes()),
            content_offset: header.offset().saturating_add(header.header_bytes().into()),
            padding_offset: header.offset().saturating_add(header.content_size().bytes().into()),
        };
        self.state = State::Kept { from, to, next, body };
    }

    #[cold]
    fn fail(&mut self, error: Error) -> Error {
        self.state = State::Failed(error);
        error
    }
}
