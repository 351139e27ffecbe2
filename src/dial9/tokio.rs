//! The vocabulary of `dial9-tokio-telemetry`: what the names of schemas and fields mean, as data.

use crate::record::Hint;

/// True of events by which a recorder describes itself and the segment.
pub fn is_about_the_recorder(name: &str) -> bool {
    matches!(name, "ClockSyncEvent" | "SegmentMetadataEvent" | "SymbolTableEntry")
}

/// The way to read a field that no annotation describes.
#[derive(Clone, Copy)]
pub(super) struct KnownField {
    pub(super) hint: Hint,
    pub(super) unit: Option<&'static str>,
    pub(super) labels: &'static [(u64, &'static str)],
}

const PLAIN: KnownField = KnownField { hint: Hint::None, unit: None, labels: &[] };
const ADDRESS: KnownField = KnownField { hint: Hint::Address, ..PLAIN };
const DURATION: KnownField = KnownField { hint: Hint::Duration, ..PLAIN };
const SIZE: KnownField = KnownField { unit: Some("B"), ..PLAIN };
const SOURCE: KnownField =
    KnownField { hint: Hint::Label, labels: &[(0, "on-cpu"), (1, "context-switch")], ..PLAIN };

/// Fields by their schema and name; without a schema, of all.
const KNOWN: [(&str, &str, KnownField); 18] = [
    ("PollStartEvent", "scheduling_delay_ns", DURATION),
    ("WorkerParkEvent", "cpu_time_ns", DURATION),
    ("WorkerUnparkEvent", "cpu_time_ns", DURATION),
    ("WorkerUnparkEvent", "sched_wait_ns", DURATION),
    ("CpuSampleEvent", "source", SOURCE),
    ("SymbolTableEntry", "addr", ADDRESS),
    ("SymbolTableEntry", "size", SIZE),
    ("AllocEvent", "addr", ADDRESS),
    ("AllocEvent", "size", SIZE),
    ("FreeEvent", "addr", ADDRESS),
    ("FreeEvent", "size", SIZE),
    ("ProcessResourceUsageEvent", "user_cpu_ns", DURATION),
    ("ProcessResourceUsageEvent", "system_cpu_ns", DURATION),
    ("ProcessResourceUsageEvent", "max_rss_bytes", SIZE),
    ("CudaGpuEvent", "memory_used_bytes", SIZE),
    ("CudaGpuEvent", "memory_total_bytes", SIZE),
    ("TcpAcceptQueueEvent", "socket_cookie", ADDRESS),
    ("", "dial9.span.duration_ns", DURATION),
];

/// The way to read a field, if its name is known.
pub(super) fn known_field(schema: &str, field: &str) -> Option<KnownField> {
    let is_it = |of: &str, name: &str| name == field && (of == schema || of.is_empty());
    KNOWN.iter().find(|(of, name, _)| is_it(of, name)).map(|(_, _, known)| *known)
}
