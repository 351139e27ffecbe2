//! A listener that holds what it is told against the class it is told of. Every record of every format must pass it.

use std::collections::HashMap;
use std::fmt::Write;
use traceglass::record::{
    Class, ClassId, FieldInfo, Head, Hint, Kind, Listener, Record, Scope, Slot, Step, Text, Wants, Wide,
};

/// A field of a class, and what is in it.
#[derive(Clone, Debug)]
struct Node {
    slot: Slot,
    name: Option<String>,
    kind: Kind,
    hint: Hint,
    labels: Vec<(String, i128, i128)>,
    children: Vec<Node>,
}

/// A line of text of all that is told; every rule of [`Listener`] is asserted on the way.
#[derive(Default)]
pub struct Checked {
    /// The records so far, a line each.
    pub lines: Vec<String>,
    pub abandoned: usize,
    line: String,
    classes: HashMap<ClassId, (String, Scopes)>,
    current: Option<ClassId>,
    scopes: usize,
    /// The members that may come at each level, those of the innermost last; what it is, and where the last one was.
    levels: Vec<(Vec<Node>, Kind, usize)>,
    key: bool,
}

/// The fields of each scope of a class.
type Scopes = Vec<(Scope, Vec<Node>)>;

/// The steps of a class as a tree.
fn tree(class: &dyn Class) -> Vec<(Scope, Vec<Node>)> {
    let mut scopes: Vec<(Scope, Vec<Node>)> = Vec::new();
    let mut open: Vec<Node> = Vec::new();
    let mut in_scope = false;
    class.fields(&mut |step| match step {
        Step::Scope(scope) => {
            assert!(!in_scope, "a scope in a scope");
            in_scope = true;
            scopes.push((scope, Vec::new()));
        }
        Step::Field(FieldInfo { slot, name, kind, hint, labels, .. }) => {
            let mut all = Vec::new();
            if let Some(each) = labels {
                each(&mut |name, first, last| all.push((name.to_string(), first, last)));
            }
            let name = name.map(|name| name.to_string());
            let node = Node { slot, name, kind, hint, labels: all, children: Vec::new() };
            match kind {
                Kind::Group | Kind::List | Kind::Map => open.push(node),
                _ => match open.last_mut() {
                    Some(above) => above.children.push(node),
                    None => scopes.last_mut().expect("a field in a scope").1.push(node),
                },
            }
        }
        _ => match open.pop() {
            Some(node) => match open.last_mut() {
                Some(above) => above.children.push(node),
                None => scopes.last_mut().unwrap().1.push(node),
            },
            None => {
                assert!(in_scope, "an end of nothing");
                in_scope = false;
            }
        },
    });
    assert!(!in_scope && open.is_empty(), "all that begins ends");
    scopes
}

impl Checked {
    /// Asserts that a value may be told now; returns its field.
    fn member(&mut self, slot: Slot, is_fit: impl Fn(Kind) -> bool, what: &str) -> Node {
        let (members, around, last) = self.levels.last_mut().expect("a value in a scope");
        let is_map = *around == Kind::Map;
        assert!(!is_map || std::mem::take(&mut self.key), "a value of a map without a key");
        let found = members.iter().position(|member| member.slot == slot);
        let at = found.unwrap_or_else(|| panic!("{what}: {slot:?} is not one of {members:?}"));
        let node = members[at].clone();
        // An element of a list or map may come again.
        if *around == Kind::Group {
            assert!(at >= *last, "{what}: {:?} comes after a later member", node.name);
            *last = at;
        }
        assert!(node.kind == Kind::Any || is_fit(node.kind), "{what}: told of {:?}", node.kind);
        if let (Some(name), false) = (&node.name, is_map) {
            let _ = write!(self.line, " {name}=");
        } else {
            self.line.push(' ');
        }
        node
    }

    fn labels(&mut self, node: &Node, value: i128) {
        let is_flags = matches!(node.kind, Kind::Flags { .. });
        for (name, first, last) in &node.labels {
            let holds = match is_flags {
                true => (*first..=(*last).min(127)).any(|bit| value >> bit & 1 == 1),
                false => (*first..=*last).contains(&value),
            };
            if holds {
                let _ = write!(self.line, "({name})");
            }
        }
    }

    fn begin_level(&mut self, node: Node, kind: Kind) {
        // The members of a value of any type are of any type, too.
        let children = if node.kind == Kind::Any { vec![node] } else { node.children };
        self.levels.push((children, kind, 0));
    }

    fn end_level(&mut self, end: char) {
        let (_, kind, _) = self.levels.pop().expect("an end of something");
        assert_eq!(kind == Kind::List, end == ']');
        assert!(!self.key, "a key without a value");
        self.line.push(end);
    }
}

impl Listener for Checked {
    fn begin(&mut self, head: &Head, class: &dyn Class) -> Wants {
        assert_eq!(self.current, None, "a record in a record");
        assert_eq!(head.class, class.id());
        let (name, scopes) =
            self.classes.entry(head.class).or_insert_with(|| (class.name().to_string(), tree(class)));
        assert_eq!(*name, class.name().to_string(), "two classes of one number");
        let mut facts = Vec::new();
        class.facts(&mut |name, _| facts.push(name));
        assert_eq!(facts.first(), Some(&"kind"));
        assert!(scopes.windows(2).all(|two| two[0].0 != two[1].0), "a scope twice");
        self.line = name.clone();
        if let Some(time) = head.time {
            let _ = write!(self.line, " @{}", time.ns());
        }
        self.current = Some(head.class);
        self.scopes = 0;
        Wants::ALL
    }

    fn end(&mut self) {
        assert!(self.current.take().is_some() && self.levels.is_empty());
        self.lines.push(std::mem::take(&mut self.line));
    }

    fn abandon(&mut self) {
        assert!(self.current.take().is_some(), "nothing is taken back that has not begun");
        self.levels.clear();
        self.key = false;
        self.abandoned += 1;
    }

    fn scope(&mut self, scope: Scope) {
        assert!(self.levels.is_empty(), "a scope in something");
        let all = &self.classes[&self.current.expect("a record")].1;
        let at = all.iter().position(|(known, _)| *known == scope).expect("a scope of the class");
        assert!(at >= self.scopes, "scopes come in order, each once");
        self.scopes = at + 1;
        self.levels.push((all[at].1.clone(), Kind::Group, 0));
        self.line.push_str(scope.name().map_or(" ", |_| " {"));
    }

    fn end_scope(&mut self) {
        self.end_level('}');
        assert!(self.levels.is_empty(), "something in the scope has not ended");
    }

    fn group(&mut self, slot: Slot) {
        let node = self.member(slot, |kind| matches!(kind, Kind::Group | Kind::Map), "a group");
        let kind = if node.kind == Kind::Group { Kind::Group } else { Kind::Map };
        self.line.push('{');
        self.begin_level(node, kind);
    }

    fn end_group(&mut self) {
        assert!(self.levels.len() > 1, "a group in a scope");
        self.end_level('}');
    }

    fn list(&mut self, slot: Slot, _: Option<u64>) {
        let node = self.member(slot, |kind| kind == Kind::List, "a list");
        self.line.push('[');
        self.begin_level(node, Kind::List);
    }

    fn end_list(&mut self) {
        self.end_level(']');
    }

    fn key(&mut self, name: Text<'_>) {
        let (_, kind, _) = self.levels.last().expect("a key in a map");
        assert_eq!(*kind, Kind::Map, "a key in a map");
        assert!(!std::mem::replace(&mut self.key, true), "a key after a key");
        let _ = write!(self.line, " {name}:");
    }

    fn unsigned(&mut self, slot: Slot, value: u64) {
        let is_fit = |kind| matches!(kind, Kind::Unsigned { bits } | Kind::Flags { bits } if bits >= 64 || value >> bits == 0);
        let node = self.member(slot, is_fit, "an unsigned integer");
        match node.hint {
            Hint::Address => self.line.push_str(&format!("{value:#x}")),
            _ => self.line.push_str(&value.to_string()),
        }
        self.labels(&node, value.into());
    }

    fn signed(&mut self, slot: Slot, value: i64) {
        let node = self.member(slot, |kind| matches!(kind, Kind::Signed { .. }), "a signed integer");
        let _ = write!(self.line, "{value}");
        self.labels(&node, value.into());
    }

    fn wide(&mut self, slot: Slot, value: Wide<'_>) {
        // A float of more than 64 bits is told by its bits.
        let is_fit = |kind| match kind {
            Kind::Unsigned { .. } | Kind::Flags { .. } | Kind::Float { .. } => !value.is_signed,
            Kind::Signed { .. } => value.is_signed,
            _ => false,
        };
        let node = self.member(slot, is_fit, "a wide integer");
        let _ = write!(self.line, "{value}");
        if let Some(value) = value.to_i128() {
            self.labels(&node, value);
        }
    }

    fn boolean(&mut self, slot: Slot, value: bool) {
        self.member(slot, |kind| kind == Kind::Boolean, "a truth value");
        let _ = write!(self.line, "{value}");
    }

    fn float(&mut self, slot: Slot, value: f64) {
        self.member(slot, |kind| matches!(kind, Kind::Float { .. }), "a float");
        let _ = write!(self.line, "{value:?}");
    }

    fn text(&mut self, slot: Slot, value: Text<'_>) {
        self.member(slot, |kind| kind == Kind::Text, "text");
        let _ = write!(self.line, "{value:?}");
    }

    fn bytes(&mut self, slot: Slot, value: &[u8]) {
        self.member(slot, |kind| kind == Kind::Bytes, "bytes");
        for byte in value {
            let _ = write!(self.line, "{byte:02x}");
        }
    }

    fn absent(&mut self, slot: Slot) {
        self.member(slot, |_| true, "nothing");
        self.line.push('-');
    }
}

/// The line that a record tells; `None` if it tells nothing. One that cannot be read has been taken back.
pub fn told(record: &impl Record) -> traceglass::Result<Option<String>> {
    let mut checked = Checked::default();
    checked.tell(record)
}

impl Checked {
    /// The same, with what is known of classes from earlier records of the same source.
    pub fn tell(&mut self, record: &impl Record) -> traceglass::Result<Option<String>> {
        let (before, abandoned) = (self.lines.len(), self.abandoned);
        let told = record.tell(self);
        assert_eq!(self.current, None, "what begins ends");
        let (said, taken) = (self.lines.len() - before, self.abandoned - abandoned);
        match &told {
            Ok(()) => assert!(said <= 1 && taken == 0),
            Err(_) => {
                assert!(said == 0 && taken <= 1, "a record that cannot be read was told as a whole one")
            }
        }
        told.map(|()| if said == 1 { self.lines.pop() } else { None })
    }
}
