//! The processor that the loops of decoding are compiled for.

/// A processor that the loops of decoding are compiled for.
///
/// A loop is a closure. An implementation that calls it from a function with `#[target_feature]` gets machine code for
/// these features: on x86-64, most gain comes from BMI2, which shifts by a variable in one operation, not three.
///
/// `run` must call its argument once and return what that returns; nothing else can be returned.
pub trait Processor: Copy {
    /// Runs `work`, which is `#[inline(always)]`.
    fn run<T>(self, work: impl FnOnce() -> T) -> T;
}

/// The processor that all of the program is compiled for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Baseline;

impl Processor for Baseline {
    #[inline(always)]
    fn run<T>(self, work: impl FnOnce() -> T) -> T {
        work()
    }
}
