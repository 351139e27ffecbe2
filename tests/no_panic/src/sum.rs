//! A listener that asks for everything.

use traceglass::record::{Class, Head, Listener, Record, Slot, Text, Wants};

/// Adds up what it is told.
pub struct Sum(pub u64);

impl Listener for Sum {
    fn begin(&mut self, head: &Head, class: &dyn Class) -> Wants {
        class.fields(&mut |_| self.0 ^= 1);
        self.0 ^= head.offset;
        Wants::ALL
    }

    fn unsigned(&mut self, _: Slot, value: u64) {
        self.0 ^= value;
    }

    fn text(&mut self, _: Slot, value: Text<'_>) {
        if let Text::Utf8(bytes) = value {
            self.0 ^= bytes.len() as u64;
        }
    }

    fn bytes(&mut self, _: Slot, value: &[u8]) {
        self.0 ^= value.len() as u64;
    }

    fn list(&mut self, _: Slot, len: Option<u64>) {
        self.0 ^= len.unwrap_or(0);
    }

    fn key(&mut self, name: Text<'_>) {
        self.text(Slot(0), name);
    }
}

pub fn fields(record: &impl Record) -> u64 {
    let mut sum = Sum(0);
    match record.tell(&mut sum) {
        Ok(()) => sum.0,
        Err(_) => 1,
    }
}
