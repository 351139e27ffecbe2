//! Numbers in whole bytes.

use crate::ctf::schema::node::{BIG, Kind, Node, REVERSED};
use crate::record::{Listener, Slot};

macro_rules! numbers {
    ($($name:ident $tell:ident $type:ident $from:ident $to:ident),* $(,)?) => {
        /// A number in whole bytes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Number {
            $($name,)*
        }

        impl Number {
            /// Tells the number at byte `at`; returns where it ends, and its value as a length.
            #[inline(always)]
            #[allow(clippy::as_conversions, clippy::cast_lossless)] // A negative length fits nothing.
            pub(super) fn tell<L: Listener>(
                self,
                content: &[u8],
                at: usize,
                slot: Slot,
                to: &mut L,
            ) -> Option<(usize, u64)> {
                match self {
                    $(Self::$name => {
                        let (bytes, _) = content.get(at..)?.split_first_chunk::<{ size_of::<$type>() }>()?;
                        let value = $type::$from(*bytes);
                        to.$tell(slot, value as $to);
                        Some((at.wrapping_add(size_of::<$type>()), value as u64))
                    })*
                }
            }

            /// Tells `count` of them, and returns where they end.
            // A loop for each kind, with nothing to decide in it.
            #[inline(never)]
            #[allow(clippy::as_conversions, clippy::cast_lossless)]
            pub(super) fn tell_all<L: Listener>(
                self,
                content: &[u8],
                at: usize,
                count: usize,
                slot: Slot,
                to: &mut L,
            ) -> Option<usize> {
                match self {
                    $(Self::$name => {
                        let end = at.checked_add(count.checked_mul(size_of::<$type>())?)?;
                        let (numbers, _) = content.get(at..end)?.as_chunks();
                        for bytes in numbers {
                            if to.is_full() {
                                break;
                            }
                            to.$tell(slot, $type::$from(*bytes) as $to);
                        }
                        Some(end)
                    })*
                }
            }
        }
    };
}

numbers! {
    U8 unsigned u8 from_le_bytes u64, I8 signed i8 from_le_bytes i64,
    U16 unsigned u16 from_le_bytes u64, I16 signed i16 from_le_bytes i64,
    U32 unsigned u32 from_le_bytes u64, I32 signed i32 from_le_bytes i64,
    U64 unsigned u64 from_le_bytes u64, I64 signed i64 from_le_bytes i64,
    U16Big unsigned u16 from_be_bytes u64, I16Big signed i16 from_be_bytes i64,
    U32Big unsigned u32 from_be_bytes u64, I32Big signed i32 from_be_bytes i64,
    U64Big unsigned u64 from_be_bytes u64, I64Big signed i64 from_be_bytes i64,
    F32 float f32 from_le_bytes f64, F64 float f64 from_le_bytes f64,
    F32Big float f32 from_be_bytes f64, F64Big float f64 from_be_bytes f64,
}

impl Number {
    /// The number of a field class; `None` for any other one.
    pub(super) fn of(node: &Node) -> Option<Self> {
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
