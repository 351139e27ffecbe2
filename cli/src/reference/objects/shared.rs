//! Fields that several objects have.

use crate::reference::field::Type::{Any, Bool, Hex, Int, List, Number, Object as Members, Text, Time};
use crate::reference::field::{Field, has, may, part};

pub const INFO: &[Field] = &[
    may("path", Text, "the path as it was given"),
    may(
        "format",
        Text,
        "`rdf`, `rtc`, `ctf2`, `ctf1` (CTF whose metadata is TSDL), `rfr` or `dial9`; `rmt` or `sqtt` of files that RADV writes; null if that cannot be told",
    ),
    may("bytes", Int, "size of the file, or of all files of a recording"),
    has(
        "complete",
        Bool,
        "whether all was read: of more than 256 MiB only with `--full`; what was not counted is null",
    ),
    may(
        "verdict",
        Text,
        "`clean`, `damaged`, or `unreadable`; null where not all was read and nothing wrong was seen",
    ),
    part("error", Text, "why it cannot be read"),
];

pub const SPAN: &[Field] = &[
    may(
        "time_ns",
        Int,
        "when it begins: nanoseconds since the Unix epoch if the clock is absolute, else since its own origin",
    ),
    may("time", Time, "the same as a date; null if the clock is not absolute"),
    may("end_time_ns", Int, "when it ends"),
    may("end_time", Time, "the same as a date"),
];

pub const TIME: &[Field] = &[
    may(
        "time_ns",
        Int,
        "nanoseconds since the Unix epoch if the clock is absolute, else since its own origin",
    ),
    may("time", Time, "the same as a date; null if the clock is not absolute"),
    may("clock", Text, "name of the clock"),
];

pub const KIND: &[Field] = &[has("kind", Text, "what the object is")];

pub const STREAM: &[Field] = &[
    has("session", Int, "which session of the file, from 0"),
    has("id", Int, "the number that frames have"),
    may("name", Text, "its name"),
    may("format", Any, "its format, as its object says"),
    may("length", Int, "length of its records, if that is fixed"),
    may("frames", Int, "how many frames it has"),
    may("records", Int, "how many records are complete"),
    may("bytes", Int, "size of the payload of all its frames"),
    part("sha256", Hex, "with `--sha256`: of that payload"),
    may("clock", Text, "the clock that it tells its time by"),
    may("rate_hz", Number, "records a second, on average"),
    may("gain", Number, "what raw values are multiplied with"),
    may("gain_offset", Number, "what is then added"),
    has("attributes", Members, "all that its object in the file says"),
];

pub const RFR_FILE: &[Field] = &[
    may("path", Text, "the file in the recording's folder, or the file that was named"),
    has("identifier", Text, "such as `rfr-c/0.0.2`"),
    may("clock", Text, "has no name"),
    has("bytes", Int, "size of the file"),
];

pub const MICROS: &[Field] = &[
    may(
        "start_micros",
        Int,
        "begin of its interval: of a chunk relative to the base time, else since the Unix epoch",
    ),
    may("end_micros", Int, "its end"),
];

pub const RECORD: &[Field] = &[
    may("path", Text, "the file in the recording's folder; null of a file that was named itself"),
    has("offset", Int, "of the record in its file"),
    part("len", Int, "its bytes"),
    may("seq_id", Int, "the sequence; null in a stream"),
    may("micros", Int, "microseconds since the Unix epoch"),
];

/// Statistics of samples: paths are relative to the package.
pub const STATS: &[&[&str]] = &[
    &["stats", "--json", "sample.ctf"],
    &["stats", "--json", "--against", "../examples/data/sample.rfr", "sample.rfr"],
];

pub const LOCATION: &[Field] = &[may("location", Text, "where that is in the source: file and line")];

pub const SITE: &[Field] = &[
    may("target", Text, "the target of the callsite"),
    may(
        "level",
        Text,
        "the name of the level: `trace`, `debug`, `info`, `warn`, `error`; a number if it has none",
    ),
];

pub const VALUES: &[Field] = &[
    has(
        "split_field_values",
        Members,
        "values by the names that the callsite has for them; `value 0` … without",
    ),
    has("dynamic_fields", Members, "values with names of their own"),
];

pub const CALLSITE: &[Field] = &[
    has("callsite_id", Text, "its id: an address, `0x…`"),
    has("callsite_kind", Text, "what it makes: `Span`, `Event` or `Unknown`"),
    may("name", Text, "its name"),
    may("module_path", Text, "its module"),
    may("file", Text, "its source file"),
    may("line", Int, "its line"),
    has("split_field_names", List, "names of the values that its events and spans have"),
    has("const_fields", Members, "fields with the same value in all"),
];
