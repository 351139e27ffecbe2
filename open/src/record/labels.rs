//! The texts of labels.

use std::borrow::Cow;
use std::sync::Arc;
use traceglass::record::Labels;

/// The values whose texts are made beforehand: `0..SMALL`.
const SMALL: u64 = 64;

/// The text that a listener writes for each value of a field with labels; of small values it is made beforehand.
pub struct LabelTexts {
    small: Vec<Box<[u8]>>,
    labels: Arc<Labels>,
    spell: Spell,
    name: Box<str>,
}

/// Spells the labels of a value, none or more, of the field of this name.
pub type Spell = fn(&str, &[&str]) -> Vec<u8>;

impl LabelTexts {
    pub fn new(labels: Arc<Labels>, name: &str, spell: Spell) -> Self {
        let mut texts = Self { small: Vec::new(), labels, spell, name: name.into() };
        texts.small = (0..SMALL).map(|value| texts.text(value.into()).into()).collect();
        texts
    }

    /// The text for a value: nothing if it has no label.
    pub fn text(&self, value: i128) -> Vec<u8> {
        let labels = self.labels.of(value);
        if labels.is_empty() { Vec::new() } else { (self.spell)(&self.name, &labels) }
    }

    /// The same; it is borrowed if it was made beforehand.
    #[inline(always)]
    pub fn get(&self, value: i128) -> Cow<'_, [u8]> {
        match usize::try_from(value).ok().and_then(|value| self.small.get(value)) {
            Some(text) => Cow::Borrowed(text),
            None => Cow::Owned(self.text(value)),
        }
    }

    /// Puts what is to be said of a value.
    #[inline(always)]
    pub fn put(&self, value: i128, to: &mut super::buffer::Buffer) {
        to.put(&self.get(value));
    }
}
