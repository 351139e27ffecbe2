//! What ids stand for, for people.

use super::files::{Files, Kind};
use super::scan::{self, Damage};
use crate::escape::push;
use crate::output::shortened;
use crate::status::Result;
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::fmt::Write;
use traceglass::rfr::{Callsite, Callsites, Object};

/// How many characters of a name are kept: it is printed again with each record.
const KEPT: usize = 256;

/// How many of them are shown to people.
const SHOWN: usize = 80;

/// By an id, which is looked up for each record.
type ById<V> = HashMap<u64, V, RandomState>;

/// Tasks and spans by instrumentation id, and places in the source by callsite id.
///
/// Instrumentation ids are addresses, and recur: they mean something within a chunk, or from the object to the end of the
/// task in a stream.
#[derive(Default)]
pub struct Names {
    objects: ById<Named>,
    callsites: ById<Place>,
}

/// The tasks and spans of a chunk.
#[derive(Default)]
pub struct Objects(ById<Named>);

/// What is known of a task or a span.
struct Named {
    /// None of a span, or of a task that has none.
    name: Option<String>,
    /// What the runtime calls a task; a span has none.
    task_id: Option<u64>,
    callsite: u64,
}

/// What is known of a callsite.
struct Place {
    place: String,
    /// Whether it is a file, and not just a name.
    is_location: bool,
    fields: Vec<String>,
}

impl Names {
    /// The callsites of a recording; damage in them is reported where they are read for their own sake.
    pub fn of(files: &Files<'_>) -> Result<Self> {
        let mut names = Self::default();
        for part in files.of(Kind::Callsites) {
            let data = part.data()?;
            if let Ok(callsites) = Callsites::parse(data.bytes()) {
                scan::callsites(&callsites, None, &mut Damage::default(), |callsite| {
                    names.add_callsite(&callsite);
                    Ok(())
                })?;
            }
        }
        Ok(names)
    }

    pub fn add_callsite(&mut self, callsite: &Callsite<'_>) {
        self.callsites.entry(callsite.id()).or_insert_with(|| {
            let (place, is_location) = match (callsite.file(), callsite.line()) {
                (Some(file), Some(line)) => (format!("{}:{line}", shortened(short(file), KEPT)), true),
                (Some(file), None) => (shortened(short(file), KEPT).into_owned(), true),
                _ => (shortened(callsite.name().unwrap_or_default(), KEPT).into_owned(), false),
            };
            let names = callsite.split_field_names();
            let fields = names.map(|name| shortened(name, SHOWN).into_owned()).collect();
            Place { place, is_location, fields }
        });
    }

    pub fn add_object(&mut self, object: &Object<'_>) {
        let (name, task_id) = match object {
            Object::Task(task) => {
                let name = Some(task.name()).filter(|name| !name.is_empty());
                (name.map(|name| shortened(name, KEPT).into_owned()), Some(task.task_id()))
            }
            _ => (None, None),
        };
        self.objects.insert(object.iid(), Named { name, task_id, callsite: object.callsite_id() });
    }

    /// Forgets the objects: those of the next chunk come.
    pub fn forget_objects(&mut self) {
        self.objects.clear();
    }

    /// Goes on with what was kept, and what is known of callsites by now.
    pub fn go_on(&mut self, kept: Self) {
        self.objects = kept.objects;
        self.callsites.extend(kept.callsites);
    }

    /// Takes the objects out.
    pub fn take(&mut self) -> Objects {
        Objects(std::mem::take(&mut self.objects))
    }

    /// Exchanges the objects for others.
    pub fn swap(&mut self, objects: &mut Objects) {
        std::mem::swap(&mut self.objects, &mut objects.0);
    }

    /// Forgets one object: what has this id from now on is another one.
    pub fn forget(&mut self, iid: u64) {
        self.objects.remove(&iid);
    }

    /// The name of a task.
    pub fn task(&self, iid: u64) -> Option<&str> {
        self.objects.get(&iid)?.name.as_deref()
    }

    /// Where in the source a task or span comes from.
    pub fn location(&self, iid: u64) -> Option<&str> {
        self.location_of(self.objects.get(&iid)?.callsite)
    }

    /// Where in the source a callsite is.
    pub fn location_of(&self, callsite: u64) -> Option<&str> {
        self.callsites.get(&callsite).filter(|place| place.is_location).map(|place| &*place.place)
    }

    /// Appends the name of a task or span for people, its id if it has none; and gives the place that it comes from.
    pub fn push_placed(&self, to: &mut String, iid: u64) -> &str {
        let object = self.objects.get(&iid);
        match object {
            Some(Named { name: Some(name), .. }) => push(to, &shortened(name, SHOWN), |_| false),
            _ => self.push_object(to, iid),
        }
        object.map_or("", |object| self.place(object.callsite))
    }

    /// Appends the name of a task or span for people; its id if it has none.
    pub fn push_object(&self, to: &mut String, iid: u64) {
        // A string takes all that is written to it.
        let _ = match self.objects.get(&iid) {
            Some(Named { name: Some(name), .. }) => write!(to, "{}", shortened(name, SHOWN)),
            Some(Named { task_id: Some(id), .. }) => write!(to, "task {id}"),
            Some(_) => write!(to, "span {iid}"),
            None => write!(to, "#{iid}"),
        };
    }

    /// The same, as text of its own.
    pub fn object(&self, iid: u64) -> String {
        let mut name = String::new();
        self.push_object(&mut name, iid);
        name
    }

    /// Where a task or span comes from.
    pub fn place_of(&self, iid: u64) -> &str {
        self.objects.get(&iid).map_or("", |object| self.place(object.callsite))
    }

    pub fn place(&self, callsite: u64) -> &str {
        self.callsites.get(&callsite).map_or("", |callsite| &callsite.place)
    }

    /// The names of the values that a callsite's events have.
    pub fn fields(&self, callsite: u64) -> &[String] {
        self.callsites.get(&callsite).map_or(&[], |callsite| &callsite.fields)
    }
}

/// The path of a source file from the crate on, where it lies in Cargo's registry.
pub fn short(file: &str) -> &str {
    let Some((_, after)) = file.split_once("/registry/src/") else { return file };
    after.split_once('/').map_or(after, |(_, path)| path)
}

/// A span of microseconds for people.
pub fn duration(micros: u64) -> String {
    crate::trace::duration(i128::from(micros).saturating_mul(1000))
}

/// The same, for a column.
pub fn aligned(micros: u64) -> String {
    crate::trace::aligned(i128::from(micros).saturating_mul(1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_the_registry_are_short() {
        assert_eq!(
            short("/home/a/.cargo/registry/src/index-123/tokio-1.44.1/src/lib.rs"),
            "tokio-1.44.1/src/lib.rs"
        );
        assert_eq!(short("src/main.rs"), "src/main.rs");
    }
}
