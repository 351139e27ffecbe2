//! All listeners as one, where size counts more than speed: the telling of a record is then in a program once.

/// The listener that a record tells: itself, so that its methods are inlined. In a page it is told by a pointer.
#[cfg(not(target_family = "wasm"))]
#[allow(unused_macros)] // In a build without formats.
macro_rules! any_listener {
    ($to:expr) => {
        &mut *$to
    };
}

#[cfg(target_family = "wasm")]
macro_rules! any_listener {
    ($to:expr) => {
        &mut $crate::record::Any($to)
    };
}

/// The listener that the record of an event tells. With an allocator it is a pointer: these formats have much code, which
/// is then in a program once. Without one it is static: the image of a firmware holds only what its listener asks for,
/// and so not core's parser of floats, in which a panic is reachable.
#[cfg(all(feature = "alloc", not(target_family = "wasm")))]
#[allow(unused_macros)]
macro_rules! event_listener {
    ($to:expr) => {
        &mut $crate::record::Any($to)
    };
}

#[cfg(any(not(feature = "alloc"), target_family = "wasm"))]
#[allow(unused_macros)]
macro_rules! event_listener {
    ($to:expr) => {
        &mut *$to
    };
}

use super::listener::Record;
use crate::error::Result;
#[allow(unused_imports)]
pub(crate) use {any_listener, event_listener};

/// A listener by a pointer, for what is told seldom or in many ways. RDF has a hundred classes of records, and a program
/// several listeners: each of them with code of its own would be a quarter of the program.
///
/// # Examples
/// ```
/// use traceglass::record::{Any, Listener, Record};
///
/// /// For a caller that has the listener as a pointer, or many listeners of which none is in a hurry.
/// fn tell(record: &impl Record, to: &mut dyn Listener) -> traceglass::Result<()> {
///     record.tell(&mut Any(to))
/// }
/// ```
pub struct Any<'l>(pub &'l mut dyn super::Listener);

/// A record by a pointer. Every [`Record`] is one.
pub trait AnyRecord {
    /// Tells the record, as [`Record::tell`] does.
    ///
    /// # Errors
    /// Those of [`Record::tell`].
    fn tell_any(&self, to: &mut Any<'_>) -> Result<()>;
}

impl<R: Record> AnyRecord for R {
    fn tell_any(&self, to: &mut Any<'_>) -> Result<()> {
        self.tell(to)
    }
}

mod pass {
    use super::Any;
    use crate::record::{Class, Decimal, Head, Listener, Scope, Slot, Text, Wants, Wide};

    macro_rules! pass {
        ($($name:ident($($value:ident: $type:ty),*);)*) => {$(
            fn $name(&mut self $(, $value: $type)*) {
                self.0.$name($($value),*);
            }
        )*};
    }

    impl Listener for Any<'_> {
        fn begin(&mut self, head: &Head, class: &dyn Class) -> Wants {
            self.0.begin(head, class)
        }

        fn is_full(&self) -> bool {
            self.0.is_full()
        }

        pass! {
            end();
            abandon();
            scope(scope: Scope);
            end_scope();
            group(slot: Slot);
            end_group();
            list(slot: Slot, len: Option<u64>);
            end_list();
            key(name: Text<'_>);
            unsigned(slot: Slot, value: u64);
            signed(slot: Slot, value: i64);
            wide(slot: Slot, value: Wide<'_>);
            boolean(slot: Slot, value: bool);
            float(slot: Slot, value: f64);
            decimal(slot: Slot, value: Decimal);
            text(slot: Slot, value: Text<'_>);
            bytes(slot: Slot, value: &[u8]);
            absent(slot: Slot);
        }
    }
}
