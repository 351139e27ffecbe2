//! dial9: what a service on tokio did, and when.
//!
//! Version 1 of the wire format of the crate `dial9-trace-format`, as written by its versions 0.2 to 0.5.
//!
//! # Layout
//! ```text
//! trace                     frame
//! ┌──────────────────┐      01 schema ─────────── type id, name, has time, fields: name and type each
//! │ "TRC\0" 01       │      02 event ──────────── type id, time from the base, values in the schema's order
//! │ frame            │      03 string pool ────── id, text …
//! │ frame …          │      04 stack pool ─────── id, addresses …
//! ├──────────────────┤      05 time reset ─────── the new base
//! │ "TRC\0" 01       │      06 annotations ────── type id; of a field: key, value …
//! │ frame …          │
//! └──────────────────┘      event ── type id ──▸ schema;  value ── id ──▸ pool;  of the same batch
//! ```
//! A header begins a *batch*: schemas and pools are empty, and times count from 0. Each thread writes batches of its own,
//! so that a file has many, in the order in which they were written; their times overlap. Files are joined by putting one
//! after the other. Integers are little-endian; **nothing has a length in bytes**: what follows a frame is found by
//! reading it, and an event cannot be read without its schema.
//!
//! [`Frames`] is the way through a trace. It keeps the schemas and pools of a batch in [`Storage`] that the caller lends:
//! slots that say where in the input they stand. An [`Event`] borrows from the input alone. [`Order`] puts the events
//! of all batches in the order of time.
//!
//! # Units
//! Times are nanoseconds of the writer's monotonic clock. `ClockSyncEvent` says what time of day that was.
//!
//! # Examples
//! ```
//! use traceglass::dial9::{Frames, PoolSlot, SchemaSlot, Storage, Value};
//! # let file = b"TRC\0\x01\x01\x07\0\x0e\0PollStartEvent\x01\x01\0\x09\0spawn_loc\x07\
//! #     \x03\x01\0\0\0\0\0\0\0\x0c\0\0\0main.rs:7:16\x05\x40\x42\x0f\0\0\0\0\0\x02\x07\0\x05\0\0\0\0\0\0";
//!
//! let (mut schemas, mut strings) = ([SchemaSlot::EMPTY; 64], [PoolSlot::EMPTY; 1024]);
//! let mut frames = Frames::new(file, Storage::new(&mut schemas).strings(&mut strings));
//! while let Some(event) = frames.next_event()? {
//!     if event.name() == "PollStartEvent"
//!         && let Some(Value::PooledString(id)) = event.get("spawn_loc")
//!     {
//!         assert_eq!(frames.string(id), Some(&b"main.rs:7:16"[..]));
//!     }
//! }
//! # Ok::<(), traceglass::Error>(())
//! ```
//!
//! # Damage
//! Frames have no mark, no length and no checksum. After damage the rest of its batch is lost: [`Frames::recover`] goes
//! on at the next header that a whole frame follows. A flipped bit within a value cannot be seen.
//!
//! # Limits
//! Lists and maps lie at most 32 levels below a first one, as in the format's own reader. Names of schemas and fields, and
//! annotations, must be UTF-8; other text need not be.

mod annotation;
mod check;
pub(crate) mod class;
pub mod element;
mod event;
mod frame;
mod frames;
mod header;
mod kind;
mod layout;
mod order;
mod pool;
mod record;
mod schema;
mod size;
mod storage;
mod stretch;
pub(crate) mod tell;
pub mod tokio;
mod trace;
pub(crate) mod tree;
mod value;
mod write;

pub use annotation::{Annotation, AnnotationEntries, Annotations};
pub use check::check;
pub use event::{Event, Field, Fields};
pub use frame::{Frame, TimeReset};
pub use frames::Frames;
pub use header::{Header, MAGIC, VERSION, detect};
pub use kind::FieldType;
pub use layout::LayoutFields;
#[cfg(feature = "alloc")]
pub use order::OrderStorage;
#[cfg(feature = "event")]
pub(crate) use order::{Filled, Key, PoolsAt};
pub use order::{
    Input, LayoutSlot, Order, OrderRooms, OrderedEvent, OrderedRecord, PoolPlace, Run, TypeSlot,
};
pub use pool::{StackPool, Stacks, StringPool, Strings};
pub use record::{NamedEvent, Records};
#[cfg(feature = "event")]
pub(crate) use schema::Plan;
pub use schema::{FieldDef, FieldDefs, Schema};
pub use storage::{AnnotationSlot, ClassSlot, PoolSlot, SchemaSlot, Storage};
pub use trace::Trace;
#[cfg(feature = "event")]
pub(crate) use value::Brief;
pub use value::{List, Map, Stack, StringMap, Value, Values};
pub use write::Reframed;
