//! The operations of steps: numbers in whole bytes, and all others.

use crate::ctf::schema::node::{BIG, Kind, Node, REVERSED};
use crate::record::{Listener, Slot};

/// Hands all numbers to a macro: name, how they are told, type, byte order, type that is told.
macro_rules! with_numbers {
    ($then:ident) => {
        $then! {
            U8 unsigned u8 from_le_bytes u64, I8 signed i8 from_le_bytes i64,
            U16 unsigned u16 from_le_bytes u64, I16 signed i16 from_le_bytes i64,
            U32 unsigned u32 from_le_bytes u64, I32 signed i32 from_le_bytes i64,
            U64 unsigned u64 from_le_bytes u64, I64 signed i64 from_le_bytes i64,
            U16Big unsigned u16 from_be_bytes u64, I16Big signed i16 from_be_bytes i64,
            U32Big unsigned u32 from_be_bytes u64, I32Big signed i32 from_be_bytes i64,
            U64Big unsigned u64 from_be_bytes u64, I64Big signed i64 from_be_bytes i64,
            F32 float f32 from_le_bytes f64, F64 float f64 from_le_bytes f64,
            F32Big float f32 from_be_bytes f64, F64Big float f64 from_be_bytes f64
        }
    };
}
pub(super) use with_numbers;

macro_rules! code {
    ($($name:ident $tell:ident $type:ident $from:ident $to:ident),*) => {
        /// The operation of a step. `a` is a count or a size; in a sequence, the register that holds it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Code {
            $(
                /// A number in whole bytes.
                $name,
            )*
            /// The place of steps: the identifier of the class in the slot, the first in `a`, their number in `b`; [`NO_STEPS`](super::program::NO_STEPS) if
            /// the general reader is needed.
            Steps,
            /// A scope of the next `b` steps: its number among [`SCOPES`](super::class::SCOPES) in `a`.
            Scope,
            /// UTF-8 up to a zero.
            NulText,
            /// UTF-8 in `a` bytes, which may end with a zero.
            Text,
            TextSequence,
            Blob,
            BlobSequence,
            /// A list of `a` numbers, of the kind that the next step tells.
            Numbers,
            NumberSequence,
            /// A list of `a` elements, told by the steps up to the end of the list; the end is `b` steps ahead.
            Array,
            Sequence,
            EndList,
            Group,
            EndGroup,
            /// Keeps the unsigned integer of `b` bits that ends here in register `a`; the slot is 1 if it is big-endian.
            Keep,
            /// Skips to a multiple of `a` + 1 bytes.
            Align,
        }

        impl Code {
            /// Tells `count` numbers at the start of `rest`, and returns what follows them.
            // A loop for each kind, with nothing to decide in it.
            #[inline(never)]
            #[allow(clippy::as_conversions, clippy::cast_lossless)]
            pub(super) fn tell_all<'c, L: Listener>(
                self,
                rest: &'c [u8],
                count: usize,
                slot: Slot,
                to: &mut L,
            ) -> Option<&'c [u8]> {
                match self {
                    $(Self::$name => {
                        let (numbers, rest) = rest.split_at_checked(count.checked_mul(size_of::<$type>())?)?;
                        for bytes in numbers.as_chunks().0 {
                            if to.is_full() {
                                break;
                            }
                            to.$tell(slot, $type::$from(*bytes) as $to);
                        }
                        Some(rest)
                    })*
                    _ => None,
                }
            }
        }
    };
}

with_numbers!(code);

impl Code {
    /// The number of a field class; `None` for any other one.
    pub(super) fn number(node: &Node) -> Option<Self> {
        if node.has(REVERSED) {
            return None;
        }
        let kind =
            if matches!(node.kind, Kind::BitArray | Kind::BitMap) { Kind::Unsigned } else { node.kind };
        Some(match (kind, node.a, node.has(BIG)) {
            (Kind::Unsigned, 8, _) => Self::U8,
            (Kind::Unsigned, 16, false) => Self::U16,
            (Kind::Unsigned, 32, false) => Self::U32,
            (Kind::Unsigned, 64, false) => Self::U64,
            (Kind::Unsigned, 16, true) => Self::U16Big,
            (Kind::Unsigned, 32, true) => Self::U32Big,
            (Kind::Unsigned, 64, true) => Self::U64Big,
            (Kind::Signed, 8, _) => Self::I8,
            (Kind::Signed, 16, false) => Self::I16,
            (Kind::Signed, 32, false) => Self::I32,
            (Kind::Signed, 64, false) => Self::I64,
            (Kind::Signed, 16, true) => Self::I16Big,
            (Kind::Signed, 32, true) => Self::I32Big,
            (Kind::Signed, 64, true) => Self::I64Big,
            (Kind::Float, 32, false) => Self::F32,
            (Kind::Float, 64, false) => Self::F64,
            (Kind::Float, 32, true) => Self::F32Big,
            (Kind::Float, 64, true) => Self::F64Big,
            _ => return None,
        })
    }
}
