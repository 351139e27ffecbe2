//! The panes that there are, and the one that has the keys.

use super::pane::Pane;
use super::state::State;

impl State {
    /// Gives the keys to a pane, which is opened if it is not there.
    pub fn focus(&mut self, pane: Pane) {
        if let Some(opened) = self.opened.of(pane) {
            *opened = true;
        }
        self.pane = pane;
        if pane == Pane::Hex {
            self.show_cursor();
        }
    }

    /// Opens a pane, or closes it if it has the keys.
    pub fn toggle(&mut self, pane: Pane) {
        if self.pane != pane {
            return self.focus(pane);
        }
        if let Some(opened) = self.opened.of(pane) {
            *opened = false;
        }
        self.pane = Pane::Records;
    }

    /// Gives the keys to the next pane that is there. Where one alone has room, all of them are.
    pub fn next_pane(&mut self, back: bool) {
        const ALL: [Pane; 5] = [Pane::Timeline, Pane::Records, Pane::Detail, Pane::Parts, Pane::Hex];
        let (mut opened, single) = (self.opened, self.sizes.single);
        let there: Vec<Pane> =
            ALL.into_iter().filter(|&pane| single || opened.of(pane).is_none_or(|opened| *opened)).collect();
        let at = there.iter().position(|&pane| pane == self.pane).unwrap_or(0);
        let step = if back { there.len().saturating_sub(1) } else { 1 };
        let next = at.saturating_add(step).checked_rem(there.len()).unwrap_or(0);
        self.pane = there.get(next).copied().unwrap_or(Pane::Records);
    }
}
