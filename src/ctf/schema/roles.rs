//! The places in which fields with a meaning may be.

use super::node::{Kind, Node, role};
use super::scope::Scope;

/// The surroundings of a field class.
#[derive(Clone, Copy)]
pub(super) struct Around {
    pub(super) scope: Scope,
    /// True if it is the first member of the root structure.
    pub(super) is_first: bool,
    /// True if the trace has a UUID, and the stream class a clock.
    pub(super) has_uuid: bool,
    pub(super) has_clock: bool,
}

impl Around {
    /// True if a class may have the roles that it has.
    pub(super) fn allows(self, node: &Node) -> bool {
        if matches!(node.kind, Kind::NulString | Kind::StaticString | Kind::DynamicString) {
            return true;
        }
        let roles = node.meaning();
        let allowed = match self.scope {
            Scope::PacketHeader => role::MAGIC | role::UUID | role::STREAM_CLASS_ID | role::STREAM_ID,
            Scope::PacketContext => {
                role::TOTAL_LENGTH
                    | role::CONTENT_LENGTH
                    | role::TIMESTAMP
                    | role::END_TIMESTAMP
                    | role::DISCARDED
                    | role::SEQUENCE
            }
            Scope::EventHeader => role::EVENT_CLASS_ID | role::TIMESTAMP,
            Scope::CommonContext | Scope::SpecificContext | Scope::Payload => 0,
        };
        let is_type = match roles {
            0 => true,
            roles if roles & role::UUID != 0 => {
                matches!(node.kind, Kind::StaticBlob | Kind::StaticArray) && node.a == 16 && self.has_uuid
            }
            _ => matches!(node.kind, Kind::Unsigned | Kind::VariableUnsigned),
        };
        let is_magic = node.kind == Kind::Unsigned && node.a == 32 && self.is_first;
        let is_time = roles & (role::TIMESTAMP | role::END_TIMESTAMP) != 0;
        roles & !allowed == 0
            && is_type
            && (roles & role::MAGIC == 0 || is_magic)
            && (!is_time || self.has_clock)
    }
}
