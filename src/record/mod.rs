//! The fields of a record, told once for every reader of it.
//!
//! A record (an event of CTF, a token of RDF, a poll of RFR, a sample of RTC …) tells a [`Listener`] its fields in
//! order. Text, JSON, a table's columns and a viewer's rows are listeners; none of them knows a format, and no format
//! knows a listener.
//!
//! Constant facts and changing ones are kept apart. Names, types, hints and labels belong to a [`Class`]; a listener
//! asks for them once. Each record then costs static calls that carry a number for the class and for the field.
//!
//! # Layout
//! ```text
//! listener.begin(&head, &class)   -> Wants: which scopes, or nothing
//!   scope(Payload)                            {
//!     text(slot 12, "bash")                     prev_comm="bash"
//!     signed(slot 13, 17)                       prev_tid=17
//!     list(slot 14, 2)                          freqs=[
//!       unsigned(slot 15, 5) ..                   5 9
//!     end_list()                                ]
//!   end_scope()                               }
//! listener.end()  or  listener.abandon()      a field cannot be read: take back what was said
//! ```
//!
//! # Units
//! The time of a [`Head`] is in nanoseconds. A field says its own unit in its [`FieldInfo`].
//!
//! # Errors
//! A record that cannot be read in full is [abandoned](Listener::abandon), and [`Record::tell`] returns the located
//! error. A listener never sees half a record as a whole one.
//!
//! # Examples
//! A listener that writes a line for each record:
//! ```
//! use traceglass::record::{Class, FieldInfo, Head, Kind, Listener, Record, Slot, Step, Text, Wants};
//! use traceglass::record::{Fixed, FixedClass};
//! use std::collections::HashMap;
//!
//! #[derive(Default)]
//! struct Lines {
//!     names: HashMap<Slot, String>,
//!     line: String,
//! }
//!
//! impl Listener for Lines {
//!     fn begin(&mut self, _: &Head, class: &dyn Class) -> Wants {
//!         class.fields(&mut |step| {
//!             if let Step::Field(FieldInfo { slot, name: Some(name), .. }) = step {
//!                 self.names.insert(slot, name.to_string());
//!             }
//!         });
//!         self.line = class.name().to_string();
//!         Wants::ALL
//!     }
//!     fn unsigned(&mut self, slot: Slot, value: u64) {
//!         self.line += &format!(" {}={value}", self.names[&slot]);
//!     }
//! }
//!
//! // A format of one's own: a class, and a record that tells its field.
//! const CLASS: Fixed = Fixed::new("wake", &[FieldInfo::new(&"task", Kind::Unsigned { bits: 64 })]);
//! struct Wake(u64);
//!
//! impl Record for Wake {
//!     fn tell<L: Listener>(&self, to: &mut L) -> traceglass::Result<()> {
//!         let class = FixedClass::new(0, &CLASS);
//!         if to.begin(&class.head(None, 0), &class) != Wants::NOTHING {
//!             to.scope(traceglass::record::Scope::Fields);
//!             to.unsigned(class.slot(0), self.0);
//!             to.end_scope();
//!         }
//!         to.end();
//!         Ok(())
//!     }
//! }
//!
//! let mut lines = Lines::default();
//! Wake(7).tell(&mut lines)?;
//! assert_eq!(lines.line, "wake task=7");
//! # Ok::<(), traceglass::Error>(())
//! ```

mod any;
mod class;
mod fixed;
#[cfg(feature = "alloc")]
mod labels;
mod listener;
#[cfg(feature = "serde")]
mod serde;
mod time;
#[cfg(feature = "serde")]
mod told;
mod value;

pub use any::{Any, AnyRecord};
#[allow(unused_imports)] // In a build without formats.
pub(crate) use any::{any_listener, event_listener};
pub use class::{Class, ClassId, EachLabel, Fact, FieldInfo, Hint, Kind, Scope, Slot, Step};
pub use fixed::{Fixed, FixedClass};
#[cfg(feature = "alloc")]
pub use labels::Labels;
pub use listener::{Head, Listener, Nobody, Record, Source, Wants};
pub use time::Time;
#[cfg(feature = "serde")]
pub use told::Told;
#[cfg(feature = "rtc")]
pub(crate) use value::POWERS;
pub use value::{Decimal, Text, Wide};
