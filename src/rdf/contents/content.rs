//! The contents of a chunk, by its identifier and version.

use super::*;
use crate::error::{Error, ErrorKind, Finding, Result};
use crate::rdf::{Chunk, Compression, Decompress, Identifier};

macro_rules! contents {
    ($($(#[$meta:meta])* $id:literal => $variant:ident($ty:ty),)*) => {
        /// The contents of a chunk.
        #[derive(Clone, Copy, Debug)]
        #[non_exhaustive]
        pub enum Content<'a> {
            $(
                #[doc = concat!("Chunk `", $id, "`.")]
                $(#[$meta])*
                $variant($ty),
            )*
            /// A chunk that is not known.
            #[non_exhaustive]
            Unknown {
                /// The chunk's header.
                header: &'a [u8],
                /// The chunk's data.
                data: &'a [u8],
            },
        }

        impl Content<'_> {
            /// Identifiers of the chunks that are known.
            pub const IDENTIFIERS: &'static [&'static str] = &[$($id),*];
        }
    };
}

contents! {
    "ApiInfo" => Api(ApiInfo<'a>),
    "AsicInfo" => Asic(AsicInfo<'a>),
    "AdapterInfo" => Adapter(AdapterInfo<'a>),
    "SystemInfo" => System(SystemInfo<'a>),
    "DriverOverrides" => DriverOverrides(DriverOverrides<'a>),
    "TraceConfig" => TraceConfig(Json<'a>),
    "RgdExtendedInfo" => ExtendedInfo(Json<'a>),
    "TraceProcessInfo" => Process(ProcessInfo<'a>),
    "GpuMemSegment" => MemorySegments(MemorySegments<'a>),
    "TraceError" => TraceError(TraceError<'a>),
    "CodeObject" => CodeObject(CodeObject<'a>),
    "COLoadEvent" => LoadEvents(LoadEvents<'a>),
    "PsoCorrelation" => PipelineHashes(PipelineHashes<'a>),
    "COCorrelation" => CodeObjectHashes(CodeObjectHashes<'a>),
    "QueueInfo" => QueueInfo(QueueInfo<'a>),
    "QueueEvent" => QueueEvent(QueueEvent<'a>),
    "ClockCalibration" => ClockCalibration(ClockCalibration),
    "SqttData" => Sqtt(SqttData<'a>),
    "SpmSession" => SpmSession(SpmSession<'a>),
    "SpmCounterData" => SpmCounter(SpmCounter<'a>),
    "StringTable" => StringTable(StringTable<'a>),
    "UserMarkerHist" => MarkerHistory(MarkerHistory<'a>),
    "RmvSnapshotData" => Snapshot(Snapshot<'a>),
    "RmvSnapshotIndex" => SnapshotIndex(SnapshotIndex<'a>),
    "RmtData" => Rmt(RmtData<'a>),
    "DDEvent" => DriverEvents(DriverEvents<'a>),
    /// In older files `RawAccelStruc`.
    "RawAccelStruct" => AccelStruct(AccelStruct<'a>),
    "HistoryMetadata" => HistoryMetadata(HistoryMetadata<'a>),
}

impl<'a> Content<'a> {
    /// The content of a chunk with that identifier and version.
    ///
    /// # Errors
    /// [`UnsupportedVersion`](crate::ErrorKind::UnsupportedVersion) of a chunk that is known;
    /// [`UnexpectedEnd`](crate::ErrorKind::UnexpectedEnd) where header or data are shorter than the structure; JSON that
    /// is none. Offsets count from the start of the header or of the data, whichever the element names.
    #[inline]
    pub fn parse(identifier: Identifier, version: u32, header: &'a [u8], data: &'a [u8]) -> Result<Self> {
        // One chunk an event: nothing else is as frequent.
        if identifier.bytes() == b"QueueEvent\0\0\0\0\0\0" {
            return QueueEvent::parse(version, data).map(Self::QueueEvent);
        }
        Self::parse_any(identifier, version, header, data)
    }

    #[inline(never)]
    fn parse_any(identifier: Identifier, version: u32, header: &'a [u8], data: &'a [u8]) -> Result<Self> {
        Ok(match identifier.name() {
            b"ApiInfo" => Self::Api(ApiInfo::parse(version, data)?),
            b"AsicInfo" => Self::Asic(AsicInfo::parse(version, data)?),
            b"AdapterInfo" => Self::Adapter(AdapterInfo::parse(version, data)?),
            b"SystemInfo" => Self::System(SystemInfo::parse(version, data)?),
            b"DriverOverrides" => Self::DriverOverrides(DriverOverrides::parse(version, data)?),
            b"TraceConfig" => {
                api::supported(version, 1..=1)?;
                Self::TraceConfig(Json::parse(data, element::TRACE_CONFIG)?)
            }
            b"RgdExtendedInfo" => {
                api::supported(version, 1..=1)?;
                Self::ExtendedInfo(Json::parse(data, element::EXTENDED_INFO)?)
            }
            b"TraceProcessInfo" => Self::Process(ProcessInfo::parse(version, data)?),
            b"GpuMemSegment" => Self::MemorySegments(MemorySegments::parse(version, data)?),
            b"TraceError" => Self::TraceError(TraceError::parse(version, header, data)?),
            b"CodeObject" => Self::CodeObject(CodeObject::parse(version, header, data)?),
            b"COLoadEvent" => Self::LoadEvents(LoadEvents::parse(version, header, data)?),
            b"PsoCorrelation" => Self::PipelineHashes(PipelineHashes::parse(version, header, data)?),
            b"COCorrelation" => Self::CodeObjectHashes(CodeObjectHashes::parse(version, header, data)?),
            b"QueueInfo" => Self::QueueInfo(QueueInfo::parse(version, data)?),
            b"QueueEvent" => Self::QueueEvent(QueueEvent::parse(version, data)?),
            b"ClockCalibration" => Self::ClockCalibration(ClockCalibration::parse(version, data)?),
            b"SqttData" => Self::Sqtt(SqttData::parse(version, header, data)?),
            b"SpmSession" => Self::SpmSession(SpmSession::parse(version, header, data)?),
            b"SpmCounterData" => Self::SpmCounter(SpmCounter::parse(version, header, data)?),
            b"StringTable" => Self::StringTable(StringTable::parse(version, header, data)?),
            b"UserMarkerHist" => Self::MarkerHistory(MarkerHistory::parse(version, header, data)?),
            b"RmvSnapshotData" => Self::Snapshot(Snapshot::parse(version, data)?),
            b"RmvSnapshotIndex" => Self::SnapshotIndex(SnapshotIndex::parse(version, header, data)?),
            b"RmtData" => Self::Rmt(RmtData::parse(version, header, data)?),
            b"DDEvent" => Self::DriverEvents(DriverEvents::parse(version, header, data)?),
            b"RawAccelStruct" | b"RawAccelStruc" => {
                Self::AccelStruct(AccelStruct::parse(version, header, data)?)
            }
            b"HistoryMetadata" => Self::HistoryMetadata(HistoryMetadata::parse(version, data)),
            _ => Self::Unknown { header, data },
        })
    }

    /// The most bytes that are read of a compressed chunk with so many stored bytes, if what is in it is known: tables
    /// compress no better than to a 32nd, unlike a byte that is repeated.
    pub const fn limit(stored: u64) -> u64 {
        stored.saturating_mul(32).saturating_add(8 << 20)
    }

    /// An error of the content of a chunk, as one of the file: located where its data is stored, if it is compressed.
    pub fn located(chunk: &Chunk<'_>, error: Error) -> Error {
        let entry = chunk.entry();
        let in_header = error.element().name().as_bytes().ends_with(b"header");
        let range = if in_header { entry.header_range() } else { entry.stored_range() };
        let start = range.map_or(entry.offset(), |range| range.start);
        let raw = in_header || entry.compression() == Compression::None;
        let offset = match error.kind() {
            // The version stands in the index.
            ErrorKind::UnsupportedVersion { .. } => entry.offset().saturating_add(20),
            _ if raw => start.saturating_add(error.offset()),
            _ => start,
        };
        Error::new(offset, error.element(), error.kind())
    }

    /// Reads all of it and reports what is wrong.
    ///
    /// The tokens of [`RmtData`] are not read, for they may continue in another chunk: [`rmt::Stream::check`] does it.
    pub fn check(&self, report: &mut dyn FnMut(Finding)) {
        match self {
            Self::Asic(asic) => asic.check(report),
            Self::Adapter(adapter) => adapter.check(report),
            Self::Process(process) => process.check(report),
            Self::MemorySegments(segments) => {
                let element = element::MEMORY_SEGMENTS;
                segments.table.check(0, element, element, report);
            }
            Self::CodeObject(code) => code.check(report),
            Self::LoadEvents(events) => {
                events.table.check(0, element::LOAD_EVENTS_HEADER, element::LOAD_EVENTS, report);
            }
            Self::PipelineHashes(hashes) => hashes.check(report),
            Self::CodeObjectHashes(hashes) => {
                let (header, data) = (element::CODE_OBJECT_HASHES_HEADER, element::CODE_OBJECT_HASHES);
                hashes.table.check(0, header, data, report);
            }
            Self::SpmSession(session) => session.check(report),
            Self::SpmCounter(counter) => counter.check(report),
            Self::StringTable(strings) => strings.check(report),
            Self::MarkerHistory(history) => {
                let (header, data) = (element::MARKER_HISTORY_HEADER, element::MARKER_HISTORY);
                history.ops.check(8, header, data, report);
            }
            Self::Snapshot(snapshot) => snapshot.check(report),
            Self::SnapshotIndex(index) => {
                let (header, data) = (element::SNAPSHOT_INDEX_HEADER, element::SNAPSHOT_INDEX);
                index.places.check(0, header, data, report);
            }
            Self::Rmt(rmt) => rmt.check(report),
            Self::DriverEvents(events) => events.check(report),
            Self::AccelStruct(structure) => structure.check(report),
            Self::HistoryMetadata(history) => history.check(report),
            Self::Api(_)
            | Self::System(_)
            | Self::DriverOverrides(_)
            | Self::TraceConfig(_)
            | Self::ExtendedInfo(_)
            | Self::TraceError(_)
            | Self::QueueInfo(_)
            | Self::QueueEvent(_)
            | Self::ClockCalibration(_)
            | Self::Sqtt(_)
            | Self::Unknown { .. } => {}
        }
    }
}

impl<'a> Chunk<'a> {
    /// The contents of the chunk; compressed data is decompressed into the front of `buffer`.
    ///
    /// # Errors
    /// The errors of [`Chunk::data`](crate::rdf::Chunk::data), located in the file, and those of [`Content::parse`],
    /// located in the chunk.
    pub fn content<'b>(
        &self,
        buffer: &'b mut [u8],
        decoder: &mut (impl Decompress + ?Sized),
    ) -> Result<Content<'b>>
    where
        'a: 'b,
    {
        let data = self.data(buffer, decoder)?;
        Content::parse(self.entry().identifier(), self.entry().version(), self.header()?, data)
    }
}
