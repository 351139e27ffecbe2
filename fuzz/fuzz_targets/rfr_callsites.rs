//! Any bytes as callsites, and after a valid identifier.
#![no_main]

use libfuzzer_sys::fuzz_target;
use traceglass::Severity;
use traceglass::rfr::{CallsiteTable, Callsites, Site};
use traceglass_fuzz::{found, lies_in, located_in, walk};

fuzz_target!(|data: &[u8]| {
    read(data);
    let mut file = Vec::from(*b"\x0crfr-cc/0.0.1");
    file.extend(data);
    read(&file);
});

fn read(data: &[u8]) {
    let callsites = match Callsites::parse(data) {
        Ok(callsites) => callsites,
        Err(error) => return located_in(&error, data),
    };
    let mut count = 0;
    walk(callsites.fields(), data.len() as u64, data, |field| Some(field.offset()));
    let damage = walk(callsites.clone(), data.len() as u64, data, |callsite| {
        count += 1;
        assert_eq!(callsite.const_fields().len(), callsite.const_fields().count());
        assert_eq!(callsite.split_field_names().len(), callsite.split_field_names().count());
        for name in callsite.split_field_names().chain(callsite.name()).chain(callsite.file()) {
            lies_in(name.as_bytes(), data);
        }
        Some(callsite.offset())
    });
    // The table has those after damage, too.
    let (mut rest, mut all) = (callsites.clone(), 0);
    loop {
        match rest.next_callsite() {
            Ok(Some(_)) => all += 1,
            Ok(None) => break,
            Err(_) if rest.recover().is_none() => break,
            Err(_) => {}
        }
    }
    assert!(all >= count);
    let mut entries = vec![Site::EMPTY; all];
    let table = CallsiteTable::build(&callsites, &mut entries).unwrap();
    assert_eq!(table.error(), damage);
    for callsite in callsites.clone().map_while(Result::ok).take(64) {
        let found = table.get(callsite.id()).unwrap();
        assert!(found.id() == callsite.id() && found.offset() <= callsite.offset());
    }
    let mut errors = 0;
    callsites
        .check(&mut |finding| {
            found(&finding);
            errors += u32::from(finding.severity() == Severity::Error);
        })
        .unwrap();
    assert_eq!(errors > 0, damage.is_some());
}
