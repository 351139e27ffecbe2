//! The fields of a record of tokio's vocabulary, by their names.

use traceglass::record::{Class, FieldInfo, Head, Listener, Slot, Step, Text, Wants};

/// The role of an event, by the name of its schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    PollStart,
    PollEnd,
    Park,
    Unpark,
    Spawn,
    Terminate,
    Wake,
    Other,
}

impl Role {
    fn of(name: &str) -> Self {
        match name {
            "PollStartEvent" => Self::PollStart,
            "PollEndEvent" => Self::PollEnd,
            "WorkerParkEvent" => Self::Park,
            "WorkerUnparkEvent" => Self::Unpark,
            "TaskSpawnEvent" => Self::Spawn,
            "TaskTerminateEvent" => Self::Terminate,
            "WakeEventEvent" => Self::Wake,
            _ => Self::Other,
        }
    }
}

macro_rules! fields {
    ($($name:literal $field:ident,)*) => {
        /// A field that is a column.
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, PartialEq, Eq)]
        enum Field {
            None,
            callchain,
            $($field,)*
        }

        /// The values of a record that are columns. Numbers and text have a place each: which of them a field has is what
        /// the writer chose.
        #[derive(Default)]
        pub(super) struct Values {
            $(pub(super) $field: Value,)*
            /// The addresses of a stack, the innermost first; `None` without one.
            pub(super) callchain: Option<Vec<u64>>,
        }

        impl Field {
            fn of(name: &str) -> Self {
                match name {
                    "callchain" => Self::callchain,
                    $($name => Self::$field,)*
                    _ => Self::None,
                }
            }
        }

        impl Values {
            fn of(&mut self, field: Field) -> Option<&mut Value> {
                match field {
                    $(Field::$field => Some(&mut self.$field),)*
                    _ => None,
                }
            }

            fn clear(&mut self) {
                $(self.$field.clear();)*
                self.callchain = None;
            }
        }
    };
}

fields! {
    "worker_id" worker_id,
    "local_queue" local_queue,
    "task_id" task_id,
    "spawn_loc" spawn_loc,
    "scheduling_delay_ns" scheduling_delay_ns,
    "instrumented" instrumented,
    "waker_task_id" waker_task_id,
    "woken_task_id" woken_task_id,
    "target_worker" target_worker,
    "tid" tid,
    "source" source,
    "thread_name" thread_name,
    "cpu" cpu,
    "size" size,
    "span_id" span_id,
    "parent_span_id" parent_span_id,
    "dial9.tokio.task_id" span_task_id,
}

/// The value of a field, if it has one.
#[derive(Default)]
pub(super) struct Value {
    pub(super) number: Option<u64>,
    text: String,
    has_text: bool,
}

impl Value {
    fn clear(&mut self) {
        self.number = None;
        self.has_text = false;
    }

    pub(super) fn text(&self) -> Option<&str> {
        self.has_text.then_some(&*self.text)
    }
}

/// Hears records.
#[derive(Default)]
pub(super) struct Heard {
    pub(super) role: Option<Role>,
    pub(super) values: Values,
    /// The number of the record's class.
    class: usize,
    /// By the numbers of classes and slots.
    classes: Vec<Option<(Role, String)>>,
    fields: Vec<Field>,
    labels: Vec<(Slot, u64, String)>,
}

impl Heard {
    /// Forgets the record that was heard last.
    pub(super) fn clear(&mut self) {
        self.role = None;
        self.class = usize::MAX;
        self.values.clear();
    }

    /// The name of the record's class.
    pub(super) fn name(&self) -> &str {
        self.classes.get(self.class).and_then(Option::as_ref).map_or("", |(_, name)| name)
    }

    fn learn(&mut self, class: &dyn Class) -> (Role, String) {
        class.fields(&mut |step| {
            let Step::Field(FieldInfo { slot, name: Some(name), labels, .. }) = step else { return };
            let field = Field::of(&name.to_string());
            if self.fields.len() <= slot.index() {
                self.fields.resize(slot.index().saturating_add(1), Field::None);
            }
            if let Some(place) = self.fields.get_mut(slot.index()) {
                *place = field;
            }
            if let Some(labels) = labels {
                labels(&mut |label, first, _| {
                    let first = u64::try_from(first).unwrap_or(u64::MAX);
                    self.labels.push((slot, first, label.to_string()));
                });
            }
        });
        let name = class.name().to_string();
        (Role::of(&name), name)
    }

    fn value(&mut self, slot: Slot) -> Option<&mut Value> {
        let field = self.fields.get(slot.index()).copied()?;
        self.values.of(field)
    }
}

impl Listener for Heard {
    fn begin(&mut self, _: &Head, class: &dyn Class) -> Wants {
        let number = class.id().index();
        if self.classes.len() <= number {
            self.classes.resize(number.saturating_add(1), None);
        }
        if self.classes.get(number).is_some_and(Option::is_none) {
            let learned = self.learn(class);
            if let Some(slot) = self.classes.get_mut(number) {
                *slot = Some(learned);
            }
        }
        self.class = number;
        self.role = self.classes.get(number).and_then(Option::as_ref).map(|(role, _)| *role);
        // The poll that ends is known by its track.
        if self.role == Some(Role::PollEnd) { Wants::NOTHING } else { Wants::ALL }
    }

    fn list(&mut self, slot: Slot, _: Option<u64>) {
        if self.fields.get(slot.index()) == Some(&Field::callchain) {
            self.values.callchain = Some(Vec::new());
        }
    }

    fn unsigned(&mut self, slot: Slot, number: u64) {
        // The slot of elements comes after that of their list.
        let list = slot.index().checked_sub(1).and_then(|list| self.fields.get(list));
        if list == Some(&Field::callchain)
            && let Some(stack) = &mut self.values.callchain
        {
            return stack.push(number);
        }
        let label = self.labels.iter().position(|(of, first, _)| (*of, *first) == (slot, number));
        let label = label.and_then(|at| self.labels.get(at)).map(|(.., label)| label.clone());
        if let Some(value) = self.value(slot) {
            value.number = Some(number);
            if let Some(label) = label {
                (value.text, value.has_text) = (label, true);
            }
        }
    }

    fn boolean(&mut self, slot: Slot, value: bool) {
        self.unsigned(slot, value.into());
    }

    fn text(&mut self, slot: Slot, text: Text<'_>) {
        let Text::Utf8(text) = text else { return };
        if let Some(value) = self.value(slot) {
            value.text.clear();
            value.text.push_str(&String::from_utf8_lossy(text));
            value.has_text = true;
        }
    }
}
