//! The environment in which a trace was recorded.

use super::builder::Builder;
use super::element::ENVIRONMENT;
use super::name::Name;
use super::node::{BIG, Kind, NONE, Node, Place};
use super::schema::Schema;
use super::spec::{TextPlace, VariableSpec, Variables};
use crate::ctf::metadata::MetadataStream;
use crate::error::Result;
use crate::json::{Event, Parser};
use core::iter::FusedIterator;

// The kind of a variable's value, as its node's `slot`.
const INTEGER: u8 = 0;
const NUMBER: u8 = 1;
const TEXT: u8 = 2;

impl Builder<'_> {
    /// Adds a variable of the environment.
    pub(crate) fn variable(&mut self, name: Place, value: VariableSpec) -> Result<()> {
        let mut node = Node::new(Kind::Variable);
        node.set_name(name);
        node.slot = match value {
            VariableSpec::Integer(value) => {
                // Its absolute value has 64 bits at most: others are numbers.
                node.set_y(u64::try_from(value.unsigned_abs()).unwrap_or(u64::MAX));
                node.set(BIG, value < 0);
                INTEGER
            }
            VariableSpec::Number(place) | VariableSpec::Text(place) => {
                (node.a, node.b, node.roles) = (place.offset, place.len, place.flags.into());
                if matches!(value, VariableSpec::Text(_)) { TEXT } else { NUMBER }
            }
        };
        let index = self.side(node)?;
        if self.environment.first == NONE {
            self.environment.first = index;
        }
        self.environment.len = self.environment.len.saturating_add(1);
        Ok(())
    }
}

impl Node {
    /// True if a variable's value is text, or a number that is too long for a node.
    pub(super) fn has_text(&self) -> bool {
        self.slot != INTEGER
    }

    /// The text of a variable.
    pub(super) fn variable_text<'a>(&self, stream: &MetadataStream<'a>) -> Option<Name<'a>> {
        let place = if self.kind == Kind::Variable { self.value_place() } else { None };
        place.map(|place| Name::of(stream, place))
    }

    /// The place of a variable's value, unless that is a number in the node.
    fn value_place(&self) -> Option<TextPlace> {
        let [flags, _] = self.roles.to_le_bytes();
        let place = TextPlace { offset: self.a, len: self.b, flags };
        self.has_text().then_some(place)
    }
}

/// A value of a trace's environment.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum EnvironmentValue<'a> {
    /// An integer.
    Integer(i128),
    /// A string.
    Text(Name<'a>),
}

impl<'a, 's> Schema<'a, 's> {
    /// The environment in which the trace was recorded, such as `hostname` and `tracer_name`, in the order in which the
    /// metadata lists it.
    #[doc(alias = "env")]
    pub fn environment(&self) -> Environment<'a, 's> {
        let Variables { first, len } = self.environment;
        Environment { stream: self.stream, nodes: self.nodes, next: first, left: len }
    }
}

/// The variables of an environment, with their values.
#[derive(Clone, Debug)]
pub struct Environment<'a, 's> {
    stream: MetadataStream<'a>,
    nodes: super::node::Nodes<'s>,
    next: u32,
    left: u32,
}

impl<'a> Iterator for Environment<'a, '_> {
    type Item = (Name<'a>, EnvironmentValue<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let node = self.nodes.get(self.next);
        self.next = self.next.saturating_sub(1);
        let name = Name::at(&self.stream, node.place()?);
        let value = match node.variable_text(&self.stream) {
            None => {
                let value = i128::from(node.y());
                EnvironmentValue::Integer(if node.has(BIG) { value.saturating_neg() } else { value })
            }
            Some(text) if node.slot == NUMBER => {
                let event = Parser::new(text.raw(), ENVIRONMENT).next_event().ok().flatten();
                let value = if let Some(Event::Number(number)) = event { number.as_i128() } else { None };
                value.map_or(EnvironmentValue::Text(text), EnvironmentValue::Integer)
            }
            Some(text) => EnvironmentValue::Text(text),
        };
        Some((name, value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = crate::bytes::to_usize(self.left);
        (left, Some(left))
    }
}

impl FusedIterator for Environment<'_, '_> {}
