//! Functions of all programs: printing what they found, measuring the stack, and going over the events of a CTF trace.

#![no_std]

use core::panic::PanicInfo;
use cortex_m_semihosting::{debug, hio, hprintln};
use traceglass::ctf::data::{Packets, Value};
use traceglass::ctf::schema::Schema;

/// Ends the program: says how much stack it took, and exits with a status that the emulator hands on.
pub fn finish(found: traceglass::Result<()>) -> ! {
    // Measured first: printing takes stack of its own, and would only raise the figure.
    let stack = peak_stack();
    let status = match found {
        Ok(()) => debug::EXIT_SUCCESS,
        Err(error) => {
            hprintln!("error: {}", error);
            debug::EXIT_FAILURE
        }
    };
    hprintln!("peak stack: {} bytes", stack);
    exit(status)
}

/// The same without formatting, for programs that measure what reading alone takes.
pub fn finish_plainly(is_good: bool) -> ! {
    let stack = peak_stack();
    if let Ok(mut host) = hio::hstdout() {
        let _ = host.write_all(b"peak stack: ");
        write_number(&mut host, stack as u64);
        let _ = host.write_all(b" bytes\n");
    }
    exit(if is_good { debug::EXIT_SUCCESS } else { debug::EXIT_FAILURE })
}

/// Says a word and a number.
pub fn say(word: &str, number: u64) {
    if let Ok(mut host) = hio::hstdout() {
        say_to(&mut host, word, number);
    }
}

/// The same apart from what the program prints, for programs that print what is no text.
pub fn say_aside(word: &str, number: u64) {
    if let Ok(mut host) = hio::hstderr() {
        say_to(&mut host, word, number);
    }
}

fn say_to(host: &mut hio::HostStream, word: &str, number: u64) {
    let _ = host.write_all(word.as_bytes());
    write_number(host, number);
    let _ = host.write_all(b"\n");
}

/// Reads the events of a data stream, and says how many each class has, the sum of their numbers, and the last time. Apart
/// from the compilation of its metadata, so that neither takes the other one's stack.
#[inline(never)]
pub fn read_events(stream: &[u8], schema: &Schema<'_, '_>) -> traceglass::Result<()> {
    let mut count = [0_u64; 64];
    let (mut sum, mut last) = (0_u64, 0);
    for packet in Packets::new(stream, schema) {
        let packet = packet?;
        let mut records = packet.records();
        while let Some(record) = records.next_record()? {
            if let Some(count) = usize::try_from(record.class().id()).ok().and_then(|id| count.get_mut(id)) {
                *count += 1;
            }
            if let Some(time) = record.nanoseconds() {
                last = time / 1_000_000_000;
            }
            let Some(fields) = records.payload() else { continue };
            fields.each_field(|field| {
                sum = sum.wrapping_add(match field.value() {
                    Value::Unsigned(value) => value,
                    Value::Signed(value) => value.unsigned_abs(),
                    Value::Text(text) => text.bytes().len() as u64,
                    _ => 0,
                });
            })?;
        }
    }
    for count in count.iter().filter(|count| **count > 0) {
        say("records: ", *count);
    }
    say("sum: ", sum);
    say("last second: ", last as u64);
    Ok(())
}

fn write_number(host: &mut hio::HostStream, mut number: u64) {
    let mut digits = [b'0'; 20];
    let mut first = digits.len();
    loop {
        first -= 1;
        let Some(digit) = digits.get_mut(first) else { break };
        *digit += (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    let _ = host.write_all(digits.get(first..).unwrap_or_default());
}

fn exit(status: debug::ExitStatus) -> ! {
    debug::exit(status);
    loop {
        cortex_m::asm::nop();
    }
}

/// Bytes of stack that were ever written since reset, which painted all of it.
pub fn peak_stack() -> usize {
    unsafe extern "C" {
        static mut _stack_start: u32;
        static mut _stack_end: u32;
    }
    let end = &raw const _stack_start as usize;
    let mut place = &raw const _stack_end;
    // SAFETY: from `_stack_end` up to `_stack_start` is the memory that cortex-m-rt painted before `main`.
    while (place as usize) < end && unsafe { place.read_volatile() } == cortex_m_rt::STACK_PAINT_VALUE {
        place = place.wrapping_add(1);
    }
    end - place as usize
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    hprintln!("{}", info);
    exit(debug::EXIT_FAILURE)
}
