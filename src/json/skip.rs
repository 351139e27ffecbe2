//! Values whose content nobody asks for: where one ends, and which members an object has.

use super::{Source, Str, Tokens};
use crate::error::{Error, ErrorKind, Result};

/// The deepest nesting that is skipped: a bit each.
const DEPTH: u32 = u64::BITS;

impl<'a, S: Source<'a>> Tokens<S> {
    /// Skips a value, and returns its text.
    ///
    /// Without events, of which the parser makes some kilobytes in an image.
    #[inline(never)]
    pub(crate) fn skip_value(&mut self) -> Result<S> {
        self.skip_space();
        let start = *self;
        // The kinds of what is open, the innermost in the lowest bit: 1 for an object.
        let (mut depth, mut objects) = (0_u32, 0_u64);
        loop {
            self.skip_space();
            match self.peek() {
                Some(open @ (b'{' | b'[')) => {
                    if depth == DEPTH {
                        let kind = ErrorKind::TooDeep { limit: DEPTH };
                        return Err(Error::new(self.rest().offset(), self.element(), kind));
                    }
                    self.advance(1);
                    self.skip_space();
                    let is_object = open == b'{';
                    (depth, objects) = (depth.wrapping_add(1), objects << 1 | u64::from(is_object));
                    if self.peek() != Some(if is_object { b'}' } else { b']' }) {
                        if is_object {
                            self.key("a member's name or '}'")?;
                        }
                        continue;
                    }
                }
                Some(b'"') => drop(self.string()?),
                Some(b'-' | b'0'..=b'9') => drop(self.number()?),
                Some(b't') => self.word(b"true")?,
                Some(b'f') => self.word(b"false")?,
                Some(b'n') => self.word(b"null")?,
                _ => return Err(self.fault("a value")),
            }
            // After a value, others end with it, or another one follows.
            loop {
                if depth == 0 {
                    return Ok(self.since(&start));
                }
                self.skip_space();
                let is_object = objects & 1 == 1;
                match self.peek() {
                    Some(b',') => {
                        self.advance(1);
                        self.skip_space();
                        if is_object {
                            self.key("a member's name")?;
                        }
                        break;
                    }
                    Some(close) if close == if is_object { b'}' } else { b']' } => {
                        self.advance(1);
                        (depth, objects) = (depth.wrapping_sub(1), objects >> 1);
                    }
                    _ => return Err(self.fault(if is_object { "',' or '}'" } else { "',' or ']'" })),
                }
            }
        }
    }

    /// The next member of an object, at its brace or after a member; `None` at its end and at a fault.
    pub(crate) fn next_member(&mut self) -> Option<(Str<S>, S)> {
        self.skip_space();
        if matches!(self.peek(), Some(b'{' | b',')) {
            self.advance(1);
            self.skip_space();
        }
        let name = self.key("a member's name").ok()?;
        Some((name, self.skip_value().ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Element;
    use crate::json::Parser;
    use crate::text::Text;

    const TEXT: Element = Element::new(&"text");

    /// The parser of all JSON agrees on what is a value, where it ends, and where a fault is.
    #[test]
    fn values_are_those_of_the_parser() {
        let texts: [&[u8]; 12] = [
            br#"{"id":9,"a":[1,-2.5e+3,{"b":null}],"c":"x\u00e9\"\\"} rest"#,
            b"[[],{},[{}],true,false] ,",
            b"{\"a\" : 1 , \"b\":[ ]}",
            b"{\"a\":01}",
            b"[1,]",
            b"{,}",
            b"\"a\nb\"",
            b"\"\\x\"",
            b"\"\\u12g4\"",
            b"-",
            b"1.e5",
            b"nul",
        ];
        let mut cases = 0;
        for text in texts {
            for changed in 0..=text.len() {
                for byte in *b"{}[],:\"\\0-e. \n" {
                    let mut text = text.to_vec();
                    text.get_mut(changed).into_iter().for_each(|at| *at = byte);
                    for cut in 0..=text.len() {
                        let (head, tail) = text.split_at(cut);
                        let text = Text::new(head, 100).with_tail(tail, 500);
                        let (mut parser, mut tokens) = (Parser::new(text, TEXT), Tokens::new(text, TEXT));
                        match (parser.value_text(), tokens.skip_value()) {
                            (Ok(Some(found)), Ok(value)) => assert_eq!(found.len(), value.len()),
                            (Err(fault), Err(error)) => assert_eq!(fault.offset(), error.offset()),
                            other => panic!("{other:?} of {text:?}"),
                        }
                        cases += 1;
                    }
                }
            }
        }
        assert!(cases > 60_000, "{cases}");
    }
}
