//! The parts of packets and records that have fields.

use super::node::{Kind, NONE, Node, Nodes};

/// The scopes that have a root structure, in the order in which they are decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Scope {
    /// The header of a packet.
    PacketHeader,
    /// The context of a packet.
    PacketContext,
    /// The header of an event record.
    EventHeader,
    /// The common context of an event record.
    CommonContext,
    /// The specific context of an event record.
    SpecificContext,
    /// The payload of an event record.
    Payload,
}

impl Scope {
    /// The name of the scope, as the property `origin` of a field location spells it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PacketHeader => "packet-header",
            Self::PacketContext => "packet-context",
            Self::EventHeader => "event-record-header",
            Self::CommonContext => "event-record-common-context",
            Self::SpecificContext => "event-record-specific-context",
            Self::Payload => "event-record-payload",
        }
    }

    pub(crate) const ALL: [Self; 6] = [
        Self::PacketHeader,
        Self::PacketContext,
        Self::EventHeader,
        Self::CommonContext,
        Self::SpecificContext,
        Self::Payload,
    ];

    #[allow(clippy::as_conversions)] // There are few.
    pub(crate) const fn number(self) -> u8 {
        self as u8
    }
}

/// The root structure of a scope of the trace, stream or event record class at `index`; `NONE` if it has none.
pub(crate) fn root_of(nodes: Nodes<'_>, index: u32, scope: Scope) -> u32 {
    if index == NONE {
        return NONE;
    }
    nodes
        .children(index)
        .find(|child| {
            let node: &Node = nodes.get(*child);
            node.kind == Kind::Structure && node.name == u32::from(scope.number())
        })
        .unwrap_or(NONE)
}
