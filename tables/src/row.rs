//! A record of any format as a row: a listener.

use crate::json::{member_value, quote};
use crate::rows::Rows;
use std::fmt::{Display, Write};
use std::sync::Arc;
use traceglass::record::{
    Class, FieldInfo, Head, Kind, Labels, Listener, Scope, Slot, Step, Text, Wants, Wide,
};
use traceglass_open::record::{Json, LabelTexts};

/// A member that has a column.
pub(crate) struct Member {
    pub(crate) scope: Scope,
    pub(crate) name: String,
    pub(crate) column: usize,
    /// True if it is written as JSON.
    pub(crate) is_json: bool,
    /// The column of its labels: its own if they stand for it.
    pub(crate) labels: Option<usize>,
}

/// Calls `each` with the fields of a class that lie in no other one, and the scopes that they are of.
pub(crate) fn each_member(class: &dyn Class, each: &mut dyn FnMut(Scope, &FieldInfo<'_>)) {
    let (mut scope, mut depth) = (Scope::Header, 0_usize);
    class.fields(&mut |step| match step {
        Step::Scope(begun) => (scope, depth) = (begun, 0),
        Step::Field(info) => {
            if depth == 0 {
                each(scope, &info);
            }
            if matches!(info.kind, Kind::Group | Kind::List | Kind::Map) {
                depth = depth.saturating_add(1);
            }
        }
        _ => depth = depth.saturating_sub(1),
    });
}

/// A field of a class, and where it is written.
struct Target {
    slot: Slot,
    column: usize,
    is_json: bool,
    labels: Option<(usize, LabelTexts)>,
}

/// The fields of a class that are written.
struct Known {
    targets: Vec<Target>,
    /// True if one of them is written as JSON.
    has_json: bool,
}

/// The classes of a stream by their numbers, as far as they are known.
#[derive(Default)]
pub(crate) struct Targets {
    classes: Vec<Option<Known>>,
    json: Option<Json>,
    text: String,
}

/// The columns of a row that are still to be filled.
pub(crate) struct Row<'r> {
    rows: &'r mut Rows,
    members: &'r [Member],
    known: &'r mut Targets,
    /// True if an empty list or group is a value.
    has_empty: bool,
    /// The place of the record: its offset, and its length.
    place: (u64, Option<u64>),
    /// The number of its class.
    class: usize,
    /// The field that mostly comes next.
    next: usize,
    /// The number of groups and lists that are open.
    depth: usize,
    /// The column of the field that is being written as JSON, and where its text begins.
    open: Option<(usize, usize)>,
}

impl<'r> Row<'r> {
    pub(crate) const fn new(rows: &'r mut Rows, members: &'r [Member], known: &'r mut Targets) -> Self {
        let place = (0, None);
        Self { rows, members, known, has_empty: true, place, class: 0, next: 0, depth: 0, open: None }
    }

    /// Takes an empty list or group for no value.
    pub(crate) const fn without_empty(self) -> Self {
        Self { has_empty: false, ..self }
    }

    /// The offset of the record that was told, and its length.
    pub(crate) const fn place(&self) -> (u64, Option<u64>) {
        self.place
    }

    /// Learns where the fields of a class are written. Contexts and payload have columns; the header has none.
    #[cold]
    fn learn(&mut self, class: &dyn Class) {
        let mut targets = Vec::new();
        each_member(class, &mut |scope, info| targets.extend(self.target(scope, info)));
        let has_json = targets.iter().any(|target: &Target| target.is_json);
        let classes = &mut self.known.classes;
        if classes.len() <= self.class {
            classes.resize_with(self.class.saturating_add(1), || None);
        }
        if let Some(class) = classes.get_mut(self.class) {
            *class = Some(Known { targets, has_json });
        }
    }

    /// The place of a field. The options of a variant share a column.
    fn target(&self, scope: Scope, info: &FieldInfo<'_>) -> Option<Target> {
        let name = info.name?.to_string();
        let member = self.members.iter().find(|member| member.scope == scope && member.name == name)?;
        let are_flags = matches!(info.kind, Kind::Flags { .. });
        let texts = |each| {
            let join = |_: &str, labels: &[&str]| labels.join("|").into_bytes();
            LabelTexts::new(Arc::new(Labels::new(each, are_flags)), "", join)
        };
        let labels = member.labels.zip(info.labels).map(|(column, each)| (column, texts(each)));
        Some(Target { slot: info.slot, column: member.column, is_json: member.is_json, labels })
    }

    /// The place among the targets of a field that is not in another one.
    #[inline]
    fn find(&mut self, slot: Slot) -> Option<usize> {
        if self.depth > 0 {
            return None;
        }
        let targets = &self.known.classes.get(self.class)?.as_ref()?.targets;
        let is_it = |target: &&Target| target.slot == slot;
        let at = match targets.get(self.next).filter(is_it) {
            Some(_) => self.next,
            None => targets.iter().position(|target| target.slot == slot)?,
        };
        self.next = at.saturating_add(1);
        Some(at)
    }

    /// Writes a value: into its column, as JSON if that holds JSON, or as a part of what is open.
    #[inline]
    fn value(
        &mut self,
        slot: Slot,
        number: Option<i128>,
        put: impl FnOnce(&mut Rows, usize),
        json: impl FnOnce(&mut String),
        tell: impl FnOnce(&mut Json),
    ) {
        if self.open.is_some() {
            if let Some(inner) = &mut self.known.json {
                tell(inner);
            }
            return;
        }
        let Some(at) = self.find(slot) else { return };
        let Targets { classes, text, .. } = &mut *self.known;
        let class = classes.get(self.class).and_then(Option::as_ref);
        let Some(target) = class.and_then(|class| class.targets.get(at)) else { return };
        // The first of two members of one name has the column.
        if !self.rows.has(target.column) {
            if target.is_json {
                text.clear();
                json(text);
                let text = Some(text.as_str()).filter(|text| !text.is_empty());
                self.rows.text(target.column, text);
            } else {
                put(self.rows, target.column);
            }
        }
        if let (Some((column, labels)), Some(number)) = (&target.labels, number)
            && !self.rows.has(*column)
        {
            let labels = labels.get(number);
            // Labels are text.
            let labels = std::str::from_utf8(&labels).unwrap_or_default();
            if !labels.is_empty() {
                self.rows.text(*column, Some(labels));
            } else if *column == target.column {
                text.clear();
                push(text, number);
                self.rows.text(*column, Some(text));
            }
        }
    }

    /// A group or list begins: it is written as JSON, if it has a column.
    fn begin_nested(&mut self, slot: Slot, tell: impl FnOnce(&mut Json)) {
        if self.open.is_none() {
            let target = self.find(slot);
            let class = self.known.classes.get(self.class).and_then(Option::as_ref);
            let target = class.zip(target).and_then(|(class, at)| class.targets.get(at));
            let column = target.filter(|target| target.is_json).map(|target| target.column);
            let column = column.filter(|column| !self.rows.has(*column));
            self.open = column.zip(self.known.json.as_ref().map(|json| json.buffer.mark()));
        }
        self.depth = self.depth.saturating_add(1);
        if let (Some(_), Some(json)) = (self.open, &mut self.known.json) {
            tell(json);
        }
    }

    fn end_nested(&mut self, tell: impl FnOnce(&mut Json)) {
        self.depth = self.depth.saturating_sub(1);
        let (Some((column, start)), Some(json)) = (self.open, &mut self.known.json) else { return };
        tell(json);
        if self.depth == 0 {
            let text = json.buffer.text().get(start..).unwrap_or_default();
            let value = member_value(text).filter(|value| self.has_empty || !matches!(*value, "[]" | "{}"));
            self.rows.text(column, value);
            json.buffer.truncate(start);
            self.open = None;
        }
    }
}

/// Appends what is shown.
fn push(to: &mut String, value: impl Display) {
    // A string takes all that is written to it.
    let _ = write!(to, "{value}");
}

impl Listener for Row<'_> {
    fn begin(&mut self, head: &Head, class: &dyn Class) -> Wants {
        // Classes are numbered from 0 on.
        self.class = usize::try_from(head.class.0).unwrap_or(usize::MAX);
        (self.next, self.depth, self.open) = (0, 0, None);
        self.place = (head.offset, head.len);
        let has_json = |known: &Targets, class: usize| Some(known.classes.get(class)?.as_ref()?.has_json);
        let known = has_json(self.known, self.class);
        if known.is_none() {
            self.learn(class);
        }
        if known.or_else(|| has_json(self.known, self.class)) == Some(true) {
            let json = self.known.json.get_or_insert_with(Json::bare);
            json.buffer.clear();
            json.begin(head, class);
        }
        Wants::ALL.without(Scope::Header)
    }

    fn group(&mut self, slot: Slot) {
        self.begin_nested(slot, |json| json.group(slot));
    }

    fn end_group(&mut self) {
        self.end_nested(Json::end_group);
    }

    fn list(&mut self, slot: Slot, len: Option<u64>) {
        self.begin_nested(slot, |json| json.list(slot, len));
    }

    fn end_list(&mut self) {
        self.end_nested(Json::end_list);
    }

    fn key(&mut self, name: Text<'_>) {
        if let (Some(_), Some(json)) = (self.open, &mut self.known.json) {
            json.key(name);
        }
    }

    fn unsigned(&mut self, slot: Slot, value: u64) {
        self.value(
            slot,
            Some(value.into()),
            |rows, at| rows.u64(at, Some(value)),
            |text| push(text, value),
            |json| json.unsigned(slot, value),
        );
    }

    fn signed(&mut self, slot: Slot, value: i64) {
        self.value(
            slot,
            Some(value.into()),
            |rows, at| rows.i64(at, Some(value)),
            |text| push(text, value),
            |json| json.signed(slot, value),
        );
    }

    fn wide(&mut self, slot: Slot, value: Wide<'_>) {
        self.value(
            slot,
            value.to_i128(),
            |_, _| {},
            |text| quote(text, &value.to_string()),
            |json| json.wide(slot, value),
        );
    }

    fn boolean(&mut self, slot: Slot, value: bool) {
        self.value(
            slot,
            None,
            |rows, at| rows.bool(at, Some(value)),
            |text| push(text, value),
            |json| json.boolean(slot, value),
        );
    }

    fn float(&mut self, slot: Slot, value: f64) {
        self.value(
            slot,
            None,
            |rows, at| rows.f64(at, Some(value)),
            |text| match value.is_finite() {
                true => push(text, format_args!("{value:?}")),
                false => quote(text, &value.to_string()),
            },
            |json| json.float(slot, value),
        );
    }

    /// Bytes that are not text do not fit a column of text.
    fn text(&mut self, slot: Slot, value: Text<'_>) {
        let mut other = String::new();
        let text = match value {
            Text::Utf8(bytes) => std::str::from_utf8(bytes).ok(),
            Text::Other { text, is_valid: true, .. } => {
                push(&mut other, text);
                Some(other.as_str())
            }
            _ => None,
        };
        self.value(
            slot,
            None,
            |rows, at| rows.text(at, text),
            |to| text.into_iter().for_each(|text| quote(to, text)),
            |json| json.text(slot, value),
        );
    }

    fn bytes(&mut self, slot: Slot, value: &[u8]) {
        self.value(
            slot,
            None,
            |rows, at| rows.blob(at, value),
            |text| {
                text.push('"');
                value.iter().for_each(|byte| push(text, format_args!("{byte:02x}")));
                text.push('"');
            },
            |json| json.bytes(slot, value),
        );
    }

    fn absent(&mut self, slot: Slot) {
        self.value(slot, None, |_, _| {}, |_| {}, |json| json.absent(slot));
    }
}
