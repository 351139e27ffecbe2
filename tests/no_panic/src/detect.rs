//! Telling formats apart, and errors.

use traceglass::{Format, Lookalike};

entries! {
    detect_format(data) { Format::detect(data).map_or(0, |format| format.name().len() as u64) }
    detect_lookalike(data) { u64::from(Lookalike::detect(data).is_some()) }
    detect_error(data) {
        match traceglass::rdf::Header::parse(data) {
            Ok(_) => 0,
            Err(error) => error.rebased(7).offset() + error.kind().code().len() as u64 + error.element().name().len() as u64,
        }
    }
}
