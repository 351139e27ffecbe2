//! The records of `common::ctf_trace`, read by hand.

fn take<'a, const N: usize>(data: &mut &'a [u8]) -> &'a [u8; N] {
    let (first, rest) = data.split_first_chunk().unwrap();
    *data = rest;
    first
}

/// The number of records.
pub fn count(data: &[u8]) -> u64 {
    let mut count = 0;
    each(data, |id, _, rest| {
        count += 1;
        skip(id, rest);
    });
    count
}

#[inline(always)]
fn skip(id: u16, rest: &mut &[u8]) {
    *rest = &rest[if id == 1 { 15 } else { 12 }..];
    let len = memchr::memchr(0, rest).unwrap();
    *rest = &rest[len + 1..];
    if id == 0 {
        *rest = &rest[8..];
        let len = u64::from_le_bytes(*take(rest));
        *rest = &rest[4 * len as usize..];
    }
}

/// Class and time of every record.
#[inline(never)]
pub fn heads(data: &[u8]) -> u64 {
    let mut sum = 0_u64;
    each(data, |id, clock, rest| {
        sum = sum.wrapping_add(clock).wrapping_add(id.into());
        skip(id, rest);
    });
    sum
}

/// Every field as well.
#[inline(never)]
pub fn fields(data: &[u8]) -> u64 {
    let mut sum = 0_u64;
    each(data, |id, clock, rest| {
        sum = sum.wrapping_add(clock).wrapping_add(id.into());
        let i = i32::from_le_bytes(*take(rest));
        let u = u64::from_le_bytes(*take(rest));
        sum = sum.wrapping_add(i as u64).wrapping_add(u);
        if id == 1 {
            let [c] = *take(rest);
            let h = i16::from_le_bytes(*take(rest));
            sum = sum.wrapping_add(c.into()).wrapping_add(h as u64);
        }
        let len = memchr::memchr(0, rest).unwrap();
        sum = sum.wrapping_add(len as u64);
        *rest = &rest[len + 1..];
        if id == 0 {
            sum = sum.wrapping_add(f64::from_le_bytes(*take(rest)) as u64);
            let len = u64::from_le_bytes(*take(rest));
            // The length itself, and that of the array.
            sum = sum.wrapping_add(len).wrapping_add(len);
            for _ in 0..len {
                sum = sum.wrapping_add(i32::from_le_bytes(*take(rest)) as u64);
            }
        }
    });
    sum
}

/// Gives class and time of each record, and its payload, which must be taken.
#[inline(always)]
fn each(mut data: &[u8], mut of: impl FnMut(u16, u64, &mut &[u8])) {
    while data.len() >= 84 {
        let number = |at: usize| u64::from_le_bytes(data[at..at + 8].try_into().unwrap());
        let mut clock = number(32);
        let mut rest = &data[84..(number(48) / 8) as usize];
        data = data.get((number(56) / 8) as usize..).unwrap_or_default();
        while !rest.is_empty() {
            let id = u16::from_le_bytes(*take(&mut rest));
            let time = u32::from_le_bytes(*take(&mut rest));
            if time < clock as u32 {
                clock += 1 << 32;
            }
            clock = clock >> 32 << 32 | u64::from(time);
            of(id, clock, &mut rest);
        }
    }
}
