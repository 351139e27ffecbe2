//! Payloads: samples and annotations.

use crate::byte_order::ByteOrder;
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use crate::rtc::element::PAYLOAD;
use crate::rtc::time::{parts, to_f64};
use crate::rtc::{Decimal, Format, Order, Time};
use core::fmt;
use core::iter::FusedIterator;

/// The byte order that a platform frame's payload states; `None` if it is something else.
pub(super) const fn platform_byte_order(payload: &[u8]) -> Option<ByteOrder> {
    match payload {
        [4, 3, 2, 1, ..] => Some(ByteOrder::Little),
        [1, 2, 3, 4, ..] => Some(ByteOrder::Big),
        _ => None,
    }
}

/// A sample of a payload as it was written: without gain and offset.
#[derive(Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Sample<'a> {
    /// An unsigned integer.
    Unsigned(u64),
    /// A signed integer.
    Signed(i64),
    /// A floating-point number of 32 bits.
    Float32(f32),
    /// A floating-point number of 64 bits.
    Float64(f64),
    /// Seconds and nanoseconds.
    Timespec(u64, u32),
    /// Text: of format `utf-8`.
    Text(&'a str),
    /// JSON text.
    Json(&'a str),
    /// Bytes: of format `raw`, of one that is not known, or those that are not what their format says.
    Bytes(&'a [u8]),
}

impl fmt::Debug for Sample<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Unsigned(value) => write!(f, "{value}"),
            Self::Signed(value) => write!(f, "{value}"),
            Self::Float32(value) => write!(f, "{value}"),
            Self::Float64(value) => write!(f, "{value}"),
            Self::Timespec(seconds, nanoseconds) => write!(f, "{seconds} s + {nanoseconds} ns"),
            Self::Text(text) => write!(f, "{} bytes of text", text.len()),
            Self::Json(text) => write!(f, "{} bytes of JSON", text.len()),
            Self::Bytes(bytes) => write!(f, "{} bytes", bytes.len()),
        }
    }
}

impl Sample<'_> {
    /// The number as an `f64`, times `gain` plus `offset`; `None` for text and bytes.
    pub fn scaled(&self, gain: Option<Decimal>, offset: Option<Decimal>) -> Option<f64> {
        let raw = match *self {
            Self::Unsigned(value) => to_f64(value.into()),
            Self::Signed(value) => to_f64(value.into()),
            Self::Float32(value) => value.into(),
            Self::Float64(value) => value,
            Self::Timespec(seconds, nanoseconds) => Time::new(seconds, nanoseconds).to_f64(),
            Self::Text(_) | Self::Json(_) | Self::Bytes(_) => return None,
        };
        let scaled = gain.map_or(raw, |gain| raw * gain.to_f64());
        Some(offset.map_or(scaled, |offset| scaled + offset.to_f64()))
    }

    /// The number as a time in seconds, times `gain` plus `offset`: exact but for what is less than 10^-18.
    pub fn as_time(&self, gain: Option<Decimal>, offset: Option<Decimal>) -> Option<Time> {
        let gain = gain.unwrap_or(Decimal::ONE);
        let offset = offset.unwrap_or(Decimal::ZERO);
        self.in_seconds(gain).map(|time| time.plus(Time::from_attoseconds(offset.whole_attos())))
    }

    /// The number times `gain`, in seconds.
    #[inline]
    pub(super) fn in_seconds(&self, gain: Decimal) -> Option<Time> {
        let scaled = |whole: i128| Time::scaled(gain.attos(whole), (whole < 0) != (gain.digits() < 0));
        // What is beyond the whole seconds, as a multiple of a power of ten.
        let and = |whole: i128, rest: i128, power: i32| {
            let rest = gain.times(rest, gain.exponent().saturating_add(power)).unwrap_or(0);
            Some(scaled(whole).plus(Time::from_attoseconds(rest)))
        };
        let float = |value: f64| match parts(value) {
            Some((whole, rest)) => and(whole, rest, 0),
            // The latest time, or the earliest.
            None if value.is_finite() && gain == Decimal::ONE => Some(Time::from_f64(value)),
            None => None,
        };
        match *self {
            Self::Unsigned(value) => Some(scaled(value.into())),
            Self::Signed(value) => Some(scaled(value.into())),
            Self::Timespec(seconds, nanoseconds) if gain == Decimal::ONE => {
                Some(Time::new(seconds, nanoseconds))
            }
            Self::Timespec(seconds, nanoseconds) => and(seconds.into(), nanoseconds.into(), 9),
            Self::Float32(value) => float(value.into()),
            Self::Float64(value) => float(value),
            _ => None,
        }
    }
}

/// The samples of a record.
///
/// A payload of numbers may hold several; one of text or bytes is one sample.
#[derive(Clone, Copy, Debug)]
pub struct Samples<'a> {
    data: &'a [u8],
    offset: u64,
    format: Format,
    order: ByteOrder,
    done: bool,
}

impl<'a> Samples<'a> {
    /// The samples in the payload `data` of a stream; errors count from `offset`, where it stands.
    ///
    /// ```
    /// use traceglass::ByteOrder;
    /// use traceglass::rtc::{Format, Sample, Samples};
    ///
    /// let samples = Samples::new(b"\x01\0\xff\xff", 0, Format::from_name("int16"), ByteOrder::Little);
    /// let values: Result<Vec<_>, _> = samples.collect();
    /// assert_eq!(values?, [Sample::Signed(1), Sample::Signed(-1)]);
    /// # Ok::<(), traceglass::Error>(())
    /// ```
    pub const fn new(data: &'a [u8], offset: u64, format: Format, order: ByteOrder) -> Self {
        Self { data, offset, format, order, done: false }
    }

    /// True if there is no sample left.
    #[inline(always)]
    pub(super) const fn is_done(&self) -> bool {
        self.done || self.data.is_empty()
    }

    fn fail(&mut self, kind: ErrorKind) -> Option<Result<Sample<'a>>> {
        self.done = true;
        Some(Err(Error::new(self.offset, PAYLOAD, kind)))
    }

    /// The rest of the payload as one sample.
    fn all(&mut self, text: impl FnOnce(&'a str) -> Sample<'a>) -> Option<Result<Sample<'a>>> {
        self.done = true;
        match core::str::from_utf8(self.data) {
            Ok(data) => Some(Ok(text(data))),
            Err(error) => {
                let offset = self.offset.saturating_add(to_u64(error.valid_up_to()));
                Some(Err(Error::new(offset, PAYLOAD, ErrorKind::NotUtf8)))
            }
        }
    }

    /// `LEN` bytes, those of the lowest value first.
    fn array<const LEN: usize>(&mut self, order: Order) -> Option<[u8; LEN]> {
        let (front, rest) = self.data.split_first_chunk::<LEN>()?;
        self.data = rest;
        self.offset = self.offset.saturating_add(to_u64(LEN));
        let mut bytes = *front;
        let big = match order {
            Order::Native => self.order == ByteOrder::Big,
            Order::Little => false,
            Order::Big => true,
        };
        if big {
            bytes.reverse();
        }
        Some(bytes)
    }

    /// A number of fixed size.
    pub(super) fn number(&mut self, size: usize) -> Option<Result<Sample<'a>>> {
        let sample = match self.format {
            Format::Unsigned(width, order) => match width.bytes() {
                1 => self.array(order).map(u8::from_le_bytes).map(u64::from),
                2 => self.array(order).map(u16::from_le_bytes).map(u64::from),
                4 => self.array(order).map(u32::from_le_bytes).map(u64::from),
                _ => self.array(order).map(u64::from_le_bytes),
            }
            .map(Sample::Unsigned),
            Format::Signed(width, order) => match width.bytes() {
                1 => self.array(order).map(i8::from_le_bytes).map(i64::from),
                2 => self.array(order).map(i16::from_le_bytes).map(i64::from),
                4 => self.array(order).map(i32::from_le_bytes).map(i64::from),
                _ => self.array(order).map(i64::from_le_bytes),
            }
            .map(Sample::Signed),
            Format::Float32(order) => self.array(order).map(f32::from_le_bytes).map(Sample::Float32),
            Format::Float64(order) => self.array(order).map(f64::from_le_bytes).map(Sample::Float64),
            Format::Platform => {
                self.array(Order::Native).map(u32::from_le_bytes).map(|value| Sample::Unsigned(value.into()))
            }
            _ if self.data.len() < 12 => None,
            _ => self.array(Order::Native).map(u64::from_le_bytes).and_then(|seconds| {
                let nanoseconds = self.array(Order::Native).map(u32::from_le_bytes)?;
                Some(Sample::Timespec(seconds, nanoseconds))
            }),
        };
        match sample {
            Some(sample) => Some(Ok(sample)),
            None => {
                let value = to_u64(self.data.len());
                self.fail(ErrorKind::NotMultiple { value, of: to_u64(size) })
            }
        }
    }

    /// A LEB128 of at most 64 bits.
    fn leb128(&mut self, signed: bool) -> Option<Result<Sample<'a>>> {
        match leb128(self.data, signed) {
            Ok((sample, rest)) => {
                let used = self.data.len().saturating_sub(rest.len());
                self.offset = self.offset.saturating_add(to_u64(used));
                self.data = rest;
                Some(Ok(sample))
            }
            Err(kind) => self.fail(kind),
        }
    }
}

/// A LEB128 of at most 64 bits, and the bytes after it.
#[inline]
pub(super) fn leb128(data: &[u8], signed: bool) -> core::result::Result<(Sample<'static>, &[u8]), ErrorKind> {
    let (mut value, mut shift) = (0_u64, 0_u32);
    let mut bytes = data.iter();
    let negative = loop {
        let &byte = bytes.next().ok_or(ErrorKind::UnexpectedEnd { needed: 1 })?;
        value |= u64::from(byte & 0x7f).wrapping_shl(shift);
        if shift == 63 {
            // Of the tenth byte, one bit is in the value; the others are copies of the sign.
            let fits = if signed { byte == 0 || byte == 0x7f } else { byte <= 1 };
            if !fits {
                return Err(ErrorKind::IntegerTooWide { bits: 64 });
            }
            break false;
        }
        shift = shift.wrapping_add(7);
        if byte < 0x80 {
            break signed && byte >= 0x40;
        }
    };
    if negative {
        value |= u64::MAX.wrapping_shl(shift);
    }
    let sample = if signed { Sample::Signed(value.cast_signed()) } else { Sample::Unsigned(value) };
    Ok((sample, bytes.as_slice()))
}

impl<'a> Iterator for Samples<'a> {
    type Item = Result<Sample<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        if let Some(size) = self.format.sample_size() {
            return if self.data.is_empty() { None } else { self.number(size) };
        }
        match self.format {
            Format::Uleb128 | Format::Leb128 if self.data.is_empty() => None,
            Format::Uleb128 => self.leb128(false),
            Format::Leb128 => self.leb128(true),
            Format::Utf8 => self.all(Sample::Text),
            Format::Json => self.all(Sample::Json),
            _ => {
                self.done = true;
                Some(Ok(Sample::Bytes(self.data)))
            }
        }
    }
}

impl FusedIterator for Samples<'_> {}

/// An annotation: a time, and what is said about it.
#[derive(Clone, Copy, Debug)]
pub struct Annotation<'a> {
    /// When; on the clock of the annotated stream, or since the Epoch.
    pub time: Time,
    /// The text or the numbers about that time.
    pub samples: Samples<'a>,
}

impl<'a> Annotation<'a> {
    /// Reads an annotation; `None` if the format is not that of one.
    ///
    /// # Errors
    /// [`NotMultiple`](ErrorKind::NotMultiple): the payload is shorter than its time.
    pub fn parse(data: &'a [u8], offset: u64, format: Format, order: ByteOrder) -> Option<Result<Self>> {
        let Format::Annotate(inner) = format else { return None };
        let mut head = Samples::new(data, offset, Format::Timespec, order);
        Some(match head.next() {
            Some(Ok(Sample::Timespec(seconds, nanoseconds))) => Ok(Self {
                time: Time::new(seconds, nanoseconds),
                samples: Samples::new(head.data, head.offset, inner.format(), order),
            }),
            Some(Err(error)) => Err(error),
            _ => {
                let kind = ErrorKind::UnexpectedEnd { needed: 12 };
                Err(Error::new(offset, PAYLOAD, kind))
            }
        })
    }
}

#[cfg(all(test, target_has_atomic = "64"))]
mod properties;
#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn read<'a>(
        format: &str,
        order: ByteOrder,
        data: &'a [u8],
    ) -> Vec<Result<Sample<'a>, (u64, &'static str)>> {
        Samples::new(data, 100, Format::from_name(format), order)
            .map(|sample| sample.map_err(|error| (error.offset(), error.kind().code())))
            .collect()
    }

    #[test]
    fn every_format_is_read() {
        use ByteOrder::{Big, Little};
        use Sample::*;
        assert_eq!(read("uint8", Big, &[1, 255]), [Ok(Unsigned(1)), Ok(Unsigned(255))]);
        assert_eq!(read("int8", Big, &[255]), [Ok(Signed(-1))]);
        assert_eq!(read("uint16", Little, &[1, 2]), [Ok(Unsigned(0x201))]);
        assert_eq!(read("uint16", Big, &[1, 2]), [Ok(Unsigned(0x102))]);
        assert_eq!(read("uint16le", Big, &[1, 2]), [Ok(Unsigned(0x201))]);
        assert_eq!(read("int32be", Little, &[255, 255, 255, 254]), [Ok(Signed(-2))]);
        assert_eq!(read("uint64le", Little, &[0, 0, 0, 0, 0, 0, 0, 128]), [Ok(Unsigned(1 << 63))]);
        assert_eq!(read("int64be", Little, &[128, 0, 0, 0, 0, 0, 0, 0]), [Ok(Signed(i64::MIN))]);
        assert_eq!(read("float32le", Big, &1.5_f32.to_le_bytes()), [Ok(Float32(1.5))]);
        assert_eq!(read("float64", Big, &(-2.25_f64).to_be_bytes()), [Ok(Float64(-2.25))]);
        assert_eq!(read("uleb128", Big, b"\x7f\x81\x01"), [Ok(Unsigned(127)), Ok(Unsigned(129))]);
        assert_eq!(
            read("leb128", Big, b"\x7f\x3f\x80\x7f"),
            [Ok(Signed(-1)), Ok(Signed(63)), Ok(Signed(-128))]
        );
        let timespec = [1, 0, 0, 0, 0, 0, 0, 0, 0, 202, 154, 59];
        assert_eq!(read("timespec", Little, &timespec), [Ok(Timespec(1, 1_000_000_000))]);
        assert_eq!(read("utf-8", Little, "ß".as_bytes()), [Ok(Text("ß"))]);
        assert_eq!(read("json", Little, b"[]"), [Ok(Json("[]"))]);
        assert_eq!(read("raw", Little, b"ab"), [Ok(Bytes(b"ab"))]);
        assert_eq!(read("png", Little, b""), [Ok(Bytes(b""))]);
        assert_eq!(read("int16", Little, b""), []);
    }

    #[test]
    fn what_does_not_fit_is_located() {
        let little = ByteOrder::Little;
        assert_eq!(read("uint16", little, &[1, 0, 9]), [Ok(Sample::Unsigned(1)), Err((102, "not-multiple"))]);
        assert_eq!(read("timespec", little, &[0; 11]), [Err((100, "not-multiple"))]);
        assert_eq!(
            read("uleb128", little, &[1, 128]),
            [Ok(Sample::Unsigned(1)), Err((101, "unexpected-end"))]
        );
        assert_eq!(read("uleb128", little, &[128; 11]), [Err((100, "integer-too-wide"))]);
        let most = b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
        assert_eq!(read("uleb128", little, most), [Ok(Sample::Unsigned(u64::MAX))]);
        assert_eq!(read("leb128", little, most), [Err((100, "integer-too-wide"))]);
        let least = b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f";
        assert_eq!(read("leb128", little, least), [Ok(Sample::Signed(i64::MIN))]);
        assert_eq!(read("utf-8", little, b"ab\xff"), [Err((102, "not-utf8"))]);
    }

    #[test]
    fn annotations_have_a_time_of_their_own() {
        let mut data = Vec::from(7_u64.to_be_bytes());
        data.extend(500_000_000_u32.to_be_bytes());
        data.extend(b"note");
        let parse =
            |data| Annotation::parse(data, 0, Format::from_name("annotate/utf-8"), ByteOrder::Big).unwrap();
        let mut annotation = parse(&data).unwrap();
        assert_eq!(std::format!("{}", annotation.time), "7.5");
        assert_eq!(annotation.samples.next(), Some(Ok(Sample::Text("note"))));
        assert!(parse(&data[..11]).is_err());
        assert!(parse(&[]).unwrap_err().is_truncation());
        assert!(Annotation::parse(&data, 0, Format::Utf8, ByteOrder::Big).is_none());
    }
}
