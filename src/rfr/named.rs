//! A task or a span with its callsite.

use super::object::Object;
use super::site::Site;

/// A task or a span, and the place in the source that it comes from.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    pub(super) object: Object<'a>,
    pub(super) site: Option<Site<'a>>,
}

impl<'a> Named<'a> {
    /// The object.
    pub const fn object(&self) -> Object<'a> {
        self.object
    }

    /// The callsite, if it is known.
    pub const fn site(&self) -> Option<&Site<'a>> {
        self.site.as_ref()
    }

    /// The name of the task, if it is one and has a name.
    pub fn task(&self) -> Option<&'a str> {
        self.object.as_task().map(|task| task.name()).filter(|name| !name.is_empty())
    }

    /// The name of the span, if it is one whose callsite is known.
    pub fn span(&self) -> Option<&'a str> {
        match self.object {
            Object::Span(_) => self.site.as_ref()?.name(),
            Object::Task(_) => None,
        }
    }
}
