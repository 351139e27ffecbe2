//! The tokens with one of them ahead, and what is common to all rules.

use super::element;
use super::keyword::{Keyword, says};
use super::lexer::{Kind, Lexer, Punctuator, Token};
use crate::ctf::metadata::{Place, Text};
use crate::error::{Element, Error, ErrorKind, Result};

/// Tokens with a look-ahead of one.
#[derive(Clone, Copy)]
pub(super) struct Parser<'a> {
    lexer: Lexer<'a>,
    pub(super) ahead: Token<'a>,
}

/// The value of an attribute.
#[derive(Clone, Copy)]
pub(super) enum Value<'a> {
    /// With its sign: every 64-bit number, signed or not.
    Integer(i128),
    String {
        text: Text<'a>,
        escaped: bool,
    },
    /// A word or several with dots between them: all that stands there.
    Path(Path<'a>),
}

/// Words with dots between them.
#[derive(Clone, Copy)]
pub(super) struct Path<'a> {
    /// From the first word to the last one.
    pub(super) text: Text<'a>,
    pub(super) words: u32,
}

impl<'a> Path<'a> {
    /// True if it is made of these words, which have dots between them here.
    pub(super) fn is(&self, name: &str) -> bool {
        if self.words == 1 {
            return says(self.text, name.as_bytes());
        }
        let mut left = self.iter();
        let mut words = name.as_bytes().split(|byte| *byte == b'.');
        words.all(|word| left.next().is_some_and(|found| says(found.text(), word))) && left.next().is_none()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Token<'a>> + use<'a> {
        words(self.text)
    }
}

/// The words of a path that has been read before.
pub(super) fn words(text: Text<'_>) -> impl Iterator<Item = Token<'_>> {
    let mut lexer = Lexer::new(text);
    core::iter::from_fn(move || {
        loop {
            let token = lexer.next().ok()?;
            match token.kind {
                Kind::Name | Kind::Keyword(_) => return Some(token),
                Kind::End => return None,
                _ => {}
            }
        }
    })
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: Text<'a>) -> Result<Self> {
        let mut lexer = Lexer::new(text);
        let ahead = lexer.next()?;
        Ok(Self { lexer, ahead })
    }

    /// Takes the token ahead.
    pub(super) fn bump(&mut self) -> Result<Token<'a>> {
        let token = self.ahead;
        self.advance()?;
        Ok(token)
    }

    /// Goes on to the next token.
    pub(super) fn advance(&mut self) -> Result<()> {
        self.ahead = self.lexer.next()?;
        Ok(())
    }

    /// Takes the punctuator `byte` if it is ahead.
    pub(super) fn accept(&mut self, byte: u8) -> Result<bool> {
        self.accept_if(self.ahead.is(byte))
    }

    /// Takes `:=` if it is ahead.
    pub(super) fn accept_assign(&mut self) -> Result<bool> {
        self.accept_if(self.ahead.kind == Kind::Punctuator(Punctuator::Assign))
    }

    /// Takes the token ahead if it is the right one.
    fn accept_if(&mut self, is: bool) -> Result<bool> {
        if is {
            self.advance()?;
        }
        Ok(is)
    }

    pub(super) fn expect(&mut self, byte: u8, element: Element, expected: &'static str) -> Result<Token<'a>> {
        if !self.ahead.is(byte) {
            return Err(self.ahead.unexpected(element, expected));
        }
        self.bump()
    }

    /// Takes the semicolon that ends something, and further ones.
    pub(super) fn end(&mut self, element: Element) -> Result<()> {
        self.expect(b';', element, "';'")?;
        while self.accept(b';')? {}
        Ok(())
    }

    /// An identifier.
    pub(super) fn name(&mut self, element: Element, expected: &'static str) -> Result<Token<'a>> {
        match self.ahead.kind {
            Kind::Name => self.bump(),
            _ => Err(self.ahead.unexpected(element, expected)),
        }
    }

    /// The place of a text, which is not beyond 4 GiB.
    pub(super) fn place(text: Text<'a>) -> Result<Place> {
        text.place().ok_or_else(|| {
            let kind = ErrorKind::OverLimit { value: text.offset(), limit: u32::MAX.into() };
            Error::new(text.offset(), element::TOKEN, kind)
        })
    }

    /// Words with dots between them, keywords included.
    pub(super) fn path(&mut self, element: Element, expected: &'static str) -> Result<Path<'a>> {
        let start = self.ahead;
        let mut words = 0_u32;
        loop {
            match self.ahead.kind {
                Kind::Name | Kind::Keyword(_) => {}
                _ => return Err(self.ahead.unexpected(element, expected)),
            }
            words = words.saturating_add(1);
            let word = self.bump()?;
            match self.ahead.kind {
                Kind::Punctuator(Punctuator::Byte(b'.') | Punctuator::Arrow) => {
                    self.advance()?;
                }
                _ => return Ok(Path { text: start.until(&word), words }),
            }
        }
    }

    /// An integer with any signs before it, if one is ahead.
    pub(super) fn signed_integer(&mut self) -> Result<Option<i128>> {
        let mut negative = false;
        let mut signs = false;
        loop {
            match self.ahead.kind {
                Kind::Punctuator(Punctuator::Byte(sign @ (b'-' | b'+'))) => {
                    negative ^= sign == b'-';
                    signs = true;
                    self.advance()?;
                }
                Kind::Integer(value) => {
                    self.advance()?;
                    let value = i128::from(value);
                    return Ok(Some(if negative { value.saturating_neg() } else { value }));
                }
                _ if signs => return Err(self.ahead.unexpected(element::INTEGER, "an integer")),
                _ => return Ok(None),
            }
        }
    }

    /// The value of an attribute, and the offset where it stands.
    pub(super) fn value(&mut self) -> Result<(Value<'a>, u64)> {
        let token = self.ahead;
        if let Some(value) = self.signed_integer()? {
            return Ok((Value::Integer(value), token.offset));
        }
        let value = match token.kind {
            Kind::String { escaped } => {
                self.advance()?;
                Value::String { text: token.text(), escaped }
            }
            Kind::Name | Kind::Keyword(_) => Value::Path(self.path(element::ATTRIBUTE, "a name")?),
            _ => return Err(token.unexpected(element::ATTRIBUTE, "a value")),
        };
        Ok((value, token.offset))
    }

    /// Skips up to the end of the statement, past anything between braces.
    pub(super) fn skip_statement(&mut self, element: Element) -> Result<()> {
        loop {
            match self.ahead.kind {
                _ if self.ahead.is(b';') => return self.end(element),
                _ if self.ahead.kind == Kind::End || self.ahead.is(b'}') => {
                    return Err(self.ahead.unexpected(element, "';'"));
                }
                _ if self.ahead.is(b'{') => {
                    self.lexer.skip_block()?;
                    self.ahead = self.lexer.next()?;
                }
                _ => {
                    self.advance()?;
                }
            }
        }
    }

    /// Skips the block whose `{` is ahead, and the semicolon after it.
    pub(super) fn skip_block(&mut self, element: Element) -> Result<()> {
        if !self.ahead.is(b'{') {
            return Err(self.ahead.unexpected(element, "'{'"));
        }
        self.lexer.skip_block()?;
        self.ahead = self.lexer.next()?;
        self.end(element)
    }

    /// Takes a keyword if it is ahead.
    pub(super) fn accept_keyword(&mut self, keyword: Keyword) -> Result<bool> {
        self.accept_if(self.ahead.kind == Kind::Keyword(keyword))
    }
}
