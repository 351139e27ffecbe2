//! Private text in files that were written, before they take their place.

use crate::export::file::cannot_write;
use crate::input::Input;
use crate::status::{Failure, Result};
use crate::trace::{Open, Private, Reading, Redaction};
use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

/// Writes letters over what is private, as many as there were; gives how often what was met.
pub fn redact(
    path: &Path,
    reading: Reading,
    redaction: &Redaction,
    open: Open,
) -> Result<Vec<(String, u64)>> {
    let mut private = Private::new(redaction);
    let input = Input::open(path)?;
    open(&input, reading)?.private(&mut private)?;
    // The mapped bytes must not change below a reader.
    drop(input);
    if let Some(why) = private.refused {
        return Err(Failure::Write(format!("nothing is written: {why}, and cannot be redacted as it lies")));
    }
    for (file, mut patches) in private.patches {
        let path = match file {
            Some(file) => path.join(file),
            None => path.to_owned(),
        };
        patches.sort_by_key(|(offset, _)| *offset);
        let write = || {
            let mut file = BufWriter::with_capacity(1 << 16, File::options().write(true).open(&path)?);
            for (offset, letters) in patches {
                file.seek(SeekFrom::Start(offset))?;
                file.write_all(&letters)?;
            }
            file.flush()?;
            file.get_ref().sync_all()
        };
        write().map_err(|error| cannot_write(&path, &error))?;
    }
    Ok(private.met.into_iter().collect())
}
