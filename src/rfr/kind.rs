//! The kinds of records: one table for chunks and streams.

use super::event::{Event, Waker};
use super::value::ParentAndFields;

/// The shape of a record's data.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// An instrumentation id.
    Iid,
    /// An [`Event`].
    Event,
    /// A [`Waker`].
    Waker,
    /// A record of streaming files only.
    Stream,
}

/// Each kind with its number in chunks and in streaming files, in the order of the document.
macro_rules! record_kinds {
    (
        spans { $($(#[$span_doc:meta])* $span:ident = $span_chunk:literal, $span_stream:literal;)* }
        event { $(#[$event_doc:meta])* $event:ident = $event_chunk:literal, $event_stream:literal; }
        tasks { $($(#[$task_doc:meta])* $task:ident = $task_chunk:literal, $task_stream:literal;)* }
        wakers { $($(#[$waker_doc:meta])* $waker:ident = $waker_chunk:literal, $waker_stream:literal;)* }
        stream { $($(#[$stream_doc:meta])* $stream:ident = $stream_stream:literal;)* }
    ) => {
        /// The subject of a record, without the data.
        ///
        /// The four at the end occur in streaming files only.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        #[non_exhaustive]
        pub enum RecordKind {
            $($(#[$span_doc])* $span,)*
            $(#[$event_doc])* $event,
            $($(#[$task_doc])* $task,)*
            $($(#[$waker_doc])* $waker,)*
            $($(#[$stream_doc])* $stream,)*
        }

        impl RecordKind {
            /// All kinds, in the order of their definition.
            pub const ALL: &'static [Self] = &[
                $(Self::$span,)*
                Self::$event,
                $(Self::$task,)*
                $(Self::$waker,)*
                $(Self::$stream,)*
            ];

            /// The number of an event in a chunk.
            pub(super) const EVENT_IN_CHUNK: u8 = $event_chunk;

            /// The lowest number of a kind about wakers in a chunk; no other kind has a higher one.
            pub(super) const WAKERS_IN_CHUNK: u8 = {
                let [first, ..] = [$($waker_chunk),*];
                first
            };

            /// The kind with this number in a chunk.
            #[inline(always)]
            pub(super) const fn from_chunk(number: u8) -> Option<Self> {
                Some(match number {
                    $($span_chunk => Self::$span,)*
                    $event_chunk => Self::$event,
                    $($task_chunk => Self::$task,)*
                    $($waker_chunk => Self::$waker,)*
                    _ => return None,
                })
            }

            /// The kind with this number in a streaming file.
            pub(super) const fn from_stream(number: u32) -> Option<Self> {
                Some(match number {
                    $($span_stream => Self::$span,)*
                    $event_stream => Self::$event,
                    $($task_stream => Self::$task,)*
                    $($waker_stream => Self::$waker,)*
                    $($stream_stream => Self::$stream,)*
                    _ => return None,
                })
            }

            /// The shape of the data after the kind.
            #[inline(always)]
            pub(super) const fn shape(self) -> Shape {
                match self {
                    $(Self::$span)|* | $(Self::$task)|* => Shape::Iid,
                    Self::$event => Shape::Event,
                    $(Self::$waker)|* => Shape::Waker,
                    $(Self::$stream)|* => Shape::Stream,
                }
            }

            /// The place in [`ALL`](Self::ALL).
            #[allow(clippy::as_conversions)] // Of an enum without data.
            #[inline(always)]
            pub(super) const fn number(self) -> u32 {
                self as u32
            }

            /// The name, spelled as in the document.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$span => stringify!($span),)*
                    Self::$event => stringify!($event),
                    $(Self::$task => stringify!($task),)*
                    $(Self::$waker => stringify!($waker),)*
                    $(Self::$stream => stringify!($stream),)*
                }
            }
        }

        /// The event of a record.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum RecordData<'a> {
            $($(#[$span_doc])* $span {
                /// Instrumentation id of the span.
                iid: u64,
            },)*
            $(#[$event_doc])* $event(Event<'a>),
            $($(#[$task_doc])* $task {
                /// Instrumentation id of the task.
                iid: u64,
            },)*
            $($(#[$waker_doc])* $waker(Waker),)*
        }

        impl<'a> RecordData<'a> {
            /// The data of a record of this kind.
            #[inline]
            pub(super) const fn new(
                kind: RecordKind,
                id: u64,
                context: Option<u64>,
                details: ParentAndFields<'a>,
            ) -> Self {
                let waker = Waker { task_iid: id, context };
                match kind {
                    $(RecordKind::$span => Self::$span { iid: id },)*
                    $(RecordKind::$task => Self::$task { iid: id },)*
                    $(RecordKind::$waker => Self::$waker(waker),)*
                    // The kinds of streams have no data of this type.
                    RecordKind::$event $(| RecordKind::$stream)* => {
                        Self::$event(Event { callsite_id: id, details })
                    }
                }
            }

            /// The kind of the event, without the data.
            #[inline]
            pub const fn kind(&self) -> RecordKind {
                match self {
                    $(Self::$span { .. } => RecordKind::$span,)*
                    Self::$event(_) => RecordKind::$event,
                    $(Self::$task { .. } => RecordKind::$task,)*
                    $(Self::$waker(_) => RecordKind::$waker,)*
                }
            }

            /// The data of a waker, if it is about one.
            #[inline]
            pub const fn waker(&self) -> Option<Waker> {
                match *self {
                    $(Self::$waker(waker))|* => Some(waker),
                    _ => None,
                }
            }

            /// The event, if it is one.
            #[inline]
            pub const fn event(&self) -> Option<Event<'a>> {
                match *self {
                    Self::$event(event) => Some(event),
                    _ => None,
                }
            }

            /// The instrumentation id of the span or task that it is about; `None` for events.
            #[inline]
            pub const fn iid(&self) -> Option<u64> {
                match *self {
                    $(Self::$span { iid })|* | $(Self::$task { iid })|* => Some(iid),
                    $(Self::$waker(waker))|* => Some(waker.task_iid),
                    Self::$event(_) => None,
                }
            }
        }
    };
}

record_kinds! {
    spans {
        /// A span was opened.
        SpanNew = 0, 5;
        /// A span was entered.
        SpanEnter = 1, 6;
        /// A span was left.
        SpanExit = 2, 7;
        /// A span was closed.
        SpanClose = 3, 8;
    }
    event {
        /// Something was logged.
        Event = 4, 3;
    }
    tasks {
        /// A task was spawned.
        NewTask = 5, 9;
        /// Polling a task began.
        TaskPollStart = 6, 10;
        /// Polling a task ended.
        TaskPollEnd = 7, 11;
        /// A task was dropped.
        TaskDrop = 8, 12;
    }
    wakers {
        /// A waker was consumed to wake its task.
        WakerWake = 9, 13;
        /// A waker woke its task.
        WakerWakeByRef = 10, 14;
        /// A waker was cloned.
        WakerClone = 11, 15;
        /// A waker was dropped.
        WakerDrop = 12, 16;
    }
    stream {
        /// The end of the recording.
        End = 0;
        /// A callsite, before it is referred to.
        Callsite = 1;
        /// A span, before it is referred to.
        Span = 2;
        /// A task, before it is referred to.
        Task = 4;
    }
}

impl RecordKind {
    /// True if it is about a span.
    #[inline(always)]
    pub const fn is_span(self) -> bool {
        matches!(self, Self::SpanNew | Self::SpanEnter | Self::SpanExit | Self::SpanClose)
    }

    /// True if a task or span may begin or end with it.
    #[inline(always)]
    pub(super) const fn begins_or_ends(self) -> bool {
        !self.is_waker() && !matches!(self, Self::TaskPollEnd | Self::SpanExit | Self::Event)
    }

    /// True if it is the end of a task or a span.
    #[inline(always)]
    pub const fn is_end_of_life(self) -> bool {
        matches!(self, Self::TaskDrop | Self::SpanClose)
    }

    /// True if it is about a waker.
    #[inline(always)]
    pub const fn is_waker(self) -> bool {
        matches!(self.shape(), Shape::Waker)
    }
}

impl core::fmt::Display for RecordKind {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.pad(self.name())
    }
}
