//! Every object that `--json` prints, and its fields: what scripts rely on.

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// An integer, in full.
    Int,
    Number,
    Text,
    /// RFC 3339 with nine digits.
    Time,
    /// Lower-case digits.
    Hex,
    Bool,
    Object,
    List,
    /// Whatever the trace says.
    Any,
}

use Type::{Any, Bool, Hex, Int, List, Number, Object as Members, Text, Time};

impl Type {
    pub fn name(self) -> &'static str {
        match self {
            Self::Int => "integer",
            Self::Number => "number",
            Self::Text => "text",
            Self::Time => "time",
            Self::Hex => "hex",
            Self::Bool => "true, false",
            Self::Object => "object",
            Self::List => "list",
            Self::Any => "any",
        }
    }
}

/// A field of an object.
pub struct Field {
    pub name: &'static str,
    pub of: Type,
    /// Whether it may be null.
    pub is_nullable: bool,
    /// Whether it may be left out.
    pub is_optional: bool,
    pub what: &'static str,
}

/// An object, and how to see one.
pub struct Object {
    pub verb: &'static str,
    /// The formats that have it, and the option that shows it.
    pub of: &'static str,
    /// The values of its field `kind`, none of one without.
    pub kinds: &'static [&'static str],
    /// Arguments that print such objects of shipped samples.
    pub shown_by: &'static [&'static [&'static str]],
    pub fields: &'static [&'static [Field]],
}

/// A field that is always there.
const fn has(name: &'static str, of: Type, what: &'static str) -> Field {
    Field { name, of, is_nullable: false, is_optional: false, what }
}

/// A field that may be null.
const fn may(name: &'static str, of: Type, what: &'static str) -> Field {
    Field { name, of, is_nullable: true, is_optional: false, what }
}

/// A field that may be left out, or null.
const fn part(name: &'static str, of: Type, what: &'static str) -> Field {
    Field { name, of, is_nullable: true, is_optional: true, what }
}

const INFO: &[Field] = &[
    may("path", Text, "the path as it was given"),
    may(
        "format",
        Text,
        "`rdf`, `rtc`, `ctf2`, `ctf1` (CTF whose metadata is TSDL) or `rfr`; `rmt` or `sqtt` of files that RADV writes; null if that cannot be told",
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

const SPAN: &[Field] = &[
    may(
        "time_ns",
        Int,
        "when it begins: nanoseconds since the Unix epoch if the clock is absolute, else since its own origin",
    ),
    may("time", Time, "the same as a date; null if the clock is not absolute"),
    may("end_time_ns", Int, "when it ends"),
    may("end_time", Time, "the same as a date"),
];

const TIME: &[Field] = &[
    may(
        "time_ns",
        Int,
        "nanoseconds since the Unix epoch if the clock is absolute, else since its own origin",
    ),
    may("time", Time, "the same as a date; null if the clock is not absolute"),
    may("clock", Text, "name of the clock"),
];

const KIND: &[Field] = &[has("kind", Text, "what the object is")];

const STREAM: &[Field] = &[
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

const RFR_FILE: &[Field] = &[
    may("path", Text, "the file in the recording's folder, or the file that was named"),
    has("identifier", Text, "such as `rfr-c/0.0.2`"),
    may("clock", Text, "has no name"),
    has("bytes", Int, "size of the file"),
];

const MICROS: &[Field] = &[
    may(
        "start_micros",
        Int,
        "begin of its interval: of a chunk relative to the base time, else since the Unix epoch",
    ),
    may("end_micros", Int, "its end"),
];

const RECORD: &[Field] = &[
    may("path", Text, "the file in the recording's folder; null of a file that was named itself"),
    has("offset", Int, "of the record in its file"),
    may("seq_id", Int, "the sequence; null in a stream"),
    may("micros", Int, "microseconds since the Unix epoch"),
];

const CALLSITE: &[Field] = &[
    has("callsite_id", Int, "its id"),
    has("level", Int, "its level"),
    may("level_name", Text, "the level's name"),
    may("name", Text, "its name"),
    may("target", Text, "its target"),
    may("module_path", Text, "its module"),
    may("file", Text, "its source file"),
    may("line", Int, "its line"),
    has("split_field_names", List, "names of the values that its events and spans have"),
    has("const_fields", List, "fields with the same value in all, each with `name` and `value`"),
];

/// All of them, in the order of the reference.
pub const OBJECTS: &[Object] = &[
    Object {
        verb: "info",
        of: "RDF",
        kinds: &[],
        shown_by: &[&["info", "--json", "sample.rdf"]],
        fields: &[
            INFO,
            &[
                has("magic", Text, "the first eight bytes"),
                has("version", Int, "of the container"),
                has("index_offset", Int, "of the chunk index"),
                has("index_size", Int, "its size"),
                has("entries", Int, "how many entries it has"),
                has("header_bytes", Int, "size of all chunk headers"),
                has("stored_bytes", Int, "size of all data as it is stored"),
                has("data_bytes", Int, "size of all data, decompressed"),
                has("contents_complete", Bool, "whether all contents were read for what follows"),
                has("chunks_by_id", Members, "how many chunks have each identifier"),
                part(
                    "gpus",
                    List,
                    "the GPUs: `name`, `gfx`, `memory_bytes`, `memory_type`, `device_id`, `pci`, `gpu_hz`",
                ),
                part("driver", Members, "the driver: `name`, `version`, `package`"),
                part("os", Members, "the system: `name`, `description`, `memory_bytes`"),
                part("cpus", List, "names of the CPUs"),
                part("api", Members, "the graphics API: `name`, `version`"),
                part("process", Members, "the process that was traced: `id`, `path`"),
                part(
                    "page_faults",
                    List,
                    "of a crash, the first eight: the address, and the resource that held it; of `resources` that held it \
                     the first 64, and `more_resources` says how many others there are",
                ),
                part("more_page_faults", Int, "how many others there are"),
                part(
                    "in_flight",
                    List,
                    "of a crash: command buffers that had begun and not ended, with their markers",
                ),
                part("more_in_flight", Int, "how many others there are: eight of each chunk are listed"),
                part("snapshots", List, "`name` and `ticks` of each"),
                part("queues", List, "GPU time of each queue; null if there are more than 4,096"),
                part(
                    "overridden",
                    List,
                    "settings of the driver that differ from its defaults: `name` and `value`",
                ),
                part("trace_errors", List, "what the recorder could not trace"),
                part("hostname", Text, "with `--private`"),
                part("processes", List, "with `--private`"),
            ],
        ],
    },
    Object {
        verb: "info",
        of: "RTC",
        kinds: &[],
        shown_by: &[&["info", "--json", "sample.rtc"]],
        fields: &[
            INFO,
            SPAN,
            &[
                may("units", Int, "how many major units there are"),
                may("sessions", Int, "how many recordings follow each other"),
                has("streams", Int, "streams that are declared, used or not"),
                may("frames", Int, "frames of these"),
                may("records", Int, "their records"),
                may("payload_bytes", Int, "size of the payload of these frames"),
                may("unit_bytes", Int, "size of a major unit"),
                may("subunit_bytes", Int, "size of a minor unit"),
                may("gaps", Int, "ranges that cannot be read"),
                may("lost_bytes", Int, "their size"),
                may("checksums", Members, "how many units have each verdict of `crc` in `ls`"),
                has("stream_list", List, "the streams, as `ls` has them"),
            ],
        ],
    },
    Object {
        verb: "info",
        of: "CTF metadata",
        kinds: &[],
        shown_by: &[&["info", "--json", "sample.ctf2"]],
        fields: &[
            INFO,
            &[
                has("form", Text, "`packetized` or `plain`"),
                may("major", Int, "version of the packets"),
                may("minor", Int, "version of the packets"),
                may("byte_order", Text, "of the packet headers: `le` or `be`"),
                may("uuid", Text, "of the packet headers"),
                has("packets", Int, "how many packets there are, 0 of plain text"),
                has("content_bytes", Int, "size of the text"),
                has("padding_bytes", Int, "size of what fills the packets"),
                has("language", Text, "`json` (CTF 2) or `tsdl` (CTF 1.8)"),
                has("fragments", Int, "how many fragments can be read"),
                has("fragments_by_kind", Members, "how many there are of each type"),
                may("ctf_version", Int, "as the preamble says"),
                may("trace_uuid", Text, "as the preamble says"),
                may("trace_name", Text, "name of the trace class"),
                has("environment", Members, "as the trace class says"),
                has("clocks", List, "the clock classes"),
            ],
        ],
    },
    Object {
        verb: "info",
        of: "CTF trace",
        kinds: &[],
        shown_by: &[&["info", "--json", "sample.ctf"]],
        fields: &[
            INFO,
            SPAN,
            &[
                has("form", Text, "of the first trace's metadata: `packetized` or `plain`"),
                may("major", Int, "version of its packets"),
                may("minor", Int, "version of its packets"),
                may("byte_order", Text, "of the headers of its packets: `le` or `be`"),
                has("content_bytes", Int, "size of the text of all metadata"),
                has("fragments", Int, "how many fragments of it can be read"),
                has("traces", Int, "how many folders with metadata there are"),
                has("streams", Int, "how many data streams"),
                has("packets", Int, "how many packets these have"),
                may("records", Int, "how many event records"),
                has("discarded", Int, "event records that the tracer discarded"),
                has("lost_packets", Int, "packets that are missing, by their sequence numbers"),
                may("uuid", Text, "of the trace"),
                has("event_classes", List, "`name` and `records` of each, the most frequent first"),
                has(
                    "clocks",
                    List,
                    "`name`, `frequency`, `offset_seconds`, `offset_cycles`, `is_absolute`; `time_ns` and `time` of its zero",
                ),
                has("environment", Members, "as the trace class says"),
            ],
        ],
    },
    Object {
        verb: "info",
        of: "RFR",
        kinds: &[],
        shown_by: &[&["info", "--json", "--tasks", "sample.rfr"], &["info", "--json", "stream.rfr"]],
        fields: &[
            INFO,
            SPAN,
            MICROS,
            &[
                has("identifier", Text, "such as `rfr-c/0.0.2`"),
                has("chunks", Int, "how many chunk files there are"),
                may("sequences", Int, "how many sequences these have"),
                may("objects", Int, "how many tasks and spans are described"),
                may("records", Int, "how many records there are"),
                may("callsites", Int, "how many callsites"),
                may("records_by_kind", Members, "how many records there are of each kind"),
                part(
                    "created_micros",
                    Int,
                    "when the recording was made, in microseconds since the Unix epoch",
                ),
                part("created_time", Time, "the same as a date"),
                may("task_count", Int, "how many tasks are described"),
                may("tasks_never_dropped", Int, "tasks that were spawned and not dropped"),
                part(
                    "tasks",
                    List,
                    "with `--tasks`: `iid`, `task_id`, `task`, `location`, `polls`, `busy_ns`, `longest_ns`, `wakes`, `state` (`alive`, `polled` or `dropped`) of each, the busiest first",
                ),
            ],
        ],
    },
    Object {
        verb: "ls",
        of: "RDF",
        kinds: &["entry"],
        shown_by: &[&["ls", "--json", "--sha256", "sample.rdf"]],
        fields: &[
            KIND,
            &[
                has("entry", Int, "its number, from 0"),
                may("id", Text, "the chunk's identifier"),
                has("id_hex", Hex, "its 16 bytes"),
                has("index", Int, "which chunk of that identifier, from 0"),
                has("version", Int, "of the chunk"),
                has("compression", Int, "0 of none, 1 of zstd"),
                has("header_offset", Int, "of the chunk's header"),
                has("header_size", Int, "its size"),
                has("data_offset", Int, "of its data"),
                has("stored_size", Int, "size of the data as it is stored"),
                has("data_size", Int, "size of the data, decompressed"),
                part("header_sha256", Hex, "with `--sha256`: of the header; null if it cannot be read"),
                part(
                    "data_sha256",
                    Hex,
                    "with `--sha256`: of the data, decompressed; null if it cannot be read",
                ),
                part("error", Text, "why one of them cannot be read"),
            ],
        ],
    },
    Object {
        verb: "ls",
        of: "RTC",
        kinds: &["unit"],
        shown_by: &[&["ls", "--json", "sample.rtc"]],
        fields: &[
            KIND,
            &[
                has("offset", Int, "where it begins"),
                has("number", Int, "as it is stored"),
                has("session", Int, "which session of the file, from 0"),
                has("unit_bytes", Int, "size of a major unit"),
                has("subunit_bytes", Int, "size of a minor unit"),
                has("end", Int, "where it ends"),
                has(
                    "crc",
                    Text,
                    "`ieee` (right), `writer` (right, as the writer computes it), `stale`, `mismatch` or `missing`",
                ),
                may("time_ns", Int, "earliest time of its records"),
                may("end_time_ns", Int, "latest one"),
            ],
        ],
    },
    Object {
        verb: "ls",
        of: "RTC",
        kinds: &["stream"],
        shown_by: &[&["ls", "--json", "--sha256", "sample.rtc"]],
        fields: &[KIND, SPAN, STREAM],
    },
    Object {
        verb: "ls",
        of: "RTC, where something is lost",
        kinds: &["gap"],
        shown_by: &[],
        fields: &[
            KIND,
            &[
                has("offset", Int, "where it begins"),
                has("len", Int, "its size"),
                has("reason", Text, "a word for why"),
                has("message", Text, "what could not be read"),
            ],
        ],
    },
    Object {
        verb: "ls",
        of: "CTF metadata in packets",
        kinds: &["packet"],
        shown_by: &[&["ls", "--json", "sample.ctf2"]],
        fields: &[
            KIND,
            &[
                has("packet", Int, "its number, from 0"),
                has("offset", Int, "where it begins"),
                has("header_bytes", Int, "size of its header"),
                has("content_bytes", Int, "size of its text"),
                has("total_bytes", Int, "size of all of it"),
                has("padding_bytes", Int, "size of what fills it"),
                has("uuid", Text, "of its header"),
            ],
        ],
    },
    Object {
        verb: "ls",
        of: "CTF metadata as plain text, or `--fragments`",
        kinds: &["fragment"],
        shown_by: &[
            &["ls", "--json", "--fragments", "sample.ctf2"],
            &["ls", "--json", "--fragments", "sample.ctf"],
        ],
        fields: &[
            KIND,
            &[
                has("fragment", Int, "its number, from 0"),
                has("offset", Int, "where its text begins"),
                may("type", Text, "its type; null if it cannot be read"),
                may("name", Text, "its name"),
                may("id", Any, "its id, a number or a name"),
                has("bytes", Int, "size of its text"),
            ],
        ],
    },
    Object {
        verb: "ls",
        of: "CTF trace",
        kinds: &["stream"],
        shown_by: &[&["ls", "--json", "sample.ctf"]],
        fields: &[
            KIND,
            SPAN,
            &[
                may("path", Text, "the file in the trace's folder"),
                may("data_stream_class", Int, "id of its class"),
                may("data_stream", Int, "its id"),
                has("bytes", Int, "size of the file"),
                has("packets", Int, "how many packets there are"),
                has("records", Int, "how many event records"),
                may("discarded", Int, "event records that the tracer discarded, if it counts them"),
                has("lost_packets", Int, "packets that are missing, by their sequence numbers"),
                may("clock", Text, "name of its clock"),
            ],
        ],
    },
    Object {
        verb: "ls",
        of: "CTF trace, `--packets`",
        kinds: &["data-packet"],
        shown_by: &[&["ls", "--json", "--packets", "sample.ctf"]],
        fields: &[
            KIND,
            SPAN,
            &[
                may("path", Text, "the file in the trace's folder"),
                has("packet", Int, "its number in the stream, from 0"),
                has("offset", Int, "where it begins"),
                has("total_bits", Int, "size of all of it, in bits"),
                has("content_bits", Int, "size without what fills it, in bits"),
                may("clock", Text, "name of the stream's clock"),
                may("sequence", Int, "its sequence number"),
                may("discarded", Int, "the stream's count of discarded event records"),
            ],
        ],
    },
    Object {
        verb: "ls",
        of: "RFR",
        kinds: &["chunk"],
        shown_by: &[&["ls", "--json", "sample.rfr"]],
        fields: &[
            KIND,
            SPAN,
            RFR_FILE,
            MICROS,
            &[
                has(
                    "base_time_secs",
                    Int,
                    "seconds since the Unix epoch, from which the chunk's times count",
                ),
                has("earliest_micros", Int, "earliest time of its records, relative to that"),
                has("latest_micros", Int, "latest one"),
                has("sequences", Int, "how many sequences it has"),
            ],
        ],
    },
    Object {
        verb: "ls",
        of: "RFR",
        kinds: &["sequence"],
        shown_by: &[&["ls", "--json", "sample.rfr"]],
        fields: &[
            KIND,
            &[
                may("path", Text, "the chunk's file"),
                has("offset", Int, "where it begins"),
                has("seq_id", Int, "its id"),
                has(
                    "earliest_micros",
                    Int,
                    "earliest time of its records, relative to the chunk's base time",
                ),
                has("latest_micros", Int, "latest one"),
                has("objects", Int, "how many tasks and spans it describes"),
                has("records", Int, "how many records it has"),
            ],
        ],
    },
    Object {
        verb: "ls",
        of: "RFR stream",
        kinds: &["stream"],
        shown_by: &[&["ls", "--json", "stream.rfr"]],
        fields: &[
            KIND,
            SPAN,
            RFR_FILE,
            MICROS,
            &[
                has("callsites", Int, "how many callsites it describes"),
                has("objects", Int, "how many tasks and spans"),
                has("records", Int, "how many records there are in all"),
            ],
        ],
    },
    Object {
        verb: "cat",
        of: "RTC",
        kinds: &["record"],
        shown_by: &[&["cat", "--json", "sample.rtc"]],
        fields: &[
            KIND,
            TIME,
            &[
                may("stream", Text, "name of its stream"),
                has("id", Int, "number of its stream"),
                has("session", Int, "which session of the file, from 0"),
                has("offset", Int, "where it begins"),
                has("len", Int, "size of its payload"),
                part("about", Text, "of an annotation: the stream that it is about"),
                may(
                    "value",
                    Any,
                    "what it says, by the stream's format: number, text, hex of bytes, or a list; null if the bytes are not what the format says",
                ),
                part("value_hex", Hex, "its bytes then"),
            ],
        ],
    },
    Object {
        verb: "cat",
        of: "CTF trace",
        kinds: &["event"],
        shown_by: &[&["cat", "--json", "sample.ctf"]],
        fields: &[
            KIND,
            TIME,
            &[
                may("path", Text, "the file in the trace's folder"),
                has("offset", Int, "where it begins, in bytes"),
                has("bit", Int, "and in bits beyond that"),
                may("namespace", Text, "of the event record class"),
                may("name", Text, "of the event record class"),
                has("id", Int, "of the event record class"),
                may("data_stream", Int, "id of the data stream"),
                may("packet_context", Members, "fields by name, in order"),
                may("header", Members, "fields by name, in order"),
                may("common_context", Members, "fields by name, in order"),
                may("specific_context", Members, "fields by name, in order"),
                may(
                    "payload",
                    Members,
                    "fields by name, in order; a field with names for its values has a twin `…_labels`: at most eight, then `…`",
                ),
            ],
        ],
    },
    Object {
        verb: "cat",
        of: "RFR, records of a task",
        kinds: &[
            "NewTask",
            "TaskPollStart",
            "TaskPollEnd",
            "TaskDrop",
            "SpanNew",
            "SpanEnter",
            "SpanExit",
            "SpanClose",
        ],
        shown_by: &[&["cat", "--json", "sample.rfr"], &["cat", "--json", "stream.rfr"]],
        fields: &[
            KIND,
            TIME,
            RECORD,
            &[
                may("iid", Int, "instrumentation id of the task or span"),
                may("task", Text, "name of the task"),
                may("location", Text, "where it was spawned, or where the span is"),
            ],
        ],
    },
    Object {
        verb: "cat",
        of: "RFR, records of a waker",
        kinds: &["WakerWake", "WakerWakeByRef", "WakerClone", "WakerDrop"],
        shown_by: &[&["cat", "--json", "sample.rfr"]],
        fields: &[
            KIND,
            TIME,
            RECORD,
            &[
                has("task_iid", Int, "instrumentation id of the task"),
                may("context", Int, "of the task in which it happened"),
                may("task", Text, "name of the task"),
                may("location", Text, "where it was spawned"),
            ],
        ],
    },
    Object {
        verb: "cat",
        of: "RFR, events",
        kinds: &["Event"],
        shown_by: &[],
        fields: &[
            KIND,
            TIME,
            RECORD,
            &[
                has("callsite_id", Int, "where it happened"),
                may("parent", Any, "`Current`, `Root`, or `{\"Explicit\": iid}`"),
                has("split_field_values", List, "values, of which the callsite has the names"),
                has("dynamic_fields", List, "fields, each with `name` and `value`"),
                may("location", Text, "where it happened, in the source"),
            ],
        ],
    },
    Object {
        verb: "cat",
        of: "RFR, `--objects`, or of a stream",
        kinds: &["Task"],
        shown_by: &[&["cat", "--json", "--objects", "sample.rfr"], &["cat", "--json", "stream.rfr"]],
        fields: &[
            KIND,
            &[
                may("path", Text, "the file in the recording's folder"),
                has("offset", Int, "where it is described"),
                may("seq_id", Int, "the sequence; null in a stream"),
                part("time_ns", Int, "of a stream: when it was described"),
                part("time", Time, "of a stream: the same as a date"),
                part("clock", Text, "null"),
                part("micros", Int, "of a stream: microseconds since the Unix epoch"),
                has("iid", Int, "instrumentation id"),
                has("callsite_id", Int, "where it was spawned"),
                has("task_id", Int, "what the runtime calls it"),
                has("task_name", Text, "its name"),
                has("task_kind", Text, "what kind of task it is"),
                may("context", Int, "the task that spawned it"),
                may("location", Text, "where it was spawned, in the source"),
            ],
        ],
    },
    Object {
        verb: "cat",
        of: "RFR, `--callsites`",
        kinds: &["Span", "Event"],
        shown_by: &[&["cat", "--json", "--callsites", "sample.rfr"]],
        fields: &[KIND, CALLSITE],
    },
    Object {
        verb: "cat",
        of: "RFR stream",
        kinds: &["Callsite"],
        shown_by: &[&["cat", "--json", "stream.rfr"]],
        fields: &[KIND, TIME, RECORD, CALLSITE, &[has("callsite_kind", Text, "`Span` or `Event`")]],
    },
    Object {
        verb: "check",
        of: "all",
        kinds: &[],
        shown_by: &[
            &["check", "--json", "sample.rdf"],
            &["check", "--json", "sample.rtc"],
            &["check", "--json", "sample.ctf"],
            &["check", "--json", "sample.rfr"],
        ],
        fields: &[&[
            may("path", Text, "the path as it was given"),
            may("format", Text, "as in `info`"),
            has("verdict", Text, "`clean`, `damaged` or `unreadable`"),
            has(
                "findings",
                List,
                "each with `offset`, `severity` (`error` or `warning`), `what` (a code that stays), `message`; and `path`, if it is in a file of a recording",
            ),
        ]],
    },
];
