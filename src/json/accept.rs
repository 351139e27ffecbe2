//! A fast check that accepts most correct text, about which nothing more needs to be known.
//!
//! Text that is not accepted may still be correct: a [`Parser`](super::Parser) decides, and locates the fault.

use super::parser::find_special;

/// What the grammar allows next.
#[derive(Clone, Copy)]
enum State {
    Value,
    Key,
    /// The end of what has just begun, or its first value or key.
    First,
    /// A comma, or the end of what is open.
    After,
}

/// Whether `data` is a JSON object with white space around it, nested at most 256 deep. Strings may not be UTF-8.
pub(crate) fn accepts_object(data: &[u8]) -> bool {
    trim(data).first() == Some(&b'{') && accepts(data).is_some()
}

fn accepts(mut data: &[u8]) -> Option<()> {
    let mut depth = 0_u32;
    let (mut objects, mut outer) = (0_u128, 0_u128);
    let mut state = State::Value;
    loop {
        data = trim(data);
        let in_object = objects & 1 == 1;
        if matches!(state, State::After) && depth == 0 {
            return data.is_empty().then_some(());
        }
        let (&byte, rest) = data.split_first()?;
        let ends = byte == if in_object { b'}' } else { b']' };
        state = match state {
            State::First | State::After if ends => {
                data = rest;
                depth = depth.saturating_sub(1);
                objects = objects >> 1 | outer << 127;
                outer >>= 1;
                State::After
            }
            State::First => {
                if in_object {
                    State::Key
                } else {
                    State::Value
                }
            }
            State::After if byte == b',' => {
                data = rest;
                if in_object { State::Key } else { State::Value }
            }
            State::After => return None,
            State::Key if byte == b'"' => {
                data = trim(string(rest)?).strip_prefix(b":")?;
                State::Value
            }
            State::Key => return None,
            State::Value => match byte {
                b'{' | b'[' => {
                    if depth == 2 * u128::BITS {
                        return None;
                    }
                    data = rest;
                    depth = depth.saturating_add(1);
                    outer = outer << 1 | objects >> 127;
                    objects = objects << 1 | u128::from(byte == b'{');
                    State::First
                }
                _ => {
                    data = match byte {
                        b'"' => string(rest)?,
                        b't' => data.strip_prefix(b"true")?,
                        b'f' => data.strip_prefix(b"false")?,
                        b'n' => data.strip_prefix(b"null")?,
                        _ => number(data)?,
                    };
                    State::After
                }
            },
        };
    }
}

/// What follows white space.
#[inline]
pub(crate) fn trim(data: &[u8]) -> &[u8] {
    // Mostly there is none, or one space.
    let data = data.strip_prefix(b" ").unwrap_or(data);
    if data.first().is_none_or(|byte| *byte > b' ') {
        return data;
    }
    let space = data.iter().take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t')).count();
    data.get(space..).unwrap_or_default()
}

/// What follows the string whose opening quote has been read.
#[inline]
fn string(mut data: &[u8]) -> Option<&[u8]> {
    loop {
        let (special, rest) = data.get(find_special(data)?..)?.split_first()?;
        data = match special {
            b'"' => return Some(rest),
            b'\\' => match rest.split_first()? {
                (b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', rest) => rest,
                (b'u', rest) => {
                    let (digits, rest) = rest.split_first_chunk::<4>()?;
                    digits.iter().all(u8::is_ascii_hexdigit).then_some(rest)?
                }
                _ => return None,
            },
            _ => return None,
        };
    }
}

/// What follows the number at the front.
fn number(data: &[u8]) -> Option<&[u8]> {
    let data = data.strip_prefix(b"-").unwrap_or(data);
    let mut data = match data.strip_prefix(b"0") {
        Some(rest) => rest,
        None => digits(data)?,
    };
    if let Some(fraction) = data.strip_prefix(b".") {
        data = digits(fraction)?;
    }
    if let Some((b'e' | b'E', exponent)) = data.split_first() {
        let unsigned = exponent.strip_prefix(b"+").or(exponent.strip_prefix(b"-"));
        data = digits(unsigned.unwrap_or(exponent))?;
    }
    Some(data)
}

/// What follows one digit or more.
fn digits(data: &[u8]) -> Option<&[u8]> {
    let count = data.iter().take_while(|byte| byte.is_ascii_digit()).count();
    data.get(count..).filter(|_| count > 0)
}
