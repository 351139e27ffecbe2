//! Clocks of GPU and CPU, and how one becomes the other.

use super::api::supported;
use super::element;
use super::hash::PciId;
use crate::bytes::Bytes;
use crate::error::Result;
use core::num::NonZeroU64;
use zerocopy::little_endian::{U32, U64};

/// The same moment on two clocks: chunk `ClockCalibration`, versions 1 and 2, one a GPU.
///
/// # Layout
/// [`PciId`], 4 bytes of filling, `u64` CPU ticks, `u64` GPU ticks: 24 bytes. Version 1 lacks the first 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockCalibration {
    pci: Option<PciId>,
    cpu_ticks: u64,
    gpu_ticks: u64,
}

impl ClockCalibration {
    pub(super) fn parse(version: u32, data: &[u8]) -> Result<Self> {
        supported(version, 1..=2)?;
        let size = if version == 1 { 16 } else { 24 };
        let mut bytes = Bytes::new(data).take(size, element::CLOCK_CALIBRATION)?;
        let mut pci = None;
        if version > 1 {
            let [number, _] = bytes.view::<[U32; 2]>(element::CLOCK_CALIBRATION)?;
            pci = Some(PciId::from_stored(number.get()));
        }
        let [cpu, gpu] = bytes.view::<[U64; 2]>(element::CLOCK_CALIBRATION)?;
        Ok(Self { pci, cpu_ticks: cpu.get(), gpu_ticks: gpu.get() })
    }

    /// The GPU; version 1 does not say.
    pub const fn pci(&self) -> Option<PciId> {
        self.pci
    }

    /// CPU ticks.
    pub const fn cpu_ticks(&self) -> u64 {
        self.cpu_ticks
    }

    /// GPU ticks at the same moment.
    pub const fn gpu_ticks(&self) -> u64 {
        self.gpu_ticks
    }
}

/// The clocks of a GPU and of the CPU, set against each other.
///
/// # Units
/// Ticks of either clock, converted through 128-bit integers: exact but for the last division, which rounds down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clocks {
    calibration: ClockCalibration,
    gpu_hz: NonZeroU64,
    cpu_hz: NonZeroU64,
}

impl Clocks {
    /// The clocks with these rates; `None` if one is 0, as in files of Mesa's RADV.
    pub const fn new(calibration: ClockCalibration, gpu_hz: u64, cpu_hz: u64) -> Option<Self> {
        match (NonZeroU64::new(gpu_hz), NonZeroU64::new(cpu_hz)) {
            (Some(gpu_hz), Some(cpu_hz)) => Some(Self { calibration, gpu_hz, cpu_hz }),
            _ => None,
        }
    }

    /// The CPU ticks of a GPU time. The calibration is taken last, so differences are mostly negative; a time from
    /// before the CPU's clock began is negative, too.
    pub fn cpu_ticks(&self, gpu_ticks: u64) -> i128 {
        let difference = i128::from(gpu_ticks).saturating_sub(self.calibration.gpu_ticks.into());
        let scaled = scale(difference, self.cpu_hz.get(), self.gpu_hz);
        i128::from(self.calibration.cpu_ticks).saturating_add(scaled)
    }

    /// Nanoseconds on the CPU's clock of a GPU time.
    pub fn gpu_to_ns(&self, gpu_ticks: u64) -> i128 {
        let difference = i128::from(gpu_ticks).saturating_sub(self.calibration.gpu_ticks.into());
        self.cpu_to_ns(self.calibration.cpu_ticks).saturating_add(scale(difference, NS, self.gpu_hz))
    }

    /// Nanoseconds on the CPU's clock of its ticks.
    pub fn cpu_to_ns(&self, cpu_ticks: u64) -> i128 {
        scale(cpu_ticks.into(), NS, self.cpu_hz)
    }

    /// Nanoseconds that this many GPU ticks last.
    pub fn gpu_duration_ns(&self, ticks: u64) -> i128 {
        scale(ticks.into(), NS, self.gpu_hz)
    }
}

const NS: u64 = 1_000_000_000;

/// `value × by ÷ of`, rounded down; what does not fit in 128 bits is the nearest that does.
fn scale(value: i128, by: u64, of: NonZeroU64) -> i128 {
    let divisor = i128::from(of.get());
    let (whole, rest) = (value.checked_div_euclid(divisor), value.checked_rem_euclid(divisor));
    // The rest has 64 bits like its factor: the product fits where there is no sign.
    let rest = rest.map_or(0, i128::unsigned_abs).saturating_mul(by.into());
    let rest = rest.checked_div(of.get().into()).unwrap_or(0);
    let whole = whole.unwrap_or(0).saturating_mul(by.into());
    whole.saturating_add(i128::try_from(rest).unwrap_or(i128::MAX))
}

/// Nanoseconds that `ticks` of a clock of `hz` last; `None` if the rate is 0.
pub fn ticks_to_ns(ticks: u64, hz: u64) -> Option<i128> {
    NonZeroU64::new(hz).map(|hz| scale(ticks.into(), NS, hz))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALIBRATION: ClockCalibration =
        ClockCalibration { pci: None, cpu_ticks: 5_000_507, gpu_ticks: 700_000_000 };

    #[test]
    fn gpu_times_become_cpu_times() {
        let clocks = Clocks::new(CALIBRATION, 100_000_000, 10_000_000).unwrap();
        assert_eq!(clocks.cpu_ticks(700_000_000), 5_000_507);
        assert_eq!(clocks.cpu_ticks(700_000_100), 5_000_517);
        // Before the calibration, rounded down, and before the CPU's clock began.
        assert_eq!(clocks.cpu_ticks(699_999_999), 5_000_506);
        assert_eq!(clocks.cpu_ticks(0), 5_000_507 - 70_000_000);
        assert_eq!(clocks.gpu_to_ns(700_000_001), 500_050_710);
        assert_eq!(clocks.gpu_duration_ns(777), 7_770);
    }

    #[test]
    fn extremes_and_rates_of_zero_are_no_trouble() {
        assert_eq!(Clocks::new(CALIBRATION, 0, 1), None);
        assert_eq!(Clocks::new(CALIBRATION, 1, 0), None);
        assert_eq!(ticks_to_ns(1, 0), None);
        let far = ClockCalibration { pci: None, cpu_ticks: u64::MAX, gpu_ticks: u64::MAX };
        let clocks = Clocks::new(far, 1, u64::MAX).unwrap();
        let expected = i128::from(u64::MAX) - i128::from(u64::MAX) * i128::from(u64::MAX >> 1);
        assert_eq!(clocks.cpu_ticks(u64::MAX - (u64::MAX >> 1)), expected);
        assert_eq!(clocks.cpu_ticks(u64::MAX), i128::from(u64::MAX));
        assert_eq!(ticks_to_ns(u64::MAX, 1), Some(i128::from(u64::MAX) * 1_000_000_000));
    }
}
