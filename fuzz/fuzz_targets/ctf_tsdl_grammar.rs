//! TSDL by its grammar: the bytes choose among its rules, so that most texts are right or nearly so.
#![no_main]

use libfuzzer_sys::fuzz_target;

/// Chooses by the bytes of the input; at its end always the first.
struct Choices<'d>(&'d [u8]);

impl Choices<'_> {
    fn byte(&mut self) -> usize {
        let Some((byte, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::from(*byte)
    }

    fn of<T: Copy>(&mut self, options: &[T]) -> T {
        options[self.byte() % options.len()]
    }
}

const NAMES: [&str; 12] = ["a", "b", "_c", "len", "tag", "id", "timestamp", "v", "magic", "uuid", "A", "_B"];
const TYPES: [&str; 6] = ["u8", "u16", "i32", "unsigned long", "text", "int"];

fn integer(c: &mut Choices<'_>, out: &mut String) {
    let size = c.of(&["8", "1", "5", "16", "27", "32", "64", "0", "65"]);
    *out += &format!("integer {{ size = {size}; ");
    for _ in 0..c.byte() % 4 {
        *out += c.of(&[
            "align = 8; ",
            "signed = true; ",
            "byte_order = be; ",
            "base = x; ",
            "encoding = UTF8; ",
            "map = clock.k.value; ",
            "align = 1; ",
            "align = 64; ",
            "other = \"x\"; ",
            "align = 3; ",
        ]);
    }
    *out += "}";
}

/// A type without its declarator.
fn class(c: &mut Choices<'_>, depth: usize, out: &mut String) {
    match c.byte() % if depth > 5 { 4 } else { 8 } {
        0 | 1 => *out += c.of(&TYPES),
        2 => integer(c, out),
        3 => {
            *out += c.of(&[
                "string",
                "floating_point { exp_dig = 8; mant_dig = 24; }",
                "string { encoding = ASCII; }",
            ])
        }
        4 => {
            *out += c.of(&["enum : u8 { ", "enum { ", "enum E : i32 { ", "enum : integer { size = 5; } { "]);
            for _ in 0..c.byte() % 4 + 1 {
                *out += c.of(&NAMES);
                *out += c.of(&["", " = 1", " = 2 ... 5", " = -3", " = 0 ... 255"]);
                *out += ", ";
            }
            *out += "}";
        }
        5 => {
            *out += c.of(&["struct { ", "struct S { ", "struct S T { "]);
            body(c, depth + 1, out);
            *out += c.of(&["}", "} align(16)", "} align(0)"]);
        }
        6 => {
            *out += c.of(&["variant ", "variant V "]);
            let tag = path(c);
            *out += &format!("<{tag}> {{ ");
            body(c, depth + 1, out);
            *out += "}";
        }
        _ => *out += c.of(&["struct S", "enum E", "variant V <tag>"]),
    }
}

fn path(c: &mut Choices<'_>) -> String {
    let scope = c.of(&[
        "",
        "",
        "event.fields.",
        "event.context.",
        "stream.event.header.",
        "trace.packet.header.",
        "env.",
    ]);
    let mut path = format!("{scope}{}", c.of(&NAMES));
    for _ in 0..c.byte() % 3 / 2 {
        path += ".";
        path += c.of(&NAMES);
    }
    path
}

fn body(c: &mut Choices<'_>, depth: usize, out: &mut String) {
    for _ in 0..c.byte() % 5 {
        match c.byte() % 12 {
            0 => *out += "typealias integer { size = 16; } := u16x; ",
            1 => *out += "typedef u8 row[2]; ",
            _ => {
                class(c, depth, out);
                *out += " ";
                *out += c.of(&NAMES);
                match c.byte() % 6 {
                    0 => *out += "[3]",
                    1 => *out += &format!("[{}]", path(c)),
                    2 => *out += "[2][0]",
                    _ => {}
                }
                *out += "; ";
            }
        }
    }
}

fn structure(c: &mut Choices<'_>, name: &str, out: &mut String) {
    *out += &format!("{name} := struct {{ ");
    body(c, 0, out);
    *out += "}; ";
}

fuzz_target!(|data: &[u8]| {
    let mut c = Choices(data);
    let size = c.byte() + 1;
    let mut out = String::from(
        "/* CTF 1.8 */ typealias integer { size = 8; } := u8; typealias integer { size = 16; byte_order = be; } := u16;
         typealias integer { size = 32; signed = 1; } := i32; typealias integer { size = 64; } := unsigned long;
         typealias integer { size = 8; encoding = ASCII; } := text; typealias integer { size = 7; } := int;
         clock { name = k; freq = 10; };\n",
    );
    out += c.of(&["", "env { a = 2; len = 0; b = \"x\"; };", "clock { name = l; };"]);
    out += "trace { major = 1; minor = 8; byte_order = le; ";
    if c.byte() % 3 == 1 {
        structure(&mut c, "packet.header", &mut out);
    }
    out += "};\n";
    if c.byte() % 3 > 0 {
        out += "stream { ";
        for name in ["packet.context", "event.header", "event.context"] {
            if c.byte() % 2 == 1 {
                structure(&mut c, name, &mut out);
            }
        }
        out += "};\n";
    }
    for id in 0..c.byte() % 4 {
        out += &format!("event {{ name = e{id}; ");
        out += c.of(&["", "id = 0; ", "id = 1; ", "id = 2; ", "stream_id = 0; "]);
        for name in ["context", "fields"] {
            if c.byte() % 3 > 0 {
                structure(&mut c, name, &mut out);
            }
        }
        out += "};\n";
    }
    traceglass_fuzz::tsdl::check(out.as_bytes(), size, c.0);
});
