//! Names of what is read inside chunks. Offsets count from the start of the chunk's header, or of its data after
//! decompression, whichever the element names.

use crate::error::Element;

macro_rules! elements {
    ($($(#[$meta:meta])* $name:ident = $text:literal;)*) => {
        $(
            #[doc = concat!("\"", $text, "\".")]
            $(#[$meta])*
            pub const $name: Element = Element::new(&$text);
        )*
    };
}

elements! {
    CHUNK_VERSION = "RDF chunk version";
    API_INFO = "RDF ApiInfo data";
    ASIC_INFO = "RDF AsicInfo data";
    ASIC_NAME = "RDF AsicInfo name";
    ADAPTER_INFO = "RDF AdapterInfo data";
    ADAPTER_NAME = "RDF AdapterInfo name";
    SYSTEM_INFO = "RDF SystemInfo data";
    DRIVER_OVERRIDES = "RDF DriverOverrides data";
    TRACE_CONFIG = "RDF TraceConfig data";
    EXTENDED_INFO = "RDF RgdExtendedInfo data";
    PROCESS_INFO = "RDF TraceProcessInfo data";
    PROCESS_PATH_LENGTH = "RDF TraceProcessInfo path length";
    PROCESS_PATH = "RDF TraceProcessInfo path";
    MEMORY_SEGMENTS = "RDF GpuMemSegment data";
    TRACE_ERROR_HEADER = "RDF TraceError header";
    TRACE_ERROR = "RDF TraceError data";
    CODE_OBJECT_HEADER = "RDF CodeObject header";
    CODE_OBJECT = "RDF CodeObject data";
    ELF_HEADER = "ELF header";
    ELF_SECTIONS = "ELF section table";
    ELF_SECTION = "ELF section";
    ELF_NOTE = "ELF note";
    LOAD_EVENTS_HEADER = "RDF COLoadEvent header";
    LOAD_EVENTS = "RDF COLoadEvent data";
    PIPELINE_HASHES_HEADER = "RDF PsoCorrelation header";
    PIPELINE_HASHES = "RDF PsoCorrelation data";
    PIPELINE_NAME = "RDF PsoCorrelation name";
    CODE_OBJECT_HASHES_HEADER = "RDF COCorrelation header";
    CODE_OBJECT_HASHES = "RDF COCorrelation data";
    QUEUE_INFO = "RDF QueueInfo data";
    QUEUE_EVENT = "RDF QueueEvent data";
    CLOCK_CALIBRATION = "RDF ClockCalibration data";
    SQTT_HEADER = "RDF SqttData header";
    SQTT_DATA = "RDF SqttData data";
    SPM_SESSION_HEADER = "RDF SpmSession header";
    SPM_SESSION = "RDF SpmSession data";
    SPM_COUNTER_HEADER = "RDF SpmCounterData header";
    SPM_COUNTER = "RDF SpmCounterData data";
    STRING_TABLE_HEADER = "RDF StringTable header";
    STRING_TABLE = "RDF StringTable data";
    STRING = "RDF StringTable string";
    MARKER_HISTORY_HEADER = "RDF UserMarkerHist header";
    MARKER_HISTORY = "RDF UserMarkerHist data";
    SNAPSHOT = "RDF RmvSnapshotData data";
    SNAPSHOT_NAME = "RDF RmvSnapshotData name";
    SNAPSHOT_NAME_LENGTH = "RDF RmvSnapshotData name length";
    SNAPSHOT_INDEX_HEADER = "RDF RmvSnapshotIndex header";
    SNAPSHOT_INDEX = "RDF RmvSnapshotIndex data";
    RMT_HEADER = "RDF RmtData header";
    RMT_DATA = "RDF RmtData data";
    RMT_TOKEN = "RMT token";
    DRIVER_EVENTS_HEADER = "RDF DDEvent header";
    DRIVER_EVENTS = "RDF DDEvent data";
    DRIVER_EVENT = "DDEvent event";
    ACCEL_STRUCT_HEADER = "RDF RawAccelStruct header";
    ACCEL_STRUCT = "RDF RawAccelStruct data";
    HISTORY_METADATA = "RDF HistoryMetadata data";
    CHUNK_FILE_HEADER = "RMT or SQTT file header";
    CHUNK_FILE_CHUNK = "RMT or SQTT chunk";
    PAGE_FAULT_STORAGE = "storage of what held the address";
    IN_FLIGHT_STORAGE = "storage of command buffers";
    NAMES = "RDF names that overlap";
    STREAM_STORAGE = "storage of a joined RmtData stream";
}
