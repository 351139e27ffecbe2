//! The header of a packet, and that of a record.
//!
//! # Layout
//! Words are little-endian. All fields begin at a word.
//!
//! | word | type | field |
//! |---:|---|---|
//! | 0 | `u32` | magic number: 0xc1fc1fc1; written last |
//! | 1 | `u32` | stream: a number for each recorder |
//! | 2 | `u64` | time of the first record |
//! | 4 | `u64` | time of the last record |
//! | 6 | `u32` | content length in bits |
//! | 7 | `u32` | total length in bits |
//! | 8 | `u32` | sequence number |
//! | 9 | `u32` | records lost since the start |
//! | 10 | records | |
//!
//! A record begins with the lower half of its time and the number of its event, a `u32` each.

/// The magic number of CTF's packets.
pub const MAGIC: u32 = 0xc1fc_1fc1;
/// The size of the header in words.
pub const HEADER: usize = 10;
/// The size of a record in words, without its fields.
pub const RECORD: usize = 2;

/// The places of fields of the header.
pub(crate) const CONTENT: usize = 6;
pub(crate) const TOTAL: usize = 7;
pub(crate) const LOST: usize = 9;

/// The field class of an unsigned integer of a header.
macro_rules! unsigned {
    ($name:literal, $bits:literal, $role:literal) => {
        concat!(
            r#"{"name":""#,
            $name,
            r#"","field-class":{"type":"fixed-length-unsigned-integer","length":"#,
            $bits,
            r#","byte-order":"little-endian","alignment":32,"roles":[""#,
            $role,
            r#""]}}"#
        )
    };
}

/// The fragments that describe packets and the headers of records, in CTF 2; a clock class `default` precedes them.
pub(crate) const TRACE_CLASS: &str = concat!(
    r#"{"type":"trace-class","packet-header-field-class":{"type":"structure","member-classes":["#,
    unsigned!("magic", 32, "packet-magic-number"),
    ",",
    unsigned!("stream_instance_id", 32, "data-stream-id"),
    "]}}\n"
);
pub(crate) const STREAM_CLASS: &str = concat!(
    r#"{"type":"data-stream-class","default-clock-class-id":"default","packet-context-field-class":"#,
    r#"{"type":"structure","member-classes":["#,
    unsigned!("timestamp_begin", 64, "default-clock-timestamp"),
    ",",
    unsigned!("timestamp_end", 64, "packet-end-default-clock-timestamp"),
    ",",
    unsigned!("content_size", 32, "packet-content-length"),
    ",",
    unsigned!("packet_size", 32, "packet-total-length"),
    ",",
    unsigned!("packet_seq_num", 32, "packet-sequence-number"),
    ",",
    unsigned!("events_discarded", 32, "discarded-event-record-counter-snapshot"),
    r#"]},"event-record-header-field-class":{"type":"structure","member-classes":["#,
    unsigned!("timestamp", 32, "default-clock-timestamp"),
    ",",
    unsigned!("id", 32, "event-record-class-id"),
    "]}}\n"
);

/// The same in CTF 1.8: what precedes the clock, and what follows it.
pub(crate) const TSDL_TRACE: &str = "/* CTF 1.8 */
typealias integer { size = 32; align = 32; signed = false; byte_order = le; } := uint32_t;
typealias integer { size = 64; align = 32; signed = false; byte_order = le; } := uint64_t;
trace {
    major = 1;
    minor = 8;
    byte_order = le;
    packet.header := struct { uint32_t magic; uint32_t stream_instance_id; };
};
";
pub(crate) const TSDL_STREAM: &str =
    "typealias integer { size = 32; align = 32; signed = false; byte_order = le; map = clock.default.value; } := stamp32_t;
typealias integer { size = 64; align = 32; signed = false; byte_order = le; map = clock.default.value; } := stamp64_t;
stream {
    packet.context := struct {
        stamp64_t timestamp_begin;
        stamp64_t timestamp_end;
        uint32_t content_size;
        uint32_t packet_size;
        uint32_t packet_seq_num;
        uint32_t events_discarded;
    };
    event.header := struct { stamp32_t timestamp; uint32_t id; };
};
";
