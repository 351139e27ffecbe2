//! The panes.

/// A part of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pane {
    Timeline,
    Records,
    /// All of one record.
    Detail,
    Parts,
    Hex,
}

/// The panes that a key opens and closes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Opened {
    pub detail: bool,
    pub parts: bool,
    pub bytes: bool,
}

impl Opened {
    pub fn of(&mut self, pane: Pane) -> Option<&mut bool> {
        match pane {
            Pane::Timeline | Pane::Records => None,
            Pane::Detail => Some(&mut self.detail),
            Pane::Parts => Some(&mut self.parts),
            Pane::Hex => Some(&mut self.bytes),
        }
    }
}
