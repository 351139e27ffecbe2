//! More at the end of a file, in its place.

use super::{Destination, Job, proof, report};
use crate::export::file::cannot_write;
use crate::input::Input;
use crate::output::{Out, add, shown};
use crate::status::{Failure, Result, Status};
use crate::trace::{Append, NewParts, NewTrace, Open, Reading};
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// The end of a file.
struct Tail<'t> {
    path: &'t Path,
    file: BufWriter<File>,
    size: u64,
}

impl NewTrace for Tail<'_> {
    fn file(&mut self, _: &Path) -> Result<()> {
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        add(&mut self.size, bytes.len() as u64);
        self.file.write_all(bytes).map_err(|error| cannot_write(self.path, &error))
    }

    fn position(&self) -> u64 {
        self.size
    }
}

/// Adds parts to a file. Up to the one write that makes them count, it is what it was.
pub fn append(
    path: &PathBuf,
    parts: &NewParts<'_>,
    json: bool,
    open: Open,
    append: Append,
    out: &mut Out,
) -> Result<Status> {
    let failed = |error: io::Error| cannot_write(path, &error);
    let input = Input::open(path).map_err(|error| error.of(&shown(path)))?;
    // What is no trace at all cannot be read.
    drop(open(&input, Reading::default()).map_err(|error| error.of(&shown(path)))?);
    let mut file = File::options().read(true).write(true).open(path).map_err(failed)?;
    let old = file.metadata().map_err(failed)?.len();
    // Whoever else appends writes after it, and not over it.
    let end = File::options().append(true).open(path).map_err(failed)?;
    let mut tail = Tail { path, file: BufWriter::with_capacity(1 << 16, end), size: 0 };
    let written = append(&input, parts, &mut tail).and_then(|done| {
        tail.file.flush().and_then(|()| tail.file.get_ref().sync_all()).map_err(failed)?;
        Ok(done)
    });
    // The mapped bytes must not change below a reader.
    drop(input);
    let size = tail.size;
    // The rest of the buffer is not to be written after a failure.
    drop(tail.file.into_parts());
    let mut before = Vec::new();
    let done = written.and_then(|done| {
        file.rewind().map_err(failed)?;
        (&file).take(done.front.len() as u64).read_to_end(&mut before).map_err(failed)?;
        if file.metadata().map_err(failed)?.len() != old.saturating_add(size) {
            return Err(Failure::Write(format!("{} was written to by another program, too", shown(path))));
        }
        Ok(done)
    });
    let finished = done.and_then(|mut done| {
        begin(&mut file, &done.front).map_err(failed)?;
        match proof::prove(path, Reading::default(), &mut done, open) {
            Ok(()) => Ok(done),
            Err(why) => {
                begin(&mut file, &before).map_err(failed)?;
                Err(Failure::Write(format!(
                    "{} stays as it was: more does not read back: {why}",
                    shown(path)
                )))
            }
        }
    });
    let done = match finished {
        Ok(done) => done,
        Err(failure) => {
            // Nothing names what was written: it is no loss if it stays. What somebody else wrote after it stays.
            let is_ours = file.metadata().is_ok_and(|about| about.len() <= old.saturating_add(size));
            let _ = is_ours.then(|| file.set_len(old));
            return Err(failure);
        }
    };
    let to = Destination::in_place(path.clone(), json);
    let paths = [parts.list.to_owned()];
    let job = Job { verb: "append", paths: &paths, is_folder: false, reading: Reading::default(), to: &to };
    report::tell(&job, &done, size, out)?;
    Ok(Status::damaged_if(done.carried > 0))
}

/// Writes the beginning of a file, in one write, and sees that it is on the disk.
fn begin(file: &mut File, front: &[u8]) -> io::Result<()> {
    file.rewind()?;
    file.write_all(front)?;
    file.sync_all()
}
