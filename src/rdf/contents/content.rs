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

        /// A chunk that is known.
        #[derive(Clone, Copy)]
        enum Known {
            $($variant,)*
        }

        impl Known {
            /// The one with this identifier, compared as a number: there may be a chunk for each event.
            #[inline]
            fn of(identifier: Identifier) -> Option<Self> {
                let key = identifier.key();
                $(
                    if const { key_of($id) } == key {
                        return Some(Self::$variant);
                    }
                )*
                (const { key_of("RawAccelStruc") } == key).then_some(Self::AccelStruct)
            }
        }
    };
}

/// The key of an identifier that is known.
const fn key_of(identifier: &str) -> u128 {
    match Identifier::new(identifier) {
        Some(identifier) => identifier.key(),
        None => 0,
    }
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
        Self::parse_known(identifier, version, header, data)
    }

    #[inline(never)]
    fn parse_known(identifier: Identifier, version: u32, header: &'a [u8], data: &'a [u8]) -> Result<Self> {
        let Some(known) = Known::of(identifier) else { return Ok(Self::Unknown { header, data }) };
        Ok(match known {
            Known::Api => Self::Api(ApiInfo::parse(version, data)?),
            Known::Asic => Self::Asic(AsicInfo::parse(version, data)?),
            Known::Adapter => Self::Adapter(AdapterInfo::parse(version, data)?),
            Known::System => Self::System(SystemInfo::parse(version, data)?),
            Known::DriverOverrides => Self::DriverOverrides(DriverOverrides::parse(version, data)?),
            Known::TraceConfig => {
                api::supported(version, 1..=1)?;
                Self::TraceConfig(Json::parse(data, element::TRACE_CONFIG)?)
            }
            Known::ExtendedInfo => {
                api::supported(version, 1..=1)?;
                Self::ExtendedInfo(Json::parse(data, element::EXTENDED_INFO)?)
            }
            Known::Process => Self::Process(ProcessInfo::parse(version, data)?),
            Known::MemorySegments => Self::MemorySegments(MemorySegments::parse(version, data)?),
            Known::TraceError => Self::TraceError(TraceError::parse(version, header, data)?),
            Known::CodeObject => Self::CodeObject(CodeObject::parse(version, header, data)?),
            Known::LoadEvents => Self::LoadEvents(LoadEvents::parse(version, header, data)?),
            Known::PipelineHashes => Self::PipelineHashes(PipelineHashes::parse(version, header, data)?),
            Known::CodeObjectHashes => {
                Self::CodeObjectHashes(CodeObjectHashes::parse(version, header, data)?)
            }
            Known::QueueInfo => Self::QueueInfo(QueueInfo::parse(version, data)?),
            Known::QueueEvent => Self::QueueEvent(QueueEvent::parse(version, data)?),
            Known::ClockCalibration => Self::ClockCalibration(ClockCalibration::parse(version, data)?),
            Known::Sqtt => Self::Sqtt(SqttData::parse(version, header, data)?),
            Known::SpmSession => Self::SpmSession(SpmSession::parse(version, header, data)?),
            Known::SpmCounter => Self::SpmCounter(SpmCounter::parse(version, header, data)?),
            Known::StringTable => Self::StringTable(StringTable::parse(version, header, data)?),
            Known::MarkerHistory => Self::MarkerHistory(MarkerHistory::parse(version, header, data)?),
            Known::Snapshot => Self::Snapshot(Snapshot::parse(version, data)?),
            Known::SnapshotIndex => Self::SnapshotIndex(SnapshotIndex::parse(version, header, data)?),
            Known::Rmt => Self::Rmt(RmtData::parse(version, header, data)?),
            Known::DriverEvents => Self::DriverEvents(DriverEvents::parse(version, header, data)?),
            Known::AccelStruct => Self::AccelStruct(AccelStruct::parse(version, header, data)?),
            Known::HistoryMetadata => Self::HistoryMetadata(HistoryMetadata::parse(version, data)),
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
