//! One recorder for all contexts of a program.

use crate::event::{Event, Trace};
use crate::recorder::Recorder;
use core::cell::{Cell, RefCell};
use core::fmt;
use critical_section::Mutex;

/// A recorder for tasks and interrupts, and the clock that it asks.
///
/// ```
/// use core::sync::atomic::{AtomicU32, Ordering};
/// use traceglass_record::{Pages, Recorder, Shared, events};
///
/// events! { trace Motor { clock 1_000_000; event Step { position: u32 } } }
///
/// static MEMORY: [AtomicU32; 256] = [const { AtomicU32::new(0) }; 256];
/// static MICROSECONDS: AtomicU32 = AtomicU32::new(0);
/// static TRACE: Shared<'static, Motor> =
///     Shared::new(Recorder::overwriting(Pages::new(&MEMORY, 64)), || MICROSECONDS.load(Ordering::Relaxed).into());
///
/// assert!(TRACE.record(&Step { position: 17 })); // anywhere: tasks, interrupts
/// ```
pub struct Shared<'m, T> {
    recorder: Mutex<RefCell<Recorder<'m, T>>>,
    /// The number of records that came while the recorder was lent.
    refused: Mutex<Cell<u32>>,
    clock: fn() -> u64,
}

impl<'m, T: Trace> Shared<'m, T> {
    /// A recorder, and a clock that gives ticks and must not go back. It is asked within the critical section, and must
    /// not record.
    pub const fn new(recorder: Recorder<'m, T>, clock: fn() -> u64) -> Self {
        Self { recorder: Mutex::new(RefCell::new(recorder)), refused: Mutex::new(Cell::new(0)), clock }
    }

    /// Records an event that happens now. False if it was lost, as all are within [`with`](Self::with).
    pub fn record<E: Event<Trace = T>>(&self, event: &E) -> bool {
        let done = self.with(|recorder, time| recorder.record(time, event));
        done.unwrap_or_else(|| {
            critical_section::with(|section| {
                let refused = self.refused.borrow(section);
                refused.set(refused.get().wrapping_add(1));
            });
            false
        })
    }

    /// Does something with the recorder, at the present time, within a critical section: to [close](Recorder::close) a
    /// packet, to record several events at once. `None` within itself.
    pub fn with<R>(&self, act: impl FnOnce(&mut Recorder<'m, T>, u64) -> R) -> Option<R> {
        critical_section::with(|section| {
            let mut recorder = self.recorder.borrow(section).try_borrow_mut().ok()?;
            let time = (self.clock)();
            let done = act(&mut recorder, time);
            let refused = self.refused.borrow(section).take();
            if refused > 0 {
                recorder.lose(refused);
            }
            Some(done)
        })
    }
}

impl<T> fmt::Debug for Shared<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}
