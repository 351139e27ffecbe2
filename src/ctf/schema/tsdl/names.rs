//! Names of types, members, clocks and so on, each in the name space of an owner.
//!
//! A stack, as scopes are, in which a [tree](crate::ctf::schema::trie) finds a name. Names that are added again hang on
//! the first one that is spelled the same.

use super::element;
use crate::bytes::{to_u64, to_usize};
use crate::ctf::metadata::{MetadataStream, Place, Text};
use crate::ctf::schema::trie::{self, Branch, Branches, LONGEST, Spelling};
use crate::error::{Error, ErrorKind, Result};
use crate::json::Source;

/// A name while TSDL is compiled: what is lent for [`Workspace`](super::Workspace).
#[derive(Clone, Copy, Debug, Default)]
pub struct Name {
    owner: u32,
    place: Place,
    /// The pointers of an alias, as far as they are known: see [`Key`].
    pointers: u16,
    /// True if an earlier name is spelled the same.
    is_again: bool,
    value: u64,
    /// Of one that is the first to be spelled so.
    bit: u32,
    children: [u32; 2],
    /// The entry above it in the tree; of one that is spelled the same as an earlier one, the first of those.
    above: u32,
    /// The one before it that is spelled the same; of the first one, the last. 0 if there is none.
    previous: u32,
}

/// The name that is looked for.
#[derive(Clone, Copy)]
pub(super) struct Key<'a> {
    /// A structure or a variant by its node, or one of the constants.
    pub(super) owner: u32,
    pub(super) text: Text<'a>,
    /// A bit for each pointer that is constant, after a bit that ends them.
    pub(super) pointers: u16,
}

pub(super) const PLAIN: u32 = u32::MAX;
pub(super) const STRUCT: u32 = PLAIN - 1;
pub(super) const ENUM: u32 = PLAIN - 2;
pub(super) const VARIANT: u32 = PLAIN - 3;
pub(super) const ENV: u32 = PLAIN - 4;
pub(super) const CLOCK: u32 = PLAIN - 5;

impl<'a> Key<'a> {
    pub(super) fn new(owner: u32, text: Text<'a>) -> Self {
        Self { owner, text, pointers: 0 }
    }

    /// The name of an alias: its words, whatever stands between them, and its pointers.
    pub(super) fn alias(words: Text<'a>, pointers: u16) -> Self {
        Self { pointers, ..Self::new(PLAIN, words) }
    }

    fn spelled(&self) -> Spelled<'a> {
        let ([a, b, c, d], [e, f]) = (self.owner.to_le_bytes(), self.pointers.to_le_bytes());
        Spelled { prefix: [a, b, c, d, e, f], rest: Rest::of(self.owner, self.text) }
    }
}

/// The words of an alias's name: what white space and comments part.
#[derive(Clone, Copy)]
struct Words<'a>(Text<'a>);

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<Text<'a>> {
        let mut lexer = super::lexer::Lexer::new(self.0);
        let token = lexer.next().ok()?;
        self.0 = lexer.rest();
        (token.kind != super::lexer::Kind::End).then_some(token.text())
    }
}

/// The number of bytes the owner and the pointers take.
const PREFIX: u32 = 6;

/// The bytes by which a name is found: its owner, its pointers, its text.
struct Spelled<'a> {
    prefix: [u8; 6],
    rest: Rest<'a>,
}

/// The text of a name.
enum Rest<'a> {
    Slice(&'a [u8]),
    /// The position of the first byte of the text that is left. The words of an alias that follow have one space before
    /// each.
    Text {
        at: u32,
        text: Text<'a>,
        words: Option<Words<'a>>,
    },
}

impl<'a> Rest<'a> {
    fn of(owner: u32, text: Text<'a>) -> Self {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        match text.borrowed() {
            // A single word, as most names of types are.
            Some(slice) if owner != PLAIN || slice.iter().all(is_word) => Self::Slice(slice),
            _ if owner != PLAIN => Self::Text { at: 0, text, words: None },
            _ => {
                let mut words = Words(text);
                let text = words.next().unwrap_or(text.limited(0));
                Self::Text { at: 0, text, words: Some(words) }
            }
        }
    }

    fn byte(&mut self, position: u32) -> Option<u8> {
        match self {
            Self::Slice(slice) => slice.byte(position),
            Self::Text { at, text, words } => loop {
                let skipped = to_usize(position.saturating_sub(*at)).min(text.front().len());
                text.advance(skipped);
                *at = at.saturating_add(u32::try_from(skipped).unwrap_or(0));
                match text.front().first() {
                    Some(byte) if *at == position => return Some(*byte),
                    Some(_) => continue,
                    None => {}
                }
                // The space before the next word, which stays until the byte after it is asked for.
                let next = words.as_ref().and_then(|words| { *words }.next())?;
                if position == *at {
                    return Some(b' ');
                }
                *at = at.saturating_add(1);
                if let Some(words) = words {
                    words.next();
                }
                *text = next;
            },
        }
    }
}

impl Spelling for Spelled<'_> {
    fn byte(&mut self, position: u32) -> Option<u8> {
        match position.checked_sub(PREFIX) {
            Some(position) => self.rest.byte(position),
            None => self.prefix.get(to_usize(position)).copied(),
        }
    }
}

/// The names at hand.
pub(super) struct Names<'w> {
    names: &'w mut [Name],
    len: u32,
    used: u32,
}

impl Branches for Names<'_> {
    fn branch(&self, at: u32) -> Branch {
        let name = self.get(at);
        Branch { bit: name.bit, children: name.children }
    }

    fn set_branch(&mut self, at: u32, branch: Branch) {
        self.update(at, |name| (name.bit, name.children) = (branch.bit, branch.children));
    }
}

impl<'w> Names<'w> {
    pub(super) fn new(names: &'w mut [Name]) -> Self {
        Self { names, len: 0, used: 0 }
    }

    pub(super) fn len(&self) -> u32 {
        self.len
    }

    /// The most names that were in use at once.
    pub(super) fn used(&self) -> u32 {
        self.used
    }

    fn get(&self, at: u32) -> Name {
        self.names.get(to_usize(at)).copied().unwrap_or_default()
    }

    fn update(&mut self, at: u32, change: impl FnOnce(&mut Name)) {
        if let Some(name) = self.names.get_mut(to_usize(at)) {
            change(name);
        }
    }

    /// The first name that is spelled so, or else the bit in which the nearest one differs. `None` if there are no
    /// names.
    fn seek(&self, key: &Key<'_>, stream: &MetadataStream<'_>) -> Option<Result<u32, u32>> {
        if self.len == 0 {
            return None;
        }
        let at = trie::nearest(self, 0, &mut key.spelled());
        let Name { owner, place, pointers, .. } = self.get(at);
        let found = Key { owner, text: stream.text_of(place), pointers };
        Some(match trie::difference(&mut key.spelled(), &mut found.spelled()) {
            None => Ok(at),
            Some(bit) => Err(bit),
        })
    }

    /// The last name that was added as `key`, with its number. Those that lie after `before` in the input do not count.
    pub(super) fn find(&self, key: &Key<'_>, before: u64, stream: &MetadataStream<'_>) -> Option<(u32, u64)> {
        let first = self.seek(key, stream)?.ok()?;
        let last = self.get(first).previous;
        let mut at = if last == 0 { first } else { last };
        loop {
            let name = self.get(at);
            if name.place.offset() <= before {
                return Some((at, name.value));
            }
            if at == first {
                return None;
            }
            at = name.previous;
        }
    }

    pub(super) fn insert(
        &mut self,
        key: &Key<'_>,
        place: Place,
        value: u64,
        stream: &MetadataStream<'_>,
    ) -> Result<()> {
        if place.len() >= LONGEST {
            let kind = ErrorKind::OverLimit { value: place.len(), limit: LONGEST };
            return Err(Error::new(place.offset(), element::TOKEN, kind));
        }
        let name = Name { owner: key.owner, place, pointers: key.pointers, value, ..Name::default() };
        let at = self.len;
        let capacity = to_u64(self.names.len());
        let needed = u64::from(at).saturating_add(1);
        if needed > capacity {
            let kind = ErrorKind::CapacityExceeded { capacity, needed };
            return Err(Error::new(place.offset(), element::NAMES, kind));
        }
        let nearest = self.seek(key, stream);
        self.update(at, |slot| *slot = name);
        match nearest {
            None => self.set_branch(at, Branch::first(at)),
            Some(Err(bit)) => {
                let above = trie::add(self, 0, at, &mut key.spelled(), bit);
                self.update(at, |name| name.above = above);
            }
            Some(Ok(first)) => {
                let last = self.get(first).previous;
                let last = if last == 0 { first } else { last };
                self.update(first, |name| name.previous = at);
                self.update(at, |name| (name.is_again, name.above, name.previous) = (true, first, last));
            }
        }
        self.len = at.saturating_add(1);
        self.used = self.used.max(self.len);
        Ok(())
    }

    /// Forgets all names from number `len` on.
    pub(super) fn truncate(&mut self, len: u32) {
        while self.len > len {
            self.len = self.len.saturating_sub(1);
            let at = self.len;
            let name = self.get(at);
            if name.is_again {
                let (first, last) = (name.above, name.previous);
                self.update(first, |name| name.previous = if last == first { 0 } else { last });
            } else if at > 0 {
                trie::remove_last(self, name.above, at);
            }
        }
    }
}
