//! Room for the sources of events.

use traceglass::event::Room;

/// Room that grows.
pub(crate) struct Growing<T>(Vec<T>, T);

impl<T> Growing<T> {
    pub(crate) const fn new(empty: T) -> Self {
        Self(Vec::new(), empty)
    }
}

impl<T: Clone> Room<T> for Growing<T> {
    fn slots(&self) -> &[T] {
        &self.0
    }

    fn slots_mut(&mut self) -> &mut [T] {
        &mut self.0
    }

    fn grow(&mut self, needed: usize) -> bool {
        self.0.resize(needed.max(self.0.len().saturating_mul(2)).max(16), self.1.clone());
        true
    }
}
