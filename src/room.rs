//! Storage that the caller lends.

/// Slots in which a reader keeps its state.
///
/// A slice or an array is one of fixed size. With the feature `alloc`, a `Vec` is one that grows. One of your own:
/// ```
/// use traceglass::Room;
///
/// struct Growing<T>(Vec<T>, T);
///
/// impl<T: Clone> Room<T> for Growing<T> {
///     fn slots(&self) -> &[T] {
///         &self.0
///     }
///     fn slots_mut(&mut self) -> &mut [T] {
///         &mut self.0
///     }
///     fn grow(&mut self, needed: usize) -> bool {
///         self.0.resize(needed.max(2 * self.0.len()), self.1.clone());
///         true
///     }
/// }
///
/// let mut room = Growing(Vec::new(), 0_u8);
/// assert!(room.grow(3) && room.slots().len() >= 3);
/// assert!(![0_u8; 2].grow(3));
/// ```
pub trait Room<T> {
    /// The slots.
    fn slots(&self) -> &[T];

    /// The slots, to be written.
    fn slots_mut(&mut self) -> &mut [T];

    /// Grows to at least `needed` slots, keeping the present ones in front; returns whether it did.
    fn grow(&mut self, needed: usize) -> bool {
        let _ = needed;
        false
    }
}

impl<T> Room<T> for [T] {
    fn slots(&self) -> &[T] {
        self
    }

    fn slots_mut(&mut self) -> &mut [T] {
        self
    }
}

/// A room that is lent: a slice, an array, one that grows, or `dyn Room`.
impl<T, R: Room<T> + ?Sized> Room<T> for &mut R {
    fn slots(&self) -> &[T] {
        (**self).slots()
    }

    fn slots_mut(&mut self) -> &mut [T] {
        (**self).slots_mut()
    }

    fn grow(&mut self, needed: usize) -> bool {
        (**self).grow(needed)
    }
}

impl<T, const N: usize> Room<T> for [T; N] {
    fn slots(&self) -> &[T] {
        self
    }

    fn slots_mut(&mut self) -> &mut [T] {
        self
    }
}

/// `EMPTY` is a slot's default: that is what rooms that grow are filled with.
#[allow(unused_macros)] // In a build without formats that lend slots.
macro_rules! default_is_empty {
    ($slot:ty $(, $parameter:ident)?) => {
        impl$(<$parameter>)? Default for $slot {
            fn default() -> Self {
                Self::EMPTY
            }
        }
    };
}

/// A room that grows, with at least twice as many slots each time.
#[cfg(feature = "alloc")]
impl<T: Default> Room<T> for alloc::vec::Vec<T> {
    fn slots(&self) -> &[T] {
        self
    }

    fn slots_mut(&mut self) -> &mut [T] {
        self
    }

    fn grow(&mut self, needed: usize) -> bool {
        let len = needed.max(self.len().saturating_mul(2)).max(16);
        self.resize_with(len, T::default);
        true
    }
}
