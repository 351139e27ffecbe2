//! Any bytes as `meta.rfr`, and after a valid identifier.
#![no_main]

use libfuzzer_sys::fuzz_target;
use traceglass::Severity;
use traceglass::rfr::{FormatIdentifier, Meta};
use traceglass_fuzz::{found, lies_in, located, located_in, walk};

fuzz_target!(|data: &[u8]| {
    read(data);
    let mut file = Vec::from(*b"\x0crfr-cm/0.0.1");
    file.extend(data);
    read(&file);
});

fn read(data: &[u8]) {
    if let Ok(identifier) = FormatIdentifier::parse(data) {
        lies_in(identifier.as_str().as_bytes(), data);
        assert_eq!(FormatIdentifier::from_text(identifier.as_str()), Some(identifier));
    }
    let meta = match Meta::parse(data) {
        Ok(meta) => meta,
        Err(error) => return located_in(&error, data),
    };
    walk(meta.fields(), data.len() as u64, data, |field| Some(field.offset()));
    let damage = walk(meta.formats(), data.len() as u64, data, |format| {
        lies_in(format.as_bytes(), data);
        None
    });
    if let Err(error) = meta.created() {
        located(&error);
    }
    let mut errors = 0;
    meta.check(&mut |finding| {
        found(&finding);
        errors += u32::from(finding.severity() == Severity::Error);
    })
    .unwrap();
    assert_eq!(errors > 0, damage.is_some() || meta.created().is_err());
}
