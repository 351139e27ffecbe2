//! The vocabulary of `dial9-tokio-telemetry`: names of schemas and fields.

/// True of events by which a recorder describes itself and the segment.
pub fn is_about_the_recorder(name: &str) -> bool {
    matches!(name, "ClockSyncEvent" | "SegmentMetadataEvent" | "SymbolTableEntry")
}
