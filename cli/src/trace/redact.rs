//! Private text in a trace, and its replacement.

use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Fields and variables whose text tells of a person or a computer, without the underscore before them.
const NAMES: [&str; 31] = [
    "hostname",
    "host",
    "user",
    "username",
    "user_name",
    "procname",
    "comm",
    "prev_comm",
    "next_comm",
    "parent_comm",
    "child_comm",
    "oldcomm",
    "newcomm",
    "process_name",
    "thread_name",
    "task_name",
    // As tokio's spans name them.
    "task.name",
    "loc.file",
    "spawn_loc",
    "path",
    "filename",
    "file",
    // As LTTng's system calls and its tracer of programs do.
    "pathname",
    "oldname",
    "newname",
    "dir_name",
    "sopath",
    "cmdline",
    "exe",
    "product_uuid",
    "trace_name",
];

/// True if what has this name is known to tell of a person or a computer.
pub fn is_private(name: &str) -> bool {
    NAMES.contains(&name.trim_start_matches('_').to_lowercase().as_str())
}

/// Options about text that tells of a person or a computer.
#[derive(clap::Args, Clone, Default)]
pub struct Privacy {
    /// Hide text that identifies a person or a computer: names of hosts, users, processes and files are replaced by as
    /// many letters, the same for the same name
    #[arg(long)]
    pub redact: bool,
    /// Hide the text of fields with this name, too. More than one may be given
    #[arg(long, value_name = "NAME", requires = "redact")]
    pub redact_name: Vec<String>,
    /// The key of the replacement, so that several runs agree; by default each run has its own
    #[arg(long, value_name = "TEXT", requires = "redact")]
    pub redact_key: Option<String>,
}

impl Privacy {
    /// What is hidden, if anything is.
    pub fn redaction(&self) -> Option<Redaction> {
        self.redact.then(|| Redaction::new(self.redact_key.as_deref(), &self.redact_name))
    }
}

/// The names whose text is hidden, and the key for hiding it.
pub struct Redaction {
    key: [u8; 32],
    more: Vec<String>,
}

impl Redaction {
    /// Hides more names than those that are known. Without a key, a new one is taken from the system.
    pub fn new(key: Option<&str>, more: &[String]) -> Self {
        let mut hasher = Sha256::new();
        match key {
            Some(key) => hasher.update(key),
            // Its keys come from the system.
            None => {
                let random = RandomState::new();
                (0..8_u64).for_each(|number| hasher.update(random.hash_one(number).to_le_bytes()));
            }
        }
        let more = more.iter().map(|name| name.trim_start_matches('_').to_lowercase()).collect();
        Self { key: hasher.finalize().into(), more }
    }

    /// True if what has this name is private.
    pub fn hides(&self, name: &str) -> bool {
        is_private(name) || self.more.contains(&name.trim_start_matches('_').to_lowercase())
    }

    /// The replacement of a text: as many letters and digits, the same for the same text. Without the key it tells
    /// nothing more.
    fn letters(&self, text: &[u8]) -> Vec<u8> {
        const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
        let mut letters = Vec::with_capacity(text.len());
        for number in 0_u64.. {
            if letters.len() >= text.len() {
                break;
            }
            let block = Sha256::new().chain_update(self.key).chain_update(number.to_le_bytes());
            let block = block.chain_update(text).finalize();
            letters.extend(block.iter().filter_map(|byte| LETTERS.get(usize::from(byte % 32))));
        }
        letters.truncate(text.len());
        letters
    }

    /// Writes letters over texts in bytes that begin at an offset of a file. Each place is given once.
    pub fn write_over(&self, data: &mut [u8], offset: u64, places: &[Range<u64>]) {
        let within = |at: u64| usize::try_from(at.saturating_sub(offset)).unwrap_or(usize::MAX);
        for place in places {
            if let Some(text) = data.get_mut(within(place.start)..within(place.end)) {
                let letters = self.letters(text);
                text.copy_from_slice(&letters);
            }
        }
    }
}

/// Puts places in order, each once: text of a pool is met as often as it is named.
pub fn put_in_order(places: &mut Vec<Range<u64>>) {
    places.sort_unstable_by_key(|place| (place.start, place.end));
    places.dedup();
}

/// The private text in the files of a trace.
pub struct Private<'r> {
    redaction: &'r Redaction,
    /// The places of texts, as they were met, by file; `None` for a trace of one.
    places: BTreeMap<Option<PathBuf>, Vec<Range<u64>>>,
    /// The number of texts met, by name.
    pub met: BTreeMap<String, u64>,
    /// Private text that has no place that can be written over: where it is, and why.
    pub refused: Option<String>,
}

impl<'r> Private<'r> {
    pub fn new(redaction: &'r Redaction) -> Self {
        Self { redaction, places: BTreeMap::new(), met: BTreeMap::new(), refused: None }
    }

    /// True if what has this name is private.
    pub fn hides(&self, name: &str) -> bool {
        self.redaction.hides(name)
    }

    /// Text at a place in a file.
    pub fn text(&mut self, file: Option<&Path>, name: &str, offset: u64, text: &[u8]) {
        if text.is_empty() {
            return;
        }
        let count = self.met.entry(name.to_owned()).or_default();
        *count = count.saturating_add(1);
        let places = self.places.entry(file.map(Path::to_owned)).or_default();
        places.push(offset..offset.saturating_add(text.len() as u64));
    }

    /// Text that is borrowed from the bytes of a file.
    pub fn part(&mut self, file: Option<&Path>, name: &str, data: &[u8], text: &[u8]) {
        let offset = text.as_ptr().addr().checked_sub(data.as_ptr().addr());
        let is_in = |offset: &usize| offset.checked_add(text.len()).is_some_and(|end| end <= data.len());
        match offset.filter(is_in) {
            Some(offset) => self.text(file, name, offset as u64, text),
            None => self.refuse(format!("{name} is compressed")),
        }
    }

    /// Text that is borrowed from the bytes of a file, in a field of a size of its own: what is after its NUL may be the rest
    /// of another text.
    pub fn field(&mut self, file: Option<&Path>, name: &str, data: &[u8], field: &[u8]) {
        let parts = field.split(|byte| *byte == 0).filter(|part| !part.is_empty());
        parts.for_each(|part| self.part(file, name, data, part));
    }

    /// The places of texts, as they were met, by file.
    pub fn into_places(self) -> BTreeMap<Option<PathBuf>, Vec<Range<u64>>> {
        self.places
    }

    /// Private text that stays.
    pub fn refuse(&mut self, why: String) {
        self.refused.get_or_insert(why);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_is_the_same_letters() {
        let redaction = Redaction::new(Some("key"), &["Secret".to_owned()]);
        for len in [0, 1, 16, 33, 300] {
            let text = vec![b'x'; len];
            let letters = redaction.letters(&text);
            assert_eq!(letters.len(), len);
            assert_eq!(letters, redaction.letters(&text));
            assert!(letters.iter().all(u8::is_ascii_alphanumeric));
        }
        let text = b"a name that is long";
        assert_ne!(redaction.letters(text), Redaction::new(Some("other"), &[]).letters(text));
        assert_ne!(Redaction::new(None, &[]).letters(text), Redaction::new(None, &[]).letters(text));
        assert!(redaction.hides("_procname") && redaction.hides("secret") && !redaction.hides("serial"));
        let names =
            ["oldcomm", "newcomm", "task.name", "loc.file", "spawn_loc", "pathname", "oldname", "newname"];
        assert!(names.iter().chain(&["dir_name", "sopath"]).all(|name| redaction.hides(name)));
        assert!(Redaction::new(None, &["_Serial".to_owned()]).hides("serial"));
    }
}
