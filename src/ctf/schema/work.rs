//! The work that compiling takes, which tests and fuzz targets hold to the length of the metadata.

pub(crate) use crate::work::count;
#[cfg(any(test, fuzzing))]
pub use crate::work::of;

#[cfg(test)]
mod tests {
    use super::of;
    use crate::ctf::metadata::{Language, MetadataStream};
    use crate::ctf::schema::tsdl::{self, NameEntry, TypeNode, Workspace};
    use crate::ctf::schema::{Node, Schema};
    use std::format;
    use std::string::String;
    use std::vec;
    use std::vec::Vec;

    /// Steps a byte of the metadata: half as many again as the worst of these inputs takes.
    const STEPS: u64 = 60;

    const TSDL: &str = "/* CTF 1.8 */\ntypealias integer { size = 8; align = 8; signed = false; } := u8;
        typealias integer { size = 64; align = 8; signed = false; } := u64;
        trace { major = 1; minor = 8; byte_order = le; };\nstream { };\n";
    const PREAMBLE: &str = "\x1e{\"type\":\"preamble\",\"version\":2}\n";
    const BYTE: &str = r#"{"type":"fixed-length-unsigned-integer","length":8,"byte-order":"little-endian"}"#;

    /// Compiles metadata into just as many nodes as it needs. The steps it took, and the nodes.
    fn compile(text: &str) -> (u64, usize) {
        let stream = MetadataStream::parse(text.as_bytes()).unwrap();
        let mut storage = (vec![TypeNode::default(); 1 << 17], vec![NameEntry::default(); 1 << 17]);
        let mut nodes = Vec::new();
        let steps = of(|| {
            let (types, names) = (&mut storage.0, &mut storage.1);
            let compiled = if stream.language() == Language::Tsdl {
                let needed = tsdl::needed(stream, Workspace { nodes: types, names }).unwrap();
                nodes = vec![Node::EMPTY; needed.nodes as usize];
                tsdl::compile(stream, &mut nodes, Workspace { nodes: types, names }).map(drop)
            } else {
                nodes = vec![Node::EMPTY; Schema::needed(&stream).unwrap() as usize];
                Schema::compile(&stream, &mut nodes).map(drop)
            };
            compiled.unwrap();
        });
        (steps, nodes.len())
    }

    /// Names that FNV-1a, of which each step is known, gives the same hash of 32 bits.
    ///
    /// There are two blocks that lead from one state to the same other one, then two more, and so on.
    fn colliding(count: usize) -> Vec<String> {
        let step = |state: u32, block: &str| {
            block.bytes().fold(state, |state, byte| (state ^ u32::from(byte)).wrapping_mul(0x0100_0193))
        };
        let mut names = vec![String::new()];
        let mut state = 0x811c_9dc5;
        while names.len() < count {
            let mut seen = std::collections::HashMap::new();
            let (after, a, b) = (0_u32..)
                .find_map(|n| {
                    let block = format!("a{n:x}");
                    let after = step(state, &block);
                    seen.insert(after, block.clone()).map(|other| (after, other, block))
                })
                .unwrap();
            state = after;
            names = names.iter().flat_map(|name| [format!("{name}{a}"), format!("{name}{b}")]).collect();
        }
        names.truncate(count);
        assert!(names.iter().all(|name| step(0x811c_9dc5, name) == state));
        names
    }

    fn list(names: &[String], item: impl Fn(usize, &str) -> String, between: &str) -> String {
        names.iter().enumerate().map(|(n, name)| item(n, name)).collect::<Vec<_>>().join(between)
    }

    fn json_event(payload: &str) -> String {
        let root = format!(r#"{{"type":"structure","member-classes":[{payload}]}}"#);
        let alias = format!("\x1e{{\"type\":\"field-class-alias\",\"name\":\"u\",\"field-class\":{BYTE}}}\n");
        let event = format!("{{\"type\":\"event-record-class\",\"payload-field-class\":{root}}}\n");
        format!("{PREAMBLE}{alias}\x1e{{\"type\":\"data-stream-class\"}}\n\x1e{event}")
    }

    /// An input, made of names.
    type Input = fn(&[String]) -> String;

    const INPUTS: [(&str, Input); 14] = [
        ("typedefs", |names| format!("{TSDL}{}", list(names, |_, name| format!("typedef u8 {name};"), "\n"))),
        ("members", |names| {
            let members = list(names, |_, name| format!("u8 {name};"), "");
            format!("{TSDL}event {{ name = e; fields := struct {{ {members} }}; }};")
        }),
        ("environment", |names| {
            format!("{TSDL}env {{ {} }};", list(names, |n, name| format!("{name} = {n};"), ""))
        }),
        ("environment of one name", |names| {
            format!("{TSDL}env {{ {} }};", list(names, |n, _| format!("same = {n};"), ""))
        }),
        ("one length", |names| {
            let members = list(names, |_, name| format!("u8 {name}[zz];"), "");
            format!("{TSDL}event {{ name = e; fields := struct {{ u8 zz; {members} }}; }};")
        }),
        ("options", |names| {
            let labels = list(names, |_, name| name.into(), ",");
            let options = list(names, |_, name| format!("u8 {name};"), "");
            let payload = format!("enum : u64 {{ {labels} }} tag; variant <tag> {{ {options} }} v;");
            format!("{TSDL}event {{ name = e; fields := struct {{ {payload} }}; }};")
        }),
        ("variants of one tag", |names| {
            let labels = list(names, |_, name| name.into(), ",");
            let first = names.first().cloned().unwrap_or_default();
            let variants = list(names, |n, _| format!("variant <tag> {{ u8 {first}; }} v{n};"), "");
            let payload = format!("enum : u64 {{ {labels} }} tag; {variants}");
            format!("{TSDL}event {{ name = e; fields := struct {{ {payload} }}; }};")
        }),
        ("lengths in a variant", |names| {
            let labels = list(names, |_, name| name.into(), ",");
            let options = list(names, |_, name| format!("struct {{ u8 l; }} {name};"), "");
            let sequences = list(names, |n, _| format!("u8 s{n}[v.l];"), "");
            let payload =
                format!("enum : u64 {{ {labels} }} tag; variant <tag> {{ {options} }} v; {sequences}");
            format!("{TSDL}event {{ name = e; fields := struct {{ {payload} }}; }};")
        }),
        ("lengths far around", |names| {
            let sequences = list(names, |n, _| format!("u8 s{n}[zz];"), "");
            let (open, close) = ("struct { u8 a; ".repeat(20), "} s;".repeat(20));
            format!("{TSDL}event {{ name = e; fields := struct {{ u8 zz; {open} {sequences} {close} }}; }};")
        }),
        ("lengths around a variant without them", |names| {
            let labels = list(names, |_, name| name.into(), ",");
            let options = list(names, |_, name| format!("struct {{ u8 k; }} {name};"), "");
            let inner = format!("enum : u64 {{ {labels} }} tag; variant <tag> {{ {options} }} v;");
            let sequences = list(names, |n, _| format!("u8 s{n}[w.l];"), "");
            let payload = format!("struct {{ u8 l; }} w; struct {{ {inner} {sequences} }} s;");
            format!("{TSDL}event {{ name = e; fields := struct {{ {payload} }}; }};")
        }),
        ("JSON members", |names| {
            json_event(&list(names, |_, name| format!(r#"{{"name":"{name}","field-class":"u"}}"#), ","))
        }),
        ("JSON aliases", |names| {
            let alias = |_, name: &str| {
                format!("\x1e{{\"type\":\"field-class-alias\",\"name\":\"{name}\",\"field-class\":{BYTE}}}\n")
            };
            format!("{PREAMBLE}{}", list(names, alias, ""))
        }),
        ("JSON options", |names| {
            let option = |n, name: &str| {
                format!(r#"{{"name":"{name}","field-class":"u","selector-field-ranges":[[{n},{n}]]}}"#)
            };
            let place = r#"{"origin":"event-record-payload","path":["t"]}"#;
            let options = list(names, option, ",");
            let variant =
                format!(r#"{{"type":"variant","selector-field-location":{place},"options":[{options}]}}"#);
            json_event(&format!(r#"{{"name":"t","field-class":"u"}},{{"name":"v","field-class":{variant}}}"#))
        }),
        ("JSON lengths in a variant", |names| {
            let place = |path: &str| format!(r#"{{"origin":"event-record-payload","path":[{path}]}}"#);
            let option = |n, _: &str| {
                let inner = r#"{"type":"structure","member-classes":[{"name":"l","field-class":"u"}]}"#;
                format!(r#"{{"field-class":{inner},"selector-field-ranges":[[{n},{n}]]}}"#)
            };
            let options = list(names, option, ",");
            let at = place(r#""t""#);
            let variant =
                format!(r#"{{"type":"variant","selector-field-location":{at},"options":[{options}]}}"#);
            let text = |_, name: &str| {
                let at = place(r#""v","l""#);
                let class = format!(r#"{{"type":"dynamic-length-string","length-field-location":{at}}}"#);
                format!(r#"{{"name":"{name}","field-class":{class}}}"#)
            };
            let texts = list(names, text, ",");
            json_event(&format!(
                r#"{{"name":"t","field-class":"u"}},{{"name":"v","field-class":{variant}}},{texts}"#
            ))
        }),
    ];

    /// Neither many names nor those that a hash would not tell apart take more than their share.
    #[test]
    fn no_metadata_is_slow() {
        let collide = colliding(4_096);
        let plain: Vec<String> = (0..4_096).map(|n| format!("m{n}")).collect();
        let long: Vec<String> = (0..512).map(|n| format!("{}{n}", "x".repeat(512))).collect();
        for (what, input) in INPUTS {
            for names in [&plain, &collide, &long] {
                let text = input(names);
                let (steps, nodes) = compile(&text);
                let most = STEPS * text.len() as u64;
                assert!(steps <= most, "{what}: {steps} steps for {} bytes", text.len());
                assert!(nodes <= text.len(), "{what}: {nodes} nodes for {} bytes", text.len());
            }
        }
    }
}
