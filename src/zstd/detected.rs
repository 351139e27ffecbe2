//! The processor that the program runs on.

use super::processor::Processor;
use fearless_simd::Level;

/// The processor that the program runs on, asked once for what it has.
///
/// On x86-64 with BMI2 and AVX2, the loops of decoding are compiled for these; elsewhere as the rest of the program is.
///
/// ```
/// use traceglass::zstd::{self, Detected, Workspace};
///
/// let input = b"\x28\xb5\x2f\xfd\x20\x05\x29\x00\x00hello";
/// let (mut workspace, mut output) = (Workspace::on(Detected::new()), [0; 5]);
/// assert_eq!(zstd::decompress(input, &mut output, &mut workspace), Ok(5));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Detected(Level);

impl Detected {
    /// Asks the processor.
    pub fn new() -> Self {
        Self(Level::new())
    }

    /// True if it has BMI2, and what else x86-64-v3 names.
    pub fn has_bmi2(&self) -> bool {
        #[cfg(target_arch = "x86_64")]
        return matches!(self.0, Level::Avx2(_));
        #[cfg(not(target_arch = "x86_64"))]
        return false;
    }
}

impl Default for Detected {
    fn default() -> Self {
        Self::new()
    }
}

impl Processor for Detected {
    #[inline(always)]
    fn run<T>(self, work: impl FnOnce() -> T) -> T {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Level::Avx2(found) => fearless_simd::Simd::vectorize(found, work),
            _ => work(),
        }
    }
}
