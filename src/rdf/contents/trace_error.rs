//! Errors while a trace was taken.

use super::api::supported;
use super::layout::{layout, values};
use super::{FixedText, element};
use crate::bytes::Bytes;
use crate::error::Result;

values! {
    /// The kind of bytes after the header of a `TraceError`.
    pub enum TraceErrorPayload: u32 {
        None = 0 "none",
        Text = 1 "string",
    }
}

layout! {
    /// The header of a `TraceError`.
    pub struct TraceErrorFields, RawTraceError: 28 {
        /// Identifier of the chunk that is missing; it may fill all 16 bytes.
        missing: (text 16),
        /// The number of the chunk among those of that identifier.
        missing_index: u32,
        /// AMD's result code; negative for errors.
        result: i32,
        /// The kind of bytes after this header.
        payload: u32 = TraceErrorPayload,
    }
}

/// An error of whoever took the trace: chunk `TraceError`, version 1.
///
/// # Layout
/// Header: [`TraceErrorFields`]. Data: text without a NUL, or nothing.
#[derive(Clone, Copy, Debug)]
pub struct TraceError<'a> {
    fields: TraceErrorFields<'a>,
    data: &'a [u8],
}

impl<'a> TraceError<'a> {
    pub(super) fn parse(version: u32, header: &'a [u8], data: &'a [u8]) -> Result<Self> {
        supported(version, 1..=1)?;
        let fields = TraceErrorFields::new(Bytes::new(header).view(element::TRACE_ERROR_HEADER)?);
        Ok(Self { fields, data })
    }

    /// The header.
    pub const fn fields(&self) -> TraceErrorFields<'a> {
        self.fields
    }

    /// The message.
    pub fn text(&self) -> Option<FixedText<'a>> {
        (self.fields.payload() == TraceErrorPayload::Text).then(|| FixedText::new(self.data))
    }
}
