//! Two marks on the timeline, and the time between them.

use super::state::State;
use super::when::duration;

impl State {
    /// Sets the first mark at the record under the cursor, then the second; the third time, both are taken away.
    pub fn mark(&mut self) {
        let Some(at) = self.lanes_at else {
            self.message = "the record under the cursor has no time to be marked".to_owned();
            return;
        };
        self.marks = match self.marks {
            (None, _) => (Some(at), None),
            (first, None) => (first, Some(at)),
            _ => (None, None),
        };
    }

    /// The time from the first mark to the second, or to the cursor.
    pub fn measured(&self) -> Option<String> {
        let signed = |ns: i128| {
            let sign = if ns < 0 { "-" } else { "+" };
            format!("{sign}{}", duration(i128::try_from(ns.unsigned_abs()).unwrap_or(i128::MAX)))
        };
        match self.marks {
            (Some(first), Some(second)) => {
                Some(format!("mark 1 to 2: {}", signed(second.saturating_sub(first))))
            }
            (Some(first), None) => {
                Some(format!("since mark 1: {}", signed(self.lanes_at?.saturating_sub(first))))
            }
            _ => None,
        }
    }
}
