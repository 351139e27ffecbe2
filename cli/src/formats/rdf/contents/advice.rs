//! The chunks that a tool of AMD's would miss in a file.

use traceglass::rdf::File;
use traceglass::{Element, Error, ErrorKind, Finding};

const THREAD_TRACE: Element =
    Element::new(&"RDF SqttData, without which the profiler cannot use the code objects and queues,");
const GPU: Element = Element::new(&"RDF AsicInfo, without which the profiler does not know the GPU's clock,");
const CLOCK: Element = Element::new(&"RDF ClockCalibration, without which GPU times are no CPU times,");
const TIMES: Element = Element::new(&"RDF SpmSession, without which samples have no time,");
const KERNEL: Element = Element::new(&"RDF DDEvent, without which a crash dump says nothing,");
const TOKENS: Element = Element::new(&"RDF RmtData, without which snapshots are of nothing,");

/// Reports what is missing beside the chunks that are there.
pub fn advise(file: &File<'_>, report: &mut dyn FnMut(Finding)) {
    let has = |id: &str| file.chunk(id, 0).is_some();
    let memory = has("RmtData");
    let crash = has("DDEvent");
    let rules = [
        ((has("CodeObject") || has("QueueEvent")) && !memory && !crash, "SqttData", THREAD_TRACE),
        (has("SqttData"), "AsicInfo", GPU),
        (has("QueueEvent"), "ClockCalibration", CLOCK),
        (has("SpmCounterData"), "SpmSession", TIMES),
        (has("TraceProcessInfo") && has("RgdExtendedInfo"), "DDEvent", KERNEL),
        (has("RmvSnapshotData"), "RmtData", TOKENS),
    ];
    for (needed, id, element) in rules {
        if needed && !has(id) {
            let offset = file.index().offset();
            report(Finding::warning(Error::new(offset, element, ErrorKind::Missing)));
        }
    }
}
