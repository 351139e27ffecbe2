//! The parts of templates and lists, as a table keeps them.

/// A range of a table's operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ops {
    pub(super) first: u32,
    pub(super) len: u32,
}

/// Room for a step of a table's templates, or an item of one of its lists.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpSlot<'t>(pub(super) Op<'t>);

impl OpSlot<'_> {
    /// An empty slot, to fill storage with before lending it.
    pub const EMPTY: Self = Self(Op::Text(""));
}

/// A step of a template, or an item of a list.
#[derive(Clone, Copy, Debug)]
pub(super) enum Op<'t> {
    /// Text as it is; a pattern of a list.
    Text(&'t str),
    /// An alternative, with so many more of the same place after it.
    Try { source: Source<'t>, mask: Option<u64>, hex: bool, more: u32 },
    /// The name of a table of values, whose entries follow, and the table before it.
    Table(&'t str, Ops),
    /// A value, the text that stands for it, and the value as a number if it is one as numbers are written.
    Entry(&'t str, &'t str, Option<i128>),
    /// The hash of a text.
    Hash(u64),
    /// The argument that is the processor.
    Cpu,
    /// All fields of the payload as arguments.
    All,
}

impl Default for Op<'_> {
    fn default() -> Self {
        Self::Text("")
    }
}

/// The source of a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source<'t> {
    /// A field, by the number of its name.
    Field(u32),
    Text(&'t str),
    Cpu,
    /// The processor of the packet.
    PacketCpu,
    Thread,
    Stream,
    Event,
    /// The text for which `*` stands.
    Star,
    /// The field that tells calls of a generic rule apart.
    Key,
    /// The value that was remembered in a map, by the hash of its name.
    Map(u64, Inner<'t>),
    /// A value of a table.
    Table(Ops, Inner<'t>, Option<u64>),
}

/// The key that is looked up in a map or a table.
#[derive(Clone, Copy, Debug)]
pub(super) enum Inner<'t> {
    Field(u32),
    Cpu,
    Text(&'t str),
}

/// A condition: the template has this value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Condition<'t> {
    pub(super) template: Ops,
    pub(super) value: &'t str,
    /// The value, if that is an integer as it is written by templates.
    pub(super) number: Option<i64>,
}
