//! The chunks that have events, and their data.

use super::entries::{FIRST, SECOND, is_one_of, output_size};
use super::fields::RdfData;
use super::lane::{Content, Head, Lane};
use super::pieces::{Pieces, Rest, Sizes, Streams, gap_of, piece_of, stream_of};
use super::timeline::Timeline;
use super::tracks::{Gpu, Key, Known, Place, Space, TrackSlot};
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result, Severity};
use crate::event::element::{BUFFER, OVERLAPPING};
use crate::event::label::Label;
use crate::event::track::TrackKind;
use crate::gap::Gap;
use crate::rdf::contents::rmt::{PieceOf, RmtData, RmtFields};
use crate::rdf::contents::{self, Content as Chunked, PciId, Provider, StructureRecord};
use crate::rdf::element::CHUNK_DATA;
use crate::rdf::{Chunk, Compression, Decompress, Entry, File};
use crate::room::Room;

/// A chunk that was read.
#[derive(Clone, Copy)]
struct Loaded<'s> {
    chunk: Chunk<'s>,
    entry: Entry<'s>,
    header: &'s [u8],
    data: &'s [u8],
    /// The offset of the stored data, its size, and whether it is the data itself, not compressed.
    offset: u64,
    len: u64,
    exact: bool,
}

impl<'s> Loaded<'s> {
    fn content(&self) -> Result<Chunked<'s>> {
        Chunked::parse(self.entry.identifier(), self.entry.version(), self.header, self.data)
            .map_err(|error| Chunked::located(&self.chunk, error))
    }

    /// The first fault of a table: what it lacks is told after what it has.
    fn fault(&self, content: &Chunked<'s>) -> Option<Lane<'s>> {
        let mut fault = None;
        content.check(&mut |finding| {
            if finding.severity() == Severity::Error {
                fault.get_or_insert(finding.cause());
            }
        });
        let fault = Chunked::located(&self.chunk, fault?);
        // Of what is compressed nobody knows how much of it that is.
        let end = if self.exact { self.offset.saturating_add(self.len) } else { 0 };
        let is_data = fault.offset() >= self.offset;
        let len = if is_data { end.saturating_sub(fault.offset()) } else { 0 };
        Some(Lane::new(Content::Gap(Gap::new(fault.offset(), len, fault)), fault.offset(), len, true))
    }

    /// The fields of its structures: of the header, if it has some there.
    fn record(&self, cpu_hz: Option<u64>) -> RdfData<'s> {
        self.structure(cpu_hz).map_or(RdfData::None, RdfData::Structure)
    }

    fn structure(&self, cpu_hz: Option<u64>) -> Option<StructureRecord<'s>> {
        let (id, version) = (self.entry.identifier(), self.entry.version());
        StructureRecord::of_chunk(id, version, self.header, self.data, cpu_hz).next()
    }

    fn lane(&self, content: Content<'s>) -> Lane<'s> {
        Lane::new(content, self.offset, self.len, self.exact)
    }
}

/// The memory that is read into, and how much more may be read.
struct Reader<'s> {
    buffer: &'s mut [u8],
    /// The number of bytes of chunks that may be read in all: they may overlap, and claim to be large.
    limit: u64,
    read: u64,
}

impl<'s> Reader<'s> {
    /// The first bytes of the buffer, which nothing else gets.
    fn take(&mut self, size: u64, offset: u64) -> Result<&'s mut [u8]> {
        let capacity = to_u64(self.buffer.len());
        let len = usize::try_from(size).ok().filter(|&len| len <= self.buffer.len());
        let taken = len.and_then(|len| core::mem::take(&mut self.buffer).split_at_mut_checked(len));
        let Some((front, rest)) = taken else {
            let kind = ErrorKind::CapacityExceeded { capacity, needed: size };
            return Err(Error::new(offset, BUFFER, kind));
        };
        self.buffer = rest;
        Ok(front)
    }

    /// Counts a chunk with so many bytes, if they may be read.
    fn count(&mut self, size: u64, offset: u64) -> Result<()> {
        let value = self.read.saturating_add(size);
        if value > self.limit {
            let kind = ErrorKind::OverLimit { value, limit: self.limit };
            return Err(Error::new(offset, OVERLAPPING, kind));
        }
        self.read = value;
        Ok(())
    }

    fn load(&mut self, chunk: Chunk<'s>, decoder: &mut dyn Decompress) -> Result<Loaded<'s>> {
        let entry = chunk.entry();
        let (header, stored) = (chunk.header()?, chunk.stored()?);
        let offset = entry.stored_range()?.start;
        let exact = entry.compression() == Compression::None;
        let size = output_size(&entry)?;
        self.count(size.saturating_add(to_u64(header.len())), offset)?;
        let data = if exact {
            stored
        } else {
            let buffer = self.take(size, offset)?;
            entry.decode(stored, buffer, decoder)?
        };
        Ok(Loaded { chunk, entry, header, data, offset, len: to_u64(stored.len()), exact })
    }
}

impl<'s, T: Room<TrackSlot<'s>>, L: Room<Lane<'s>>> Timeline<'s, T, L> {
    /// The timeline of a file, which events refer to as `input`.
    ///
    /// What is compressed is decompressed into `buffer`: memory traces chunk by chunk when their turn comes, all else now.
    /// [`needed`](super::needed) tells how much that is.
    ///
    /// # Errors
    /// The errors of [`File::recover`]; `CapacityExceeded`.
    pub fn new(
        input: usize,
        data: &'s [u8],
        buffer: &'s mut [u8],
        decoder: &'s mut dyn Decompress,
        tracks: T,
        lanes: L,
    ) -> Result<Self> {
        let (file, gap) = File::recover(data)?;
        let mut this = Self::empty(input, Pieces::new(file, decoder), tracks, lanes);
        if let Some(gap) = gap {
            this.add(Lane::new(Content::Gap(gap), gap.offset(), gap.len(), true))?;
        }
        this.read(&file, buffer)?;
        this.open_lanes();
        Ok(this)
    }

    /// Reads the chunks, those first that others refer to.
    fn read(&mut self, file: &File<'s>, buffer: &'s mut [u8]) -> Result<()> {
        let streams = Streams::of(file);
        let size = to_u64(file.data().len()).saturating_mul(2).saturating_add(1 << 20);
        let limit = size.saturating_add(to_u64(buffer.len()));
        let mut reader = Reader { buffer, limit, read: 0 };
        for names in [&FIRST[..], &SECOND[..]] {
            for entry in file.entries().filter(|entry| is_one_of(entry, names)) {
                let Some(chunk) = file.chunk_at(entry.number()) else { continue };
                if stream_of(PieceOf::of(&chunk)).is_some() {
                    continue;
                }
                let loaded = reader.load(chunk, self.pieces.decoder());
                // What happened is not lost with a fact that is none, or too much to be one.
                let is_none = match &loaded {
                    Ok(loaded) => loaded.content().is_err(),
                    Err(error) => {
                        error.element() == CHUNK_DATA && matches!(error.kind(), ErrorKind::OverLimit { .. })
                    }
                };
                if is_none && names == FIRST {
                    continue;
                }
                let done = loaded.and_then(|loaded| self.take(&loaded));
                self.mend(&chunk, done)?;
            }
        }
        self.pieces.set_memory(core::mem::take(&mut reader.buffer));
        (reader.read, reader.limit) = (0, Chunked::limit(to_u64(file.data().len())));
        for (number, sizes) in streams.each() {
            self.join(number, sizes, &mut reader)?;
        }
        Ok(())
    }

    /// Turns the error of a chunk into a gap event, except that the room is too small.
    fn mend(&mut self, chunk: &Chunk<'s>, done: Result<()>) -> Result<()> {
        let Err(error) = done else { return Ok(()) };
        if let ErrorKind::CapacityExceeded { .. } = error.kind() {
            return Err(error);
        }
        let gap = gap_of(&self.pieces.file(), chunk, error);
        self.add(Lane::new(Content::Gap(gap), gap.offset(), gap.len(), true))
    }

    /// The stream of this number: as it lies in the file if it is one piece, else from a room for its pieces. It ends
    /// before one that cannot be found or claims too much, or does not say whether it is one of this stream.
    fn join(&mut self, number: usize, sizes: Sizes, reader: &mut Reader<'s>) -> Result<()> {
        let file = self.pieces.file();
        let mut first: Option<(Loaded<'s>, RmtData<'s>)> = None;
        let (mut end, mut is_lost) = (0, false);
        for chunk in file.chunks("RmtData") {
            let piece = PieceOf::of(&chunk);
            is_lost |= first.is_some() && matches!(piece, PieceOf::Any);
            if stream_of(piece) != Some(number) {
                continue;
            }
            let entry = chunk.entry();
            let done = piece_of(&chunk).and_then(|(stored, size)| {
                let (header, offset) = (chunk.header()?, entry.stored_range()?.start);
                reader.count(size.saturating_add(to_u64(header.len())), offset)?;
                let len = to_u64(stored.len());
                let exact = sizes.is_lent();
                let data = if exact { stored } else { &[] };
                let loaded = Loaded { chunk, entry, header, data, offset, len, exact };
                if let (Chunked::Rmt(rmt), false) = (loaded.content()?, is_lost) {
                    first.get_or_insert((loaded, rmt));
                    end = entry.number().saturating_add(1);
                }
                Ok(())
            });
            is_lost |= done.is_err();
            self.mend(&chunk, done)?;
        }
        let Some((loaded, rmt)) = first else { return Ok(()) };
        let fields = rmt.fields();
        let rest = if sizes.is_lent() {
            Rest::lent(fields, rmt.data())
        } else {
            let room = self.pieces.room(sizes).map_err(|kind| Error::new(loaded.offset, BUFFER, kind))?;
            Rest::joined(fields, number, room, loaded.entry.number()..end)
        };
        self.add_stream(&loaded, fields, rest)
    }

    fn add_stream(&mut self, loaded: &Loaded<'s>, fields: RmtFields<'_>, rest: Rest<'s>) -> Result<()> {
        let (process, stream) = (fields.process(), fields.stream());
        let label = match process {
            0 => Label::Numbered("memory, stream", stream.into()),
            _ => Label::Numbered("memory of process", process.into()),
        };
        let data = loaded.record(None);
        let key = Key(Space::Memory, stream, process.into());
        self.add_track(key, TrackKind::Stream, label, data)?;
        let head = Head::End;
        self.add(loaded.lane(Content::Tokens { rest, head, process, stream, hz: None, reserved: 0 }))
    }

    fn add_track(
        &mut self,
        key: Key,
        kind: TrackKind<'static>,
        label: Label<'s>,
        data: RdfData<'s>,
    ) -> Result<()> {
        let place = Place { id: None, parent: None, kind, label, data, open: 0 };
        self.tracks.add(key, 0, Known::Track(place)).map(drop)
    }

    /// Takes in what a chunk says.
    fn take(&mut self, loaded: &Loaded<'s>) -> Result<()> {
        let at = loaded.offset;
        let content = loaded.content()?;
        match content {
            Chunked::System(system) => {
                self.cpu_hz = self.cpu_hz.or(system.cpu_hz());
                self.gpu_hz = self.gpu_hz.or(system.gpu_hz());
            }
            Chunked::Asic(asic) => {
                let hz = asic.gpu_hz();
                if let Some(gpu) = self.gpu(asic.pci(), at)? {
                    gpu.hz = gpu.hz.or(hz);
                }
            }
            Chunked::ClockCalibration(calibration) => {
                if let Some(gpu) = self.gpu(calibration.pci(), at)? {
                    gpu.calibration = gpu.calibration.or(Some(calibration));
                }
            }
            Chunked::StringTable(strings) => {
                let key = Key(Space::Strings, strings.fields().table(), 0);
                self.tracks.add(key, at, Known::Strings(strings)).map(drop)?;
            }
            Chunked::SpmSession(session) => {
                let size = session.times().len().saturating_mul(8);
                let times = loaded.data.get(..size).unwrap_or_default();
                self.tracks.add(session_key(session.pci()), at, Known::Times(times)).map(drop)?;
            }
            Chunked::QueueInfo(info) => {
                let data = loaded.record(None);
                let (pci, queue) = (info.pci().number(), info.queue());
                self.add_queue(pci, queue, data)?;
            }
            Chunked::QueueEvent(event) => {
                self.add_queue(event.pci().number(), event.queue(), RdfData::None)?;
                if let Some(record) = loaded.structure(self.cpu_hz) {
                    self.add(loaded.lane(Content::Queue { event, record, on: None }))?;
                }
            }
            Chunked::Snapshot(snapshot) => {
                let label = Label::Text("snapshots");
                self.add_track(Key(Space::Snapshots, 0, 0), TrackKind::Stream, label, RdfData::None)?;
                if let Some(record) = loaded.structure(self.cpu_hz) {
                    self.add(loaded.lane(Content::Snapshot { snapshot, record }))?;
                }
            }
            // Streams of this number are not joined: each chunk is read by itself.
            Chunked::Rmt(rmt) => {
                let fields = rmt.fields();
                self.add_stream(loaded, fields, Rest::lent(fields, rmt.data()))?;
            }
            Chunked::DriverEvents(events) => {
                let fields = events.fields();
                let provider = fields.provider();
                let label = match provider {
                    Provider::Umd => Label::Text("driver in the process"),
                    Provider::Kmd => Label::Text("driver in the kernel"),
                    Provider::Other(number) => Label::Numbered("driver", number.into()),
                };
                let data = loaded.record(None);
                let provider = provider.number();
                self.add_track(Key(Space::Driver, provider, 0), TrackKind::Stream, label, data)?;
                let hz = Some(fields.hz()).filter(|&hz| hz > 0);
                let (events, head) = (events.events(), Head::End);
                self.add(loaded.lane(Content::Driver { events, head, provider, hz }))?;
            }
            Chunked::LoadEvents(events) => {
                let label = Label::Text("code objects");
                self.add_track(Key(Space::CodeObjects, 0, 0), TrackKind::Stream, label, RdfData::None)?;
                let size = events.events().len().saturating_mul(contents::LoadFields::SIZE);
                let rest = loaded.data.get(..size).unwrap_or_default();
                let version = loaded.entry.version();
                self.add(loaded.lane(Content::Loads { rest, version, read: 0 }))?;
            }
            Chunked::SpmCounter(counter) => self.add_counter(loaded, &counter)?,
            Chunked::MarkerHistory(history) => {
                let fields = history.fields();
                let cmd_buffer = fields.sqtt_cmd_buffer();
                let label = Label::Numbered("user markers of command buffer", cmd_buffer.into());
                self.add_track(Key(Space::History, cmd_buffer, 0), TrackKind::Thread, label, RdfData::None)?;
                let rest = loaded.data.get(..history.ops().len().saturating_mul(4)).unwrap_or_default();
                let table = fields.table();
                self.add(loaded.lane(Content::Markers { rest, cmd_buffer, table, read: 0 }))?;
            }
            _ => {}
        }
        match content {
            Chunked::LoadEvents(_) | Chunked::SpmCounter(_) | Chunked::MarkerHistory(_) => {
                loaded.fault(&content).map_or(Ok(()), |lane| self.add(lane))
            }
            _ => Ok(()),
        }
    }

    /// The clock of a GPU; without an id, the one for all GPUs.
    fn gpu(&mut self, pci: Option<PciId>, at: u64) -> Result<Option<&mut Gpu>> {
        let Some(pci) = pci else { return Ok(Some(&mut self.any_gpu)) };
        let known = self.tracks.add(Key(Space::Gpu, pci.number(), 0), at, Known::Gpu(Gpu::default()))?;
        Ok(match known {
            Some(Known::Gpu(gpu)) => Some(gpu),
            _ => None,
        })
    }

    fn add_queue(&mut self, pci: u32, queue: u64, data: RdfData<'s>) -> Result<()> {
        let label = Label::Numbered("queue", queue);
        self.add_track(Key(Space::Queue(0), pci, queue), TrackKind::Queue, label, data)
    }

    fn add_counter(&mut self, loaded: &Loaded<'s>, counter: &contents::SpmCounter<'s>) -> Result<()> {
        let fields = counter.fields();
        let number = self.counters;
        self.counters = number.saturating_add(1);
        let label = match fields.block().name() {
            Some(name) => Label::Numbered(name, fields.event().into()),
            None => Label::Numbered("counter", fields.event().into()),
        };
        let data = loaded.record(None);
        self.add_track(Key(Space::Counter, 0, number), TrackKind::Counter { unit: None }, label, data)?;
        let times = match self.tracks.get(session_key(counter.pci())) {
            Some(&mut Known::Times(times)) => times,
            _ => &[],
        };
        let width = if fields.item_size() == 2 { 2 } else { 4 };
        let size = usize::try_from(counter.len()).unwrap_or(usize::MAX).saturating_mul(usize::from(width));
        let rest = loaded.data.get(..size).unwrap_or_default();
        let pci = counter.pci().map(PciId::number);
        self.add(loaded.lane(Content::Samples { rest, times, width, number, pci, read: 0 }))
    }
}

fn session_key(pci: Option<PciId>) -> Key {
    Key(Space::Session, pci.map_or(0, PciId::number), pci.is_some().into())
}
