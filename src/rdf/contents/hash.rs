//! Hashes of programs, and places of GPUs: what joins chunks.

use crate::record::EachLabel;
use core::fmt;

/// A 128-bit hash of AMD's drivers: of a pipeline, or of a code object.
///
/// Written as 32 hexadecimal digits, upper half first.
///
/// # Layout
/// `u64` lower half ("stable"), `u64` upper half ("unique").
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Hash128(u128);

impl Hash128 {
    /// The hash of two halves.
    pub const fn new(upper: u64, lower: u64) -> Self {
        let [a, b, c, d, e, f, g, h] = lower.to_le_bytes();
        let [i, j, k, l, m, n, o, p] = upper.to_le_bytes();
        Self(u128::from_le_bytes([a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]))
    }

    /// The hash of 16 bytes as stored.
    pub const fn from_stored(bytes: [u8; 16]) -> Self {
        Self(u128::from_le_bytes(bytes))
    }

    /// The lower half, which AMD calls stable.
    pub const fn lower(self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.0.to_le_bytes();
        u64::from_le_bytes([a, b, c, d, e, f, g, h])
    }

    /// The upper half, which AMD calls unique.
    pub const fn upper(self) -> u64 {
        Self(self.0 >> 64).lower()
    }

    /// The hash as a number.
    pub const fn value(self) -> u128 {
        self.0
    }
}

impl fmt::Display for Hash128 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for Hash128 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The place of a GPU on the PCI bus; it joins the chunks of one GPU.
#[doc(alias = "pciId")]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PciId(u32);

impl PciId {
    /// The place from the number as stored.
    pub const fn from_stored(number: u32) -> Self {
        Self(number)
    }

    /// The number as stored.
    pub const fn number(self) -> u32 {
        self.0
    }

    /// The bus.
    pub const fn bus(self) -> u8 {
        self.0.to_le_bytes()[2]
    }

    /// The device on the bus.
    pub const fn device(self) -> u8 {
        self.0.to_le_bytes()[1]
    }

    /// The function of the device.
    pub const fn function(self) -> u8 {
        self.0.to_le_bytes()[0]
    }

    pub(super) const NAME_OF: Option<fn(u64) -> Option<&'static str>> = None;
    pub(super) const LABELS: Option<EachLabel<'static>> = None;
}

impl fmt::Display for PciId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02x}:{:02x}.{}", self.bus(), self.device(), self.function())
    }
}

impl fmt::Debug for PciId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
