//! The line at the bottom, in which a search, a filter or a place is typed.

use super::errand::Errand;
use super::key::Key;
use super::pane::Pane;
use super::pattern::Pattern;
use super::rows::Place;
use super::state::{Asks, Effect, State};
use crate::trace::{Browse, Time};

impl State {
    /// Takes a key, while something is being typed.
    pub fn type_key(
        &mut self,
        asks: Asks,
        mut text: String,
        key: Key,
        browse: &dyn Browse,
        effects: &mut Vec<Effect>,
    ) {
        match key {
            Key::Escape | Key::Ctrl('c' | 'g') => return,
            Key::Backspace if text.is_empty() => return,
            Key::Backspace => drop(text.pop()),
            Key::Ctrl('u') => text.clear(),
            Key::Char(c) if text.len() < 1000 => text.push(c),
            Key::Enter => return self.typed(asks, &text, browse, effects),
            _ => {}
        }
        self.asks = Some((asks, text));
    }

    fn typed(&mut self, asks: Asks, text: &str, browse: &dyn Browse, effects: &mut Vec<Effect>) {
        self.message.clear();
        match asks {
            Asks::Search => match Pattern::parse(text) {
                Ok(pattern) => {
                    self.pattern = Some(pattern);
                    self.search(true, effects);
                }
                Err(why) => self.message = format!("/{text}: {why}"),
            },
            Asks::Filter => {
                self.filter = Some(text.to_owned()).filter(|text| !text.is_empty());
                self.filtered = None;
                self.pane = Pane::Records;
            }
            Asks::Go => self.go_to(text.trim(), browse, effects),
        }
    }

    /// Goes to `0x1f`, `123`, `+1.5s` or a date.
    fn go_to(&mut self, text: &str, browse: &dyn Browse, effects: &mut Vec<Effect>) {
        let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
        let offset = match hex {
            Some(hex) => u64::from_str_radix(hex, 16).ok(),
            None => text.parse().ok().filter(|_| !text.starts_with('+')),
        };
        if let Some(offset) = offset {
            if offset >= self.size(browse) {
                self.message = format!("the file ends at {:#x}", self.size(browse));
            }
            return self.go(Place::at(self.place.file, offset), browse);
        }
        match Time::parse(text) {
            Ok(Time::Clock(_)) | Err(_) => {
                self.message = format!(
                    ":{text}: neither an offset as 0x1f0 or 496, nor a time as +1.5s or 2026-11-21T01:41:54.5Z"
                );
            }
            Ok(time) => {
                self.busy = Some(format!("looking for {text}"));
                effects.push(Effect::Errand(Errand::Seek { time }));
            }
        }
    }
}
