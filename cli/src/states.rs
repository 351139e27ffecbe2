//! The table of pairs of events that make slices: the built-in one and the user's.

use crate::output::shown;
use crate::status::{Failure, Result};
use crate::trace::{Events, LookBack, Pairing};
use traceglass::event::states::{OpSlot, Rooms, RuleSlot, States, Table};
use traceglass::event::{Event, Item, Window};

/// The texts of tables.
#[derive(Default)]
pub struct Pairs {
    /// The user's, which comes first.
    own: Option<String>,
    /// True if no table is wanted, not even the built-in one.
    pub are_off: bool,
    /// The extent before a range that is read to find slices that are open at its beginning.
    pub back: LookBack,
    /// The time that this is: what lies before it need not be read.
    pub since: Option<i128>,
}

impl Pairs {
    /// The tables that the options name.
    pub fn open(options: &Pairing) -> Result<Self> {
        let pairs = Self { are_off: options.no_states, back: options.look_back, ..Self::default() };
        let Some(path) = &options.states else { return Ok(pairs) };
        let text = std::fs::read_to_string(path)
            .map_err(|error| Failure::usage(format!("--states {}: {error}", shown(path))))?;
        let pairs = Self { own: Some(text), ..pairs };
        if let (Err(error), Some(text)) = (Room::default().table(&pairs), &pairs.own) {
            let at = usize::try_from(error.offset()).unwrap_or(usize::MAX).min(text.len());
            let lines = text.bytes().take(at).filter(|&byte| byte == b'\n').count();
            let (path, line) = (shown(path), lines.saturating_add(1));
            return Err(Failure::usage(format!("--states {path}: line {line}: {}", error.kind())));
        }
        Ok(pairs)
    }
}

/// Room for a table.
#[derive(Default)]
pub struct Room<'t> {
    rules: Vec<RuleSlot<'t>>,
    ops: Vec<OpSlot<'t>>,
    names: Vec<&'t str>,
}

impl<'t> Room<'t> {
    /// The table of some texts.
    pub fn table(&mut self, pairs: &'t Pairs) -> traceglass::Result<Table<'t, '_>> {
        let rooms = Rooms { rules: &mut self.rules, ops: &mut self.ops, names: &mut self.names };
        let mut table = Table::new(rooms);
        for text in pairs.own.as_deref().into_iter().chain([Table::BUILT_IN]) {
            table.add(text)?;
        }
        Ok(table)
    }
}

/// Passes on items with the states that are found in them.
pub struct Following<'f, 'r, 't> {
    pub states: States<'r, 't>,
    /// The events that are wanted; states and slices are passed on from before it, too, if they can reach into it.
    pub window: Window,
    pub events: &'f mut dyn Events,
}

impl Following<'_, '_, '_> {
    /// Gives out what is open when the trace ends.
    pub fn finish(&mut self) -> Result<()> {
        let Self { states, events, .. } = self;
        states.finish(&mut |item| events.item(item))
    }
}

impl Events for Following<'_, '_, '_> {
    fn item(&mut self, item: &Item<'_>) -> Result<()> {
        let Self { states, window, events } = self;
        let mut is_passed = false;
        let window = *window;
        let is_in = |event: &Event<'_>| window.tells(event.kind(), event.time());
        if let Item::Event(event) = item
            && event.time().is_some_and(|time| window.to().is_some_and(|to| time.ns() >= to))
        {
            return Ok(());
        }
        states.item(item, &mut |item| match item {
            Item::Event(event) if event.slice().is_none() => {
                is_passed = true;
                if is_in(event) { events.item(item) } else { Ok(()) }
            }
            _ => events.item(item),
        })?;
        match item {
            Item::Event(event) if !is_passed && is_in(event) => events.taken(event),
            _ => Ok(()),
        }
    }

    fn advance(&mut self, bytes: u64) {
        self.events.advance(bytes);
    }
}
