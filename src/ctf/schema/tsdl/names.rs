//! Names of types, members, clocks, streams and so on, each in the name space of an owner.
//!
//! A stack, as scopes are, in which a binary trie over the hashes finds a name: searching takes the same time
//! however many names there are.

use super::element;
use crate::bytes::{to_u64, to_usize};
use crate::ctf::metadata::{Place, Text};
use crate::error::{Error, ErrorKind, Result};
use crate::json::Source;

/// A name while TSDL is compiled: what is lent for [`Workspace`](super::Workspace).
#[derive(Clone, Copy, Debug, Default)]
pub struct Name {
    hash: u32,
    owner: u32,
    place: Place,
    /// What is known of the pointers of an alias: see [`Key`].
    pointers: u16,
    value: u64,
    /// What a number stands for.
    pointee: u32,
    children: [u32; 2],
    /// The name whose child it is.
    parent: u32,
}

/// What is looked for.
#[derive(Clone, Copy)]
pub(super) struct Key<'a> {
    /// A structure or a variant by its node, or one of the constants.
    pub(super) owner: u32,
    pub(super) text: Text<'a>,
    pub(super) hash: u32,
    /// A bit for each pointer that is constant, after a bit that ends them; 0 for anything but an alias.
    pub(super) pointers: u16,
}

pub(super) const PLAIN: u32 = u32::MAX;
pub(super) const STRUCT: u32 = PLAIN - 1;
pub(super) const ENUM: u32 = PLAIN - 2;
pub(super) const VARIANT: u32 = PLAIN - 3;
pub(super) const ENV: u32 = PLAIN - 4;
pub(super) const CLOCK: u32 = PLAIN - 5;
/// Its names are numbers.
pub(super) const STREAM: u32 = PLAIN - 6;

const NONE: u32 = 0;

/// The hash of a name: FNV-1a.
pub(super) fn hash(mut text: Text<'_>) -> u32 {
    let mut hash = 0x811c_9dc5_u32;
    loop {
        let front = text.front();
        if front.is_empty() {
            return hash;
        }
        for byte in front {
            hash = (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
        }
        text.advance(front.len());
    }
}

impl<'a> Key<'a> {
    pub(super) fn new(owner: u32, text: Text<'a>) -> Self {
        Self { owner, text, hash: hash(text), pointers: 0 }
    }

    /// The name of an alias: its words, whatever stands between them, and its pointers.
    pub(super) fn alias(words: Text<'a>, pointers: u16) -> Self {
        let mut hash = 0x811c_9dc5_u32 ^ u32::from(pointers);
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        if words.borrowed().is_some_and(|slice| slice.iter().all(is_word)) {
            // A single one, as most names of types are.
            let hash = self::hash(words) ^ hash.rotate_left(5);
            return Self { owner: PLAIN, text: words, hash, pointers };
        }
        let mut words_left = Words(words);
        while let Some(word) = words_left.next() {
            hash = self::hash(word) ^ hash.rotate_left(5);
        }
        Self { owner: PLAIN, text: words, hash, pointers }
    }

    fn number(owner: u32, number: u64) -> Self {
        let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let [.., a, b, c, d] = mixed.to_le_bytes();
        let text = Text::from_piece(crate::bytes::Bytes::new(&[]));
        Self { owner, text, hash: u32::from_le_bytes([a, b, c, d]), pointers: 0 }
    }

    /// What the trie is ordered by: scrambled, as FNV's low bits follow the text's.
    fn order(&self) -> u32 {
        let mixed = (self.hash ^ self.owner.rotate_left(16)).wrapping_mul(0x9e37_79b1);
        mixed ^ mixed >> 15
    }
}

/// The words of an alias's name: what white space and comments part.
struct Words<'a>(Text<'a>);

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<Text<'a>> {
        let mut lexer = super::lexer::Lexer::new(self.0);
        let token = lexer.next().ok()?;
        self.0 = lexer.rest();
        (token.kind != super::lexer::Kind::End).then_some(token.text())
    }
}

/// Whether two names of aliases consist of the same words.
fn same_words(a: Text<'_>, b: Text<'_>) -> bool {
    if super::keyword::same(a, b) {
        return true;
    }
    let (mut a, mut b) = (Words(a), Words(b));
    loop {
        match (a.next(), b.next()) {
            (None, None) => return true,
            (Some(a), Some(b)) if super::keyword::same(a, b) => {}
            _ => return false,
        }
    }
}

/// The names at hand.
pub(super) struct Names<'w> {
    names: &'w mut [Name],
    len: u32,
    used: u32,
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

    fn get(&self, at: u32) -> Option<&Name> {
        self.names.get(to_usize(at))
    }

    /// Goes through the names on the way to `key`, and gives the last one together with the side of its child.
    fn path(&self, key: &Key<'_>, mut visit: impl FnMut(u32, &Name)) -> Option<(u32, usize)> {
        let mut order = key.order();
        let mut at = 0;
        if self.len == 0 {
            return None;
        }
        loop {
            let name = self.get(at)?;
            visit(at, name);
            let side = to_usize(order & 1);
            order >>= 1;
            match name.children.get(side) {
                Some(&child) if child != NONE => at = child,
                _ => return Some((at, side)),
            }
        }
    }

    /// The last name that was added as `key`, with its number.
    ///
    /// `text` gives the text of a place. Those that lie after `before` in the input do not count.
    pub(super) fn find<'a>(
        &self,
        key: &Key<'a>,
        before: u64,
        text: impl Fn(Place) -> Text<'a>,
    ) -> Option<(u32, u64)> {
        let mut found = None;
        self.path(key, |at, name| {
            if name.hash == key.hash
                && name.owner == key.owner
                && name.pointers == key.pointers
                && name.place.offset() <= before
            {
                let stored = text(name.place);
                let equal = if key.owner == PLAIN {
                    same_words(stored, key.text)
                } else {
                    super::keyword::same(stored, key.text)
                };
                if equal {
                    found = Some((at, name.value));
                }
            }
        });
        found
    }

    /// Gives the values of all that was added as `key`, in that order.
    pub(super) fn find_all<'a>(
        &self,
        key: &Key<'a>,
        text: impl Fn(Place) -> Text<'a>,
        mut found: impl FnMut(u64),
    ) {
        self.path(key, |_, name| {
            if name.hash == key.hash
                && name.owner == key.owner
                && super::keyword::same(text(name.place), key.text)
            {
                found(name.value);
            }
        });
    }

    /// The value of a number.
    pub(super) fn find_number(&self, owner: u32, number: u64) -> Option<u32> {
        let mut found = None;
        self.path(&Key::number(owner, number), |_, name| {
            if name.owner == owner && name.value == number {
                found = Some(name.pointee);
            }
        });
        found
    }

    pub(super) fn insert_number(&mut self, owner: u32, number: u64, value: u32, offset: u64) -> Result<()> {
        let at = self.len;
        self.insert(&Key::number(owner, number), Place::nowhere(), number)
            .map_err(|error| Error::new(offset, error.element(), error.kind()))?;
        if let Some(name) = self.names.get_mut(to_usize(at)) {
            name.pointee = value;
        }
        Ok(())
    }

    pub(super) fn insert(&mut self, key: &Key<'_>, place: Place, value: u64) -> Result<()> {
        let capacity = to_u64(self.names.len());
        let needed = u64::from(self.len).saturating_add(1);
        let at = self.len;
        let parent = self.path(key, |_, _| ());
        let Some(slot) = self.names.get_mut(to_usize(at)) else {
            let kind = ErrorKind::CapacityExceeded { capacity, needed };
            return Err(Error::new(place.offset(), element::NAMES, kind));
        };
        *slot = Name {
            hash: key.hash,
            owner: key.owner,
            place,
            pointers: key.pointers,
            value,
            pointee: 0,
            children: [NONE; 2],
            parent: parent.map_or(0, |(parent, _)| parent),
        };
        if let Some((parent, side)) = parent
            && let Some(child) =
                self.names.get_mut(to_usize(parent)).and_then(|parent| parent.children.get_mut(side))
        {
            *child = at;
        }
        self.len = self.len.saturating_add(1);
        self.used = self.used.max(self.len);
        Ok(())
    }

    /// Forgets all names from number `len` on.
    pub(super) fn truncate(&mut self, len: u32) {
        while self.len > len {
            self.len = self.len.saturating_sub(1);
            let at = self.len;
            let Some(parent) = self.get(at).map(|name| name.parent) else { return };
            if let Some(parent) = self.names.get_mut(to_usize(parent)) {
                for child in &mut parent.children {
                    if *child == at {
                        *child = NONE;
                    }
                }
            }
        }
    }
}
