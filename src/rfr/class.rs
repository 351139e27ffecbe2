//! The classes of records, objects and callsites: what is constant about what they say.

use super::callsite::Level;
use super::kind::{RecordKind, Shape};
use crate::record::{EachLabel, FieldInfo, Fixed, FixedClass, Hint, Kind};
use core::fmt::Display;

/// A field of a class, or a place in its table that a list or a map takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    SeqId,
    Micros,
    Iid,
    TaskIid,
    Task,
    TaskId,
    Context,
    ContextTask,
    Span,
    Location,
    CallsiteId,
    Parent,
    ParentSpan,
    Name,
    Target,
    Level,
    Values,
    Dynamic,
    TaskName,
    TaskKind,
    CallsiteKind,
    ModulePath,
    File,
    Line,
    FieldNames,
    ConstFields,
    /// An element of the list or map before it.
    Element,
    /// The end.
    End,
}

impl Part {
    /// The name, and what is constant about its values.
    const fn row(self) -> (&'static &'static str, Kind, Hint) {
        const ID: Kind = Kind::Unsigned { bits: 64 };
        match self {
            Self::SeqId => (&"seq_id", ID, Hint::None),
            Self::Micros => (&"micros", ID, Hint::Stamp),
            Self::Iid => (&"iid", ID, Hint::None),
            Self::TaskIid => (&"task_iid", ID, Hint::None),
            Self::Task => (&"task", Kind::Text, Hint::None),
            Self::TaskId => (&"task_id", ID, Hint::None),
            Self::Context => (&"context", ID, Hint::None),
            Self::ContextTask => (&"context_task", Kind::Text, Hint::None),
            Self::Span => (&"span", Kind::Text, Hint::None),
            Self::Location => (&"location", Kind::Text, Hint::None),
            Self::CallsiteId => (&"callsite_id", ID, Hint::Address),
            Self::Parent => (&"parent", Kind::Any, Hint::None),
            Self::ParentSpan => (&"parent_span", Kind::Text, Hint::None),
            Self::Name => (&"name", Kind::Text, Hint::None),
            Self::Target => (&"target", Kind::Text, Hint::None),
            Self::Level => (&"level", Kind::Unsigned { bits: 8 }, Hint::Label),
            Self::Values => (&"split_field_values", Kind::Map, Hint::None),
            Self::Dynamic => (&"dynamic_fields", Kind::Map, Hint::None),
            Self::TaskName => (&"task_name", Kind::Text, Hint::None),
            Self::TaskKind => (&"task_kind", Kind::Text, Hint::None),
            Self::CallsiteKind => (&"callsite_kind", Kind::Text, Hint::None),
            Self::ModulePath => (&"module_path", Kind::Text, Hint::None),
            Self::File => (&"file", Kind::Text, Hint::None),
            Self::Line => (&"line", ID, Hint::None),
            Self::FieldNames => (&"split_field_names", Kind::List, Hint::None),
            Self::ConstFields => (&"const_fields", Kind::Map, Hint::None),
            Self::Element | Self::End => (&"", Kind::Any, Hint::None),
        }
    }

    const fn info(self) -> FieldInfo<'static> {
        const LEVELS: EachLabel<'static> = &levels;
        let (name, kind, hint) = self.row();
        match self {
            Self::Element => FieldInfo::unnamed(kind),
            Self::End => Fixed::END,
            Self::Level => FieldInfo::new(name, kind).hint(hint).labels(LEVELS),
            _ => FieldInfo::new(name, kind).hint(hint),
        }
    }
}

fn levels(each: &mut dyn FnMut(&dyn Display, i128, i128)) {
    for number in 0..=u8::MAX {
        if let Some(name) = Level::new(number).name() {
            each(&name, number.into(), number.into());
        }
    }
}

/// The parts of a class, and what of it is in its table.
macro_rules! parts {
    ($($name:ident, $infos:ident = [$($part:ident),*];)*) => {
        $(
            const $name: &[Part] = &[$(Part::$part),*];
            static $infos: &[FieldInfo<'static>] = &[$(Part::$part.info()),*];
        )*
    };
}

/// The parts of records of which there are many: they are told by code of their own.
macro_rules! span_parts {
    ($with:ident) => {
        $with![SeqId, Iid, Span, Location, Micros]
    };
}
macro_rules! task_parts {
    ($with:ident) => {
        $with![SeqId, Iid, Task, TaskId, Location, Micros]
    };
}
macro_rules! waker_parts {
    ($with:ident) => {
        $with![SeqId, TaskIid, Task, TaskId, Context, ContextTask, Location, Micros]
    };
}
pub(super) use {span_parts, task_parts, waker_parts};

macro_rules! parts_of {
    ($($part:ident),*) => {
        &[$(Part::$part),*]
    };
}
macro_rules! infos_of {
    ($($part:ident),*) => {
        &[$(Part::$part.info()),*]
    };
}

const SPAN: &[Part] = span_parts!(parts_of);
static SPAN_INFOS: &[FieldInfo<'static>] = span_parts!(infos_of);
const TASK: &[Part] = task_parts!(parts_of);
static TASK_INFOS: &[FieldInfo<'static>] = task_parts!(infos_of);
const WAKER: &[Part] = waker_parts!(parts_of);
static WAKER_INFOS: &[FieldInfo<'static>] = waker_parts!(infos_of);

parts! {
    SPAN_NEW, SPAN_NEW_INFOS =
        [SeqId, Iid, Span, Location, Values, Element, End, Dynamic, Element, End, Micros];
    EVENT, EVENT_INFOS = [
        SeqId, Name, CallsiteId, Parent, ParentSpan, Target, Location, Level, Values, Element, End, Dynamic, Element,
        End, Micros
    ];
    END, END_INFOS = [SeqId, Micros];
    CALLSITE, CALLSITE_INFOS = [
        SeqId, CallsiteId, Level, CallsiteKind, Name, Target, ModulePath, File, Line, FieldNames, Element, End,
        ConstFields, Element, End, Micros
    ];
    SPAN_OBJECT, SPAN_OBJECT_INFOS = [
        SeqId, Iid, Span, CallsiteId, Parent, ParentSpan, Target, Location, Level, Values, Element, End, Dynamic, Element,
        End, Micros
    ];
    TASK_OBJECT, TASK_OBJECT_INFOS =
        [SeqId, Iid, TaskName, CallsiteId, TaskId, TaskKind, Context, ContextTask, Target, Location, Level, Micros];
}

impl RecordKind {
    /// The parts of its records, in order.
    #[inline(always)]
    pub(crate) const fn parts(self) -> &'static [Part] {
        match self {
            Self::SpanNew => SPAN_NEW,
            Self::End => END,
            Self::Callsite => CALLSITE,
            Self::Span => SPAN_OBJECT,
            Self::Task => TASK_OBJECT,
            _ => match self.shape() {
                Shape::Event => EVENT,
                Shape::Waker => WAKER,
                _ if self.is_span() => SPAN,
                _ => TASK,
            },
        }
    }

    const fn infos(self) -> &'static [FieldInfo<'static>] {
        match self {
            Self::SpanNew => SPAN_NEW_INFOS,
            Self::End => END_INFOS,
            Self::Callsite => CALLSITE_INFOS,
            Self::Span => SPAN_OBJECT_INFOS,
            Self::Task => TASK_OBJECT_INFOS,
            _ => match self.shape() {
                Shape::Event => EVENT_INFOS,
                Shape::Waker => WAKER_INFOS,
                _ if self.is_span() => SPAN_INFOS,
                _ => TASK_INFOS,
            },
        }
    }

    /// The class of its records: what [`NamedRecord`](super::NamedRecord)s of this kind say, for a schema before the first of them.
    #[inline(always)]
    pub fn class(self) -> FixedClass {
        static CLASSES: [Fixed; RecordKind::ALL.len()] = {
            let mut classes = [Fixed::new("", &[]); RecordKind::ALL.len()];
            let mut at = 0;
            while at < classes.len() {
                #[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
                // Evaluated by the compiler.
                {
                    let kind = RecordKind::ALL[at];
                    classes[at] = Fixed::new(kind.name(), kind.infos());
                    at += 1;
                }
            }
            classes
        };
        static NONE: Fixed = Fixed::new("", &[]);
        let number = self.number();
        let class = usize::try_from(number).ok().and_then(|number| CLASSES.get(number));
        FixedClass::new(number, class.unwrap_or(&NONE))
    }
}
