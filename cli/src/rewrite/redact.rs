//! Private text in files that were written, before they take their place.

use crate::export::file::cannot_write;
use crate::input::Input;
use crate::status::{Failure, Result};
use crate::trace::{Open, Private, Reading, Redaction, put_in_order};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
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
    if let Some(why) = &private.refused {
        return Err(Failure::Write(format!("nothing is written: {why}, and cannot be redacted as it lies")));
    }
    let met = std::mem::take(&mut private.met);
    for (file, mut places) in private.into_places() {
        put_in_order(&mut places);
        let path = match file {
            Some(file) => path.join(file),
            None => path.to_owned(),
        };
        write_over(&path, &places, redaction).map_err(|error| cannot_write(&path, &error))?;
    }
    Ok(met.into_iter().collect())
}

/// The most bytes of a file between the first and the last place that are written at once.
const BLOCK: u64 = 1 << 20;

/// Writes letters over places in a file, which are in order: block by block, since there may be millions.
fn write_over(path: &Path, places: &[Range<u64>], redaction: &Redaction) -> io::Result<()> {
    let mut file = File::options().read(true).write(true).open(path)?;
    let (mut rest, mut block) = (places, Vec::new());
    while let Some(first) = rest.first() {
        let start = first.start;
        let count = rest.partition_point(|place| place.end.saturating_sub(start) <= BLOCK).max(1);
        let (now, later) = rest.split_at(count);
        let end = now.iter().map(|place| place.end).max().unwrap_or(start);
        block.resize(usize::try_from(end.saturating_sub(start)).unwrap_or(usize::MAX), 0);
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut block)?;
        redaction.write_over(&mut block, start, now);
        file.seek(SeekFrom::Start(start))?;
        file.write_all(&block)?;
        rest = later;
    }
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_a_file_are_written_over_as_the_whole_is() {
        let path = std::env::temp_dir().join(format!("traceglass-redact-{}", std::process::id()));
        let data: Vec<u8> = (0..3 * BLOCK).map(|at| (at % 251) as u8).collect();
        let edges = [BLOCK - 7, BLOCK - 2, BLOCK + 9, 2 * BLOCK + 7].map(|start| start..start + 5);
        // One place is longer than a block.
        for places in [vec![], edges.to_vec(), vec![3..9, 10..BLOCK + 90, BLOCK + 90..BLOCK + 91]] {
            std::fs::write(&path, &data).unwrap();
            let redaction = Redaction::new(Some("key"), &[]);
            write_over(&path, &places, &redaction).unwrap();
            let mut whole = data.clone();
            redaction.write_over(&mut whole, 0, &places);
            assert!(std::fs::read(&path).unwrap() == whole && (whole != data) != places.is_empty());
        }
        std::fs::remove_file(&path).unwrap();
    }
}
