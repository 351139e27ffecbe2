//! Instructions for a record: written by `traceglass-record`, alone and shared with interrupts. The emulator gives each
//! instruction the same time, and a loop whose instructions are known tells how many a cycle of SysTick is.

#![no_std]
#![no_main]

use core::arch::asm;
use core::sync::atomic::AtomicU32;
use cortex_m::peripheral::SYST;
use cortex_m::peripheral::syst::SystClkSource;
use cortex_m_rt::entry;
use traceglass_firmware::{finish_plainly, say};
use traceglass_record::{Pages, Recorder, Shared, events};

const WORDS: usize = 1024;
const COUNT: u32 = 900;
const LOOPS: u32 = 100_000;

events! {
    /// Events of the program.
    trace Program {
        clock 12_500_000;
        event Step { task: u8, queue: u16, serial: u32 }
    }
}

static MEMORY: [AtomicU32; 2 * WORDS] = [const { AtomicU32::new(0) }; 2 * WORDS];
static SHARED: Shared<'static, Program> =
    Shared::new(Recorder::overwriting(Pages::new(&MEMORY, WORDS)), || {
        // 0 is where it begins.
        u64::from(0x0100_0000 - SYST::get_current()) & 0x00ff_ffff
    });

#[entry]
fn main() -> ! {
    let Some(mut peripherals) = cortex_m::Peripherals::take() else { finish_plainly(false) };
    peripherals.SYST.set_clock_source(SystClkSource::Core);
    peripherals.SYST.set_reload(0x00ff_ffff);
    peripherals.SYST.clear_current();
    peripherals.SYST.enable_counter();
    let calibrated = cycles(|| {
        let mut loops = LOOPS;
        // SAFETY: it counts down a register.
        unsafe { asm!("2: subs {0}, #1", "bne 2b", inout(reg) loops) };
        loops == 0
    });
    let mut recorder = Recorder::<Program>::overwriting(Pages::new(&MEMORY, WORDS));
    let alone = cycles(|| (0..COUNT).all(|n| record(&mut recorder, n)));
    let shared = cycles(|| (0..COUNT).all(share));
    let (Some(calibrated), Some(alone), Some(shared)) = (calibrated, alone, shared) else {
        finish_plainly(false)
    };
    let each = |cycles: u32| {
        u64::from(cycles) * u64::from(2 * LOOPS) / u64::from(calibrated.max(1)) / u64::from(COUNT)
    };
    say("recorded, three fields: ", each(alone));
    say("recorded, shared with interrupts: ", each(shared));
    finish_plainly(each(shared) <= 120)
}

/// The number of cycles that something takes; `None` if it fails.
fn cycles(mut act: impl FnMut() -> bool) -> Option<u32> {
    let begun = SYST::get_current();
    act().then(|| begun.wrapping_sub(SYST::get_current()) & 0x00ff_ffff)
}

#[inline(never)]
fn record(recorder: &mut Recorder<'_, Program>, n: u32) -> bool {
    recorder.record(n.into(), &Step { task: n as u8, queue: n as u16, serial: n })
}

#[inline(never)]
fn share(n: u32) -> bool {
    SHARED.record(&Step { task: n as u8, queue: n as u16, serial: n })
}
