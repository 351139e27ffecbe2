//! Two tasks of embassy, and what its executor tells about them through its hooks: recorded into a ring in memory, which is
//! dumped to stdout. With an argument `metadata`, that is printed instead.

#![no_std]
#![no_main]

use core::future::poll_fn;
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::{Acquire, Relaxed};
use core::task::Poll;
use cortex_m::peripheral::SYST;
use cortex_m::peripheral::syst::SystClkSource;
use cortex_m_rt::entry;
use cortex_m_semihosting::{debug, hio, nr, syscall};
use embassy_executor::{Executor, Spawner};
use static_cell::StaticCell;
use traceglass_firmware::{peak_stack, say_aside};
use traceglass_record::{Pages, Recorder, Shared, Trace, embassy_hooks, events};

events! {
    /// Events of the executor and the tasks.
    trace Program {
        clock 12_500_000;
        event PollStart as "poll_start" { executor_id: u32 }
        event ExecutorIdle as "executor_idle" { executor_id: u32 }
        event TaskNew as "task_new" { executor_id: u32, task_id: u32 }
        event TaskEnd as "task_end" { executor_id: u32, task_id: u32 }
        event TaskReadyBegin as "task_ready_begin" { executor_id: u32, task_id: u32 }
        event TaskExecBegin as "task_exec_begin" { executor_id: u32, task_id: u32 }
        event TaskExecEnd as "task_exec_end" { executor_id: u32, task_id: u32 }
        /// A task has sent something to the other one.
        event Sent as "sent" { count: u32 }
    }
}

static MEMORY: [AtomicU32; 1024] = [const { AtomicU32::new(0) }; 1024];
static TRACE: Shared<'static, Program> = Shared::new(Recorder::overwriting(Pages::new(&MEMORY, 128)), now);
static COUNT: AtomicU32 = AtomicU32::new(0);

embassy_hooks!(TRACE);

/// The time since the start, which is shorter than a round of the timer.
fn now() -> u64 {
    // 0 is where it begins.
    u64::from(0x0100_0000 - SYST::get_current()) & 0x00ff_ffff
}

#[entry]
fn main() -> ! {
    static EXECUTOR: StaticCell<Executor> = StaticCell::new();
    if wants_metadata() {
        exit(hio::hstdout().is_ok_and(|mut out| out.write_all(Program::METADATA_1_8.as_bytes()).is_ok()))
    }
    let Some(mut peripherals) = cortex_m::Peripherals::take() else { exit(false) };
    peripherals.SYST.set_clock_source(SystClkSource::Core);
    peripherals.SYST.set_reload(0x00ff_ffff);
    peripherals.SYST.clear_current();
    peripherals.SYST.enable_counter();
    EXECUTOR.init(Executor::new()).run(start)
}

fn start(spawner: Spawner) {
    match (sender(), receiver()) {
        (Ok(sender), Ok(receiver)) => {
            spawner.spawn(sender);
            spawner.spawn(receiver);
        }
        _ => exit(false),
    }
}

/// Lets the other tasks run.
async fn pause() {
    let mut is_paused = false;
    poll_fn(|context| {
        if is_paused {
            return Poll::Ready(());
        }
        is_paused = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[embassy_executor::task]
async fn sender() {
    for count in 1..=40 {
        COUNT.store(count, Relaxed);
        if !TRACE.record(&Sent { count }) {
            exit(false)
        }
        pause().await;
    }
}

#[embassy_executor::task]
async fn receiver() {
    while COUNT.load(Relaxed) < 40 {
        pause().await;
    }
    // The rest is neither recorded nor measured.
    let stack = peak_stack();
    let is_dumped = dump().is_ok();
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

/// The command line ends in `metadata`.
fn wants_metadata() -> bool {
    #[repr(C)]
    struct Block {
        text: *mut u8,
        len: usize,
    }
    let mut text = [0_u8; 64];
    let block = Block { text: text.as_mut_ptr(), len: text.len() };
    // SAFETY: the host writes no more than `len` bytes to `text`, and ends them with a 0.
    let status = unsafe { syscall(nr::GET_CMDLINE, &block) };
    status == 0 && text.split(|byte| *byte == 0).next().is_some_and(|words| words.ends_with(b"metadata"))
}

fn exit(is_good: bool) -> ! {
    debug::exit(if is_good { debug::EXIT_SUCCESS } else { debug::EXIT_FAILURE });
    loop {
        cortex_m::asm::nop();
    }
}
