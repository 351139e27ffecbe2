//! The layout of a trace's data streams: compiled from its metadata into storage that the caller lends.
//!
//! A [`Schema`] knows the field classes of a trace, its clocks, its data stream classes and its event record classes.
//! It follows CTF2-SPEC-2.0, and is the same for traces that are described in JSON and in the TSDL of CTF 1.8.
//!
//! # Layout
//!
//! ```text
//! nodes: | class … | class … | table →      ← ranges, labels, locations |
//!          front, depth first                 end
//! ```
//!
//! A schema can be [written](Schema::write) as a table, from which it is [read](Schema::parse) without the metadata.
//!
//! # Limits
//!
//! - Lengths of 2³² and more (bits, bytes or elements) in a fixed-length class are refused.
//! - Field classes nest at most 64 deep. At most 16 lengths and selectors are remembered at a time: those of a record
//!   that are members of its payload itself, up to the last member that needs them.

// # How a compiler of another language emits a schema
//
// Everything goes through `builder::Builder`; a compiler never writes nodes of its own accord.
//
// 1. `Builder::new(nodes)`; set `builder.uuid` if the trace has one, and `builder.offset` (an offset in the file, for
//    errors) from time to time.
// 2. For the trace class, each clock class, each stream class and each event record class, in this order of need (a
//    stream class before its events): `let at = builder.begin()?`, the root structures, then `end_trace(at)`,
//    `end_clock(at, &spec)`, `end_stream(at, &spec, clock)`, `end_event(at, &spec, stream)`. Give a root its scope by
//    `builder.root(index, Scope::…)` after it was closed. The roots of a stream stand in the order of `Scope`.
// 3. A field class: `let class = builder.open(node)?`, its children one after the other in document order, then
//    `builder.close(class)`, and for structures and variants `builder.index_names(…)` with the number of members or
//    options (where the language does not let ranges overlap, with that of the ranges, too). The size of a scalar is
//    known. The fields of a `Node`:
//    - `kind`; `a`: length in bits (fixed-length), bytes (strings, BLOBs) or elements (arrays);
//      dynamic ones, optionals, variants: `a` is the first node of the location: from `builder.step(origin, Step::…)`
//      once for each step, then `builder.end_list(last)`. The origin belongs to the first step.
//    - `set_align_log2`: the field's own alignment, or the minimum alignment of structures and arrays. The real one is
//      computed by `finish`, as are sizes and slots.
//    - flags `BIG`, `REVERSED`; `roles` (see `node::role`); strings: `roles = encoding << ENCODING_SHIFT`;
//      the display base by `set_base`.
//    - `b`: the first label of mappings or flags: `builder.label(place)?`, `builder.range(lo, hi)?` for each of its
//      ranges, `builder.end_list(last range)`, the number of ranges into the label's `size` by `builder.update`; the
//      last label is marked by `end_list`. `NONE` if there are none. Optional: the first range of its selector, or
//      `NONE`. Variant: each child is a `Kind::Choice` with `a` as its number, `b` as its first range (in TSDL `NONE`: the
//      labels of the selector give it) and the class as its only child.
//    - the name of a member stands on its class (`set_name`), that of an option on the `Choice`. A `Place` is where the
//      name stands in the *file*; `Step::Name` compares as written, `UNDERSCORE` only hides one `_` in what is shown.
// 4. A type that is used again: `builder.copy(index)` copies a closed class with all its children; then `update` its
//    name. Ranges, labels and locations are shared by the copies, and each copy resolves its locations anew.
// 5. `builder.finish(stream)` resolves locations, computes alignments and sizes, sorts the tables.
// 6. What is needed beforehand: run the same compiler over `Builder::counting(scratch)`, then `builder.needed()`.
//    Such a builder stores nothing: `node()` gives an empty one, `find_…` nothing; `copy` must not be used (count the
//    nodes by `open`/`side`).

mod builder;
mod class;
mod clock;
mod compile;
mod compiled;
pub mod element;
mod environment;
mod escape;
mod finish;
pub mod json;
mod layout;
mod name;
mod named;
mod names;
pub(crate) mod node;
mod order;
mod ranges;
mod resolve;
mod roles;
#[allow(clippy::module_inception)]
mod schema;
pub(crate) mod scope;
mod slots;
mod spec;
mod stream;
pub(crate) mod table;
mod trie;
pub mod tsdl;
mod validate;
#[cfg(not(fuzzing))]
mod work;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod work;

pub use class::{Encoding, FieldClass, FieldKind, Labels, Mapping, Mappings};
pub use clock::Clock;
pub use environment::{Environment, EnvironmentValue};
pub use name::Name;
pub use node::Node;
pub use schema::Schema;
pub use scope::Scope;
pub use stream::{EventClass, StreamClass};
