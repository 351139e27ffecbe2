//! Memory without an allocator: what is borrowed, what is lent, what is static.
//!
//! # Borrowed
//!
//! A view holds the input's address and a few numbers, and what it hands out are slices of the input. They live as long
//! as the input does, not as long as the view:
//!
//! ```
//! fn name(file: &[u8]) -> Option<&str> {
//!     let chunk = traceglass::rfr::Chunk::parse(file).ok()?;
//!     let sequence = chunk.sequences().next()?.ok()?;
//!     let object = sequence.objects().next()?.ok()?;
//!     object.as_task().map(|task| task.name()) // a slice of `file`; the views are gone
//! }
//! # assert_eq!(name(b""), None);
//! ```
//!
//! # Lent
//!
//! Anything that cannot be borrowed, because it does not lie in the input as one piece, is written into memory that the
//! caller lends. Each call says how much it needs, before or in its error:
//!
//! | what | lent | how much |
//! |---|---|---|
//! | data of a compressed RDF chunk | `&mut [u8]` | [`Entry::output_size`](crate::rdf::Entry::output_size) |
//! | zstd's tables | [`zstd::Workspace`](crate::zstd::Workspace) | its size |
//! | lookups by identifier in an RDF index | `&mut [u32]` | the number of entries |
//! | RTC records in several frames | `&mut [u8]` | 16 bytes a frame, and their length; nothing if all are in one frame: [`Records`](crate::rtc::Records) |
//! | RTC's streams | [`StreamSlot`](crate::rtc::StreamSlot)s | one for each stream of a session |
//! | CTF 2 text in one piece | `&mut [u8]` | [`Text::len`](crate::ctf::metadata::Text::len), or nothing if compacted in place |
//! | CTF metadata, compiled | `&mut [Node]` | [`Schema::needed`](crate::ctf::schema::Schema::needed); nothing for a table that `traceglass compile` wrote |
//! | steps through CTF event records | `&mut [ProgramSlot]` | [`Programs::needed`](crate::ctf::data::Programs::needed), or [none](crate::ctf::data::Programs::NONE) |
//! | CTF streams in the order of time | `&mut [MergeSlot]` | one for each stream |
//! | names of RFR tasks, spans and callsites | two [`Room`](crate::Room)s | a slot for each that lives: [`Names`](crate::rfr::Names) |
//! | random access to an RFR chunk | `&mut [DirectoryEntry]` | [`Chunk::sequence_count_max`](crate::rfr::Chunk::sequence_count_max) |
//! | schemas and pools of a dial9 batch | [`dial9::Storage`](crate::dial9::Storage) | a slot for each; an error says how many the batch needs |
//! | dial9 events in the order of time | [`dial9::OrderRooms`](crate::dial9::OrderRooms) | 24 bytes for each run of events whose times do not go back, and for each entry of a pool; 12 for each schema of each batch |
//! | RFR records in the order of time | `&mut [MergeSlot]` | one for each sequence |
//! | tracks and events of any format | [`event::Rooms`](crate::event::Rooms) | what the format's `Timeline` takes; a room that grows, or an error that says how much |
//!
//! A [`Room`](crate::Room) is a slice or an array, or one that grows: with the feature `alloc`, a `Vec`.
//!
//! ```
//! use traceglass::{rdf, zstd};
//!
//! fn snapshot<'b>(
//!     file: &'b [u8],
//!     buffer: &'b mut [u8],
//!     workspace: &mut zstd::Workspace,
//! ) -> traceglass::Result<&'b [u8]> {
//!     let file = rdf::File::parse(file)?;
//!     let Some(chunk) = file.chunk("Snapshot", 0) else { return Ok(&[]) };
//!     chunk.data(buffer, workspace)
//! }
//! ```
//!
//! # Static
//!
//! Everything that is lent can be made in a `static` at compile time; what consists of zeros takes no flash.
//!
//! ```
//! use traceglass::zstd::Workspace;
//! use std::sync::Mutex; // on firmware: a critical section
//!
//! static WORKSPACE: Mutex<Workspace> = Mutex::new(Workspace::new());
//! ```
//!
//! # Input that is not in memory
//!
//! For flash that is not memory-mapped, or a network, a trace can be read from pieces. Nothing here does input itself: a
//! format says which bytes it needs, and reads those alone.
//!
//! - RDF: the header says [which range](crate::rdf::Header::index_range) the index is, an entry of it
//!   [which range](crate::rdf::Entry::stored_range) the data is. A header takes 32 bytes, an entry 64.
//! - CTF 2: a [`Decoder`](crate::ctf::metadata::Decoder) takes bytes as they arrive, however few.
//! - RTC: a major unit begins with all that is needed to understand it: its bytes alone can be walked. What a record
//!   needs from the unit before it is then missing.
//! - RFR: a chunk file is about a second, and is read as a whole; its header says which second.
//! - zstd: [`Decoder::stream`](crate::zstd::Decoder::stream) hands out content that is larger than memory.
//!
//! `examples/flash_pieces.rs` does it with buffers of fixed size, `examples/firmware` on a Cortex-M.
//!
//! # Input that is larger than memory
//!
//! A memory map is a slice like any other: what is not looked at is not read from disk. `examples/mmap_viewer.rs` is a
//! viewer over one, `examples/follow.rs` goes on while a file grows. On 32-bit systems a file may be larger than what can
//! be mapped; sizes and offsets that the file claims are 64 bits there as well, and one that does not fit is an error.
