//! Records events into a ring in memory until it is interrupted, at a moment that a seed on the command line decides; then
//! dumps the ring to stdout as it is, and says on stderr how many records were written, and how much stack that took. With
//! the seed 0 it prints the metadata instead. `.ci/firmware.sh` reads the dump with `traceglass cat`.

#![no_std]
#![no_main]

use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::{Acquire, Release};
use cortex_m::peripheral::SYST;
use cortex_m::peripheral::syst::SystClkSource;
use cortex_m_rt::{entry, exception};
use cortex_m_semihosting::{debug, hio, nr, syscall};
use traceglass_firmware::{peak_stack, say_aside};
use traceglass_record::{Pages, Recorder, Trace, events};

const WORDS: usize = 1024;
const PACKET_WORDS: usize = 128;

events! {
    /// Events of the program.
    trace Program {
        clock 1_000_000;
        event Step { serial: u32, hash: u32 }
        event Pause { serial: u32 }
    }
}

static MEMORY: [AtomicU32; WORDS] = [const { AtomicU32::new(0) }; WORDS];
static WRITTEN: AtomicU32 = AtomicU32::new(0);

#[entry]
fn main() -> ! {
    let seed = seed();
    if seed == 0 {
        let is_said =
            hio::hstdout().is_ok_and(|mut out| out.write_all(Program::METADATA_1_8.as_bytes()).is_ok());
        exit(is_said)
    }
    let mut recorder = Recorder::<Program>::overwriting(Pages::new(&MEMORY, PACKET_WORDS));
    let Some(peripherals) = cortex_m::Peripherals::take() else { exit(false) };
    stop_after(peripherals.SYST, 5_000 + hash(seed) % 400_000);
    // The lower half of the time soon wraps.
    let mut time = u64::from(u32::MAX) - 20_000;
    let mut serial = 0_u32;
    loop {
        let value = hash(serial);
        time += u64::from(value % 256);
        let is_written = match value % 5 {
            0 => recorder.record(time, &Pause { serial }),
            _ => recorder.record(time, &Step { serial, hash: value }),
        };
        if !is_written {
            exit(false)
        }
        serial = serial.wrapping_add(1);
        WRITTEN.store(serial, Release);
    }
}

/// Interrupts the program after so many cycles.
fn stop_after(mut timer: SYST, cycles: u32) {
    timer.set_clock_source(SystClkSource::Core);
    timer.set_reload(cycles);
    timer.clear_current();
    timer.enable_interrupt();
    timer.enable_counter();
}

#[exception]
fn SysTick() {
    // Measured first: dumping takes stack of its own.
    let stack = peak_stack();
    let is_dumped = dump().is_ok();
    say_aside("", WRITTEN.load(Acquire).into());
    say_aside("peak stack: ", stack as u64);
    exit(is_dumped)
}

fn dump() -> Result<(), ()> {
    let mut out = hio::hstdout()?;
    for words in MEMORY.chunks(64) {
        let mut bytes = [0; 256];
        for (to, word) in bytes.chunks_exact_mut(4).zip(words) {
            to.copy_from_slice(&word.load(Acquire).to_le_bytes());
        }
        out.write_all(&bytes)?;
    }
    Ok(())
}

/// The number at the end of the command line.
fn seed() -> u32 {
    #[repr(C)]
    struct Block {
        text: *mut u8,
        /// The host sets it: it is not read after that.
        len: usize,
    }
    let mut text = [0_u8; 64];
    let block = Block { text: text.as_mut_ptr(), len: text.len() };
    // SAFETY: the host writes no more than `len` bytes to `text`, and ends them with a 0.
    let status = unsafe { syscall(nr::GET_CMDLINE, &block) };
    let words = text.split(|byte| *byte == 0).next().filter(|_| status == 0).unwrap_or_default();
    let digits = words.rsplit(|byte| *byte == b' ').next().unwrap_or_default();
    digits.iter().fold(0, |number: u32, digit| {
        number.wrapping_mul(10).wrapping_add(u32::from(digit.wrapping_sub(b'0')))
    })
}

/// Numbers without order, so that no other value passes for one.
fn hash(number: u32) -> u32 {
    let mixed = (number ^ number >> 16).wrapping_mul(0x21f0_aaad);
    let mixed = (mixed ^ mixed >> 15).wrapping_mul(0x735a_2d97);
    mixed ^ mixed >> 15
}

fn exit(is_good: bool) -> ! {
    debug::exit(if is_good { debug::EXIT_SUCCESS } else { debug::EXIT_FAILURE });
    loop {
        cortex_m::asm::nop();
    }
}
