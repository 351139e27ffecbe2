//! What events and tracks are made of.

/// What an event or a track is made of: a record of its format.
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
    Ctf(super::ctf::fields::CtfData<'a>),
    #[allow(dead_code)] // Keeps the lifetime where no format is built.
    Never(core::convert::Infallible, core::marker::PhantomData<&'a ()>),
}
