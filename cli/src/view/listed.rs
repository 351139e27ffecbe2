//! Going along the list of findings.

use super::key::Key;
use super::pane::Pane;
use super::rows::Place;
use super::state::State;
use crate::trace::Browse;

impl State {
    /// True if the key was for the list.
    pub fn findings_key(&mut self, key: Key, browse: &dyn Browse) -> bool {
        let last = self.findings.found.len().saturating_sub(1);
        let selected = &mut self.findings.selected;
        match key {
            Key::Char('j') | Key::Down => *selected = selected.saturating_add(1).min(last),
            Key::Char('k') | Key::Up => *selected = selected.saturating_sub(1),
            Key::Ctrl('f') | Key::PageDown => *selected = selected.saturating_add(10).min(last),
            Key::Ctrl('b') | Key::PageUp => *selected = selected.saturating_sub(10),
            Key::Char('g') | Key::Home => *selected = 0,
            Key::Char('G') | Key::End => *selected = last,
            Key::Escape | Key::Char('!' | 'q') => self.findings.shown = false,
            Key::Enter => {
                if let Some(found) = self.findings.found.get(self.findings.selected) {
                    let (offset, path) = (found.offset, found.path.clone());
                    match browse.file_of_path(path.as_deref()) {
                        Some(file) => {
                            self.findings.shown = false;
                            self.focus(Pane::Hex);
                            self.go(Place::at(file, offset), browse);
                        }
                        None => self.message = "that file is not open here".to_owned(),
                    }
                }
            }
            _ => return false,
        }
        true
    }
}
