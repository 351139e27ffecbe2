//! Names that are met at random, in one piece with what is known by them.

use std::borrow::Borrow;
use std::hash::{Hash, Hasher};

/// A name, in place if it is short.
pub enum Short {
    Here(u8, [u8; 22]),
    There(Box<str>),
}

impl Default for Short {
    fn default() -> Self {
        Self::Here(0, [0; 22])
    }
}

// By its bytes: it can be looked up by them.
impl Borrow<[u8]> for Short {
    fn borrow(&self) -> &[u8] {
        self.bytes()
    }
}

impl Hash for Short {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bytes().hash(state);
    }
}

impl PartialEq for Short {
    fn eq(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }
}

impl Eq for Short {}

impl Short {
    pub fn new(name: &str) -> Self {
        let mut bytes = [0; 22];
        match (bytes.get_mut(..name.len()), u8::try_from(name.len())) {
            (Some(to), Ok(len)) => {
                to.copy_from_slice(name.as_bytes());
                Self::Here(len, bytes)
            }
            _ => Self::There(name.into()),
        }
    }

    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Here(len, bytes) => bytes.get(..usize::from(*len)).unwrap_or_default(),
            Self::There(name) => name.as_bytes(),
        }
    }

    pub fn text(&self) -> &str {
        match self {
            Self::Here(..) => std::str::from_utf8(self.bytes()).unwrap_or_default(),
            Self::There(name) => name,
        }
    }
}
