//! Types and their metadata from one description.

/// Defines a trace: its events as types, and its metadata.
///
/// Events are numbered from 0 in the order in which they stand. Fields are of any type that is a
/// [`Field`](crate::Field): integers, floats, `bool`, [`Text`](crate::Text), and what [`labels!`](crate::labels) defines.
/// Their names are ASCII, as those of TSDL are. The clock's frequency is in hertz. An event may have another name in the
/// trace than its type, without quotes, backslashes and control characters: `event Opened as "door_opened" { … }`.
///
/// ```
/// traceglass_record::events! {
///     /// Doors.
///     trace Doors {
///         clock 1_000;
///         /// A door was opened.
///         event Opened { door: u8 }
///         /// All doors were closed.
///         event Closed as "all_closed" {}
///     }
/// }
/// # use traceglass_record::{Event, Trace};
/// assert_eq!(Closed::ID, 1);
/// assert!(Doors::METADATA_1_8.contains("name = \"Opened\""));
/// assert!(Doors::METADATA.contains(r#""name":"all_closed""#));
/// ```
///
/// Names that the metadata cannot hold do not compile, nor does a clock that stands still:
///
/// ```compile_fail,E0080
/// traceglass_record::events! { trace Doors { clock 1_000; event Opened as "a \"door\"" {} } }
/// # let _ = <Doors as traceglass_record::Trace>::METADATA;
/// ```
///
/// ```compile_fail,E0080
/// traceglass_record::events! { trace Doors { clock 1_000; event Opened { größe: u8 } } }
/// # let _ = <Doors as traceglass_record::Trace>::METADATA;
/// ```
///
/// ```compile_fail,E0080
/// traceglass_record::events! { trace Doors { clock 0; event Opened { door: u8 } } }
/// ```
#[macro_export]
macro_rules! events {
    (
        $(#[$of_trace:meta])*
        $visible:vis trace $trace:ident {
            clock $frequency:literal;
            $(
                $(#[$of_event:meta])*
                event $event:ident $(as $name:literal)? { $($(#[$of_field:meta])* $field:ident: $type:ty),* $(,)? }
            )*
        }
    ) => {
        $(#[$of_trace])*
        #[derive(Clone, Copy, Debug)]
        $visible struct $trace;

        const _: () = {
            use $crate::metadata::{field_name, first, front, front_1_8, joined, joined_len, plain, quotable, text};

            const HERTZ: u64 = $frequency;
            const _: () = assert!(HERTZ > 0, "the frequency of a clock is not 0");
            const FREQUENCY: &$crate::metadata::Digits = &$crate::metadata::Digits::new(HERTZ);

            #[allow(non_camel_case_types, dead_code)]
            #[repr(u32)]
            enum __Numbers { $($event,)* __NoEvent }

            $(
                impl $crate::Event for $event {
                    type Trace = $trace;
                    const ID: u32 = __Numbers::$event as u32;
                    const SIZE: usize = 0_usize $(.saturating_add(<$type as $crate::Field>::SIZE))*;

                    #[inline(always)]
                    #[allow(unused_variables)]
                    fn put(&self, to: &mut $crate::Words<'_>) {
                        $($crate::Field::put(self.$field, to);)*
                    }
                }

                impl $event {
                    const TRACE_ID: &'static $crate::metadata::Digits =
                        &$crate::metadata::Digits::new(__Numbers::$event as u64);
                    const TRACE_FIELDS: &'static [&'static [&'static str]] = &[$(
                        &[
                            "{\"name\":\"",
                            field_name(stringify!($field)),
                            "\",\"field-class\":",
                            <$type as $crate::Field>::CLASS,
                            "}",
                        ]
                    ),*];
                    const TRACE_LEN: usize = joined_len(Self::TRACE_FIELDS, ",");
                    const TRACE_MEMBERS: &'static [u8; Self::TRACE_LEN] = &joined(Self::TRACE_FIELDS, ",");
                    const TRACE_PARTS: &'static [&'static str] = &[
                        "\u{1e}{\"type\":\"event-record-class\",\"id\":",
                        Self::TRACE_ID.as_str(),
                        ",\"name\":\"",
                        quotable(first(&[$($name,)? plain(stringify!($event))])),
                        "\",\"payload-field-class\":{\"type\":\"structure\",\"member-classes\":[",
                        text(Self::TRACE_MEMBERS),
                        "]}}\n",
                    ];
                    const TRACE_PARTS_1_8: &'static [&'static str] = &[
                        "event {\n    name = \"",
                        quotable(first(&[$($name,)? plain(stringify!($event))])),
                        "\";\n    id = ",
                        Self::TRACE_ID.as_str(),
                        ";\n    fields := struct {\n",
                        $(
                            "        ",
                            <$type as $crate::Field>::DECLARATION[0],
                            // Without it, names that are words of the language would not be names.
                            "_",
                            field_name(stringify!($field)),
                            <$type as $crate::Field>::DECLARATION[1],
                            ";\n",
                        )*
                        "    };\n};\n",
                    ];
                }
            )*

            const PARTS: &[&[&str]] = &[&front(FREQUENCY.as_str()), $($event::TRACE_PARTS),*];
            const BYTES: &[u8; joined_len(PARTS, "")] = &joined(PARTS, "");
            const PARTS_1_8: &[&[&str]] = &[&front_1_8(FREQUENCY.as_str()), $($event::TRACE_PARTS_1_8),*];
            const BYTES_1_8: &[u8; joined_len(PARTS_1_8, "")] = &joined(PARTS_1_8, "");

            impl $crate::Trace for $trace {
                const METADATA: &'static str = text(BYTES);
                const METADATA_1_8: &'static str = text(BYTES_1_8);
            }
        };

        $(
            $(#[$of_event])*
            #[derive(Clone, Copy, Debug)]
            $visible struct $event {
                $($(#[$of_field])* #[allow(missing_docs)] pub $field: $type),*
            }
        )*
    };
}

/// Defines an enumeration whose values have labels in the trace: the names of its variants.
///
/// Its type is `u8`, `u16` or `u32`; each variant says its value.
///
/// ```
/// traceglass_record::labels! {
///     /// What the door does.
///     pub enum State: u8 { Open = 1, Closed = 2 }
/// }
/// # use traceglass_record::Field;
/// assert!(State::CLASS.contains(r#""Closed":[[2,2]]"#));
/// ```
#[macro_export]
macro_rules! labels {
    (
        $(#[$of_type:meta])*
        $visible:vis enum $name:ident: $type:ident {
            $($(#[$of_variant:meta])* $variant:ident = $value:literal),+ $(,)?
        }
    ) => {
        $(#[$of_type])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr($type)]
        $visible enum $name {
            $($(#[$of_variant])* #[allow(missing_docs)] $variant = $value),+
        }

        const _: () = {
            use $crate::metadata::{joined, joined_len, plain, text};

            const CLASS_PARTS: &[&[&str]] = &[$({
                const VALUE: &$crate::metadata::Digits = &$crate::metadata::Digits::new($value);
                &["\"", plain(stringify!($variant)), "\":[[", VALUE.as_str(), ",", VALUE.as_str(), "]]"]
            }),+];
            const MAPPINGS: &[u8; joined_len(CLASS_PARTS, ",")] = &joined(CLASS_PARTS, ",");
            // The class of the number, with the mappings before its last brace.
            const ALL: &[&[&str]] = &[&[
                "{\"mappings\":{",
                text(MAPPINGS),
                "},",
                match <$type as $crate::Field>::CLASS.split_at_checked(1) {
                    Some((_, rest)) => rest,
                    None => "",
                },
            ]];
            const BYTES: &[u8; joined_len(ALL, "")] = &joined(ALL, "");
            const ALL_1_8: &[&[&str]] = &[&[
                "enum : ", <$type as $crate::Field>::DECLARATION[0], "{ ",
                $("\"", plain(stringify!($variant)), "\" = ", {
                    const VALUE: &$crate::metadata::Digits = &$crate::metadata::Digits::new($value);
                    VALUE.as_str()
                }, ", ",)+
                "} ",
            ]];
            const BYTES_1_8: &[u8; joined_len(ALL_1_8, "")] = &joined(ALL_1_8, "");

            impl $crate::Field for $name {
                const SIZE: usize = <$type as $crate::Field>::SIZE;
                const CLASS: &'static str = text(BYTES);
                const DECLARATION: [&'static str; 2] = [text(BYTES_1_8), ""];

                #[inline(always)]
                fn put(self, to: &mut $crate::Words<'_>) {
                    $crate::Field::put(self as $type, to);
                }
            }
        };
    };
}
