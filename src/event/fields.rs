//! The data of events and tracks, as a tree that is pulled value by value.

use super::field::Field;
use crate::error::Result;

/// The fields of an event or a track, decoded one by one.
///
/// A tree comes as a flat sequence: after a [`Struct`](super::Value::Struct) or a [`List`](super::Value::List) what is
/// in it, then [`End`](super::Value::End).
#[derive(Clone, Debug)]
pub struct Fields<'a>(Inner<'a>);

/// Where fields come from, before they are asked for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Data<'a> {
    None,
    #[cfg(feature = "rfr")]
    Rfr(super::rfr::fields::RfrData<'a>),
    #[cfg(feature = "rdf-contents")]
    Rdf(super::rdf::fields::RdfData<'a>),
    #[cfg(feature = "rtc")]
    Rtc(super::rtc::fields::RtcData<'a>),
    #[cfg(feature = "dial9")]
    Dial9(super::dial9::fields::Dial9Data<'a>),
    #[cfg(feature = "ctf")]
    Ctf(crate::ctf::data::Record<'a, 'a, 'a>),
    #[allow(dead_code)] // Keeps the lifetime where no format is built.
    Never(core::convert::Infallible, core::marker::PhantomData<&'a ()>),
}

#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)] // There is nowhere to box it.
enum Inner<'a> {
    None,
    #[cfg(feature = "rfr")]
    Rfr(super::rfr::fields::RfrFields<'a>),
    #[cfg(feature = "rdf-contents")]
    Rdf(super::rdf::fields::RdfFields<'a>),
    #[cfg(feature = "rtc")]
    Rtc(super::rtc::fields::RtcFields<'a>),
    #[cfg(feature = "dial9")]
    Dial9(super::dial9::fields::Dial9Fields<'a>),
    #[cfg(feature = "ctf")]
    Ctf(super::ctf::fields::CtfFields<'a>),
    #[allow(dead_code)] // As above.
    Never(core::convert::Infallible, core::marker::PhantomData<&'a ()>),
}

impl<'a> Data<'a> {
    #[inline] // What is large is not moved.
    pub(super) fn fields(self) -> Fields<'a> {
        Fields(match self {
            Self::None | Self::Never(..) => Inner::None,
            #[cfg(feature = "rfr")]
            Self::Rfr(data) => Inner::Rfr(data.fields()),
            #[cfg(feature = "rdf-contents")]
            Self::Rdf(data) => Inner::Rdf(data.fields()),
            #[cfg(feature = "rtc")]
            Self::Rtc(data) => Inner::Rtc(data.fields()),
            #[cfg(feature = "dial9")]
            Self::Dial9(data) => Inner::Dial9(data.fields()),
            #[cfg(feature = "ctf")]
            Self::Ctf(record) => Inner::Ctf(super::ctf::fields::CtfFields::new(record)),
        })
    }
}

impl<'a> Fields<'a> {
    /// The next field, or the end of a structure or a list.
    ///
    /// # Errors
    /// Those of the format, if unreadable data is found only here. No field follows an error.
    pub fn next_field(&mut self) -> Result<Option<Field<'a>>> {
        let next = match &mut self.0 {
            Inner::None | Inner::Never(..) => Ok(None),
            #[cfg(feature = "rfr")]
            Inner::Rfr(fields) => Ok(fields.next_field()),
            #[cfg(feature = "rdf-contents")]
            Inner::Rdf(fields) => Ok(fields.next_field()),
            #[cfg(feature = "rtc")]
            Inner::Rtc(fields) => fields.next_field(),
            #[cfg(feature = "dial9")]
            Inner::Dial9(fields) => Ok(fields.next_field()),
            #[cfg(feature = "ctf")]
            Inner::Ctf(fields) => fields.next_field(),
        };
        if next.is_err() {
            self.0 = Inner::None;
        }
        next
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_field().transpose()
    }
}

impl core::iter::FusedIterator for Fields<'_> {}
