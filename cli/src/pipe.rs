//! Pipes and devices, of which bytes come little by little.

use crate::disk::{self, File};
use crate::input::{Mapped, PROBE, Patience};
use crate::status::{Failure, Result, Unreadable};
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

/// The number of bytes that are read at once.
const PIECE: usize = 64 << 10;

/// The number of pieces that may wait.
const WAITING: usize = 64;

/// The length of a pause that ends a batch.
const PAUSE: Duration = Duration::from_millis(20);

/// A pipe or a device, all of whose bytes are kept.
pub struct Pipe {
    pieces: Receiver<std::io::Result<Vec<u8>>>,
    data: Mapped,
    /// True if no more bytes come.
    pub has_ended: bool,
}

impl Pipe {
    /// Opens what is neither a file nor a directory; of those there is none.
    pub fn open(path: &Path) -> Result<Option<Self>> {
        let fail = |error| Unreadable::new(format!("cannot read: {error}"));
        let about = disk::metadata(path).map_err(fail)?;
        if about.is_file() || about.is_dir() {
            return Ok(None);
        }
        let mut patience = Patience::new(path, &about);
        let mut file = File::open(path).map_err(fail)?;
        let (sender, pieces) = sync_channel(WAITING);
        std::thread::spawn(move || {
            loop {
                let mut piece = vec![0; PIECE];
                let read = match file.read(&mut piece) {
                    Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                    Ok(0) => return,
                    read => read,
                };
                patience.end();
                let is_over = read.is_err();
                let piece = read.map(|len| {
                    piece.truncate(len);
                    piece
                });
                if sender.send(piece).is_err() || is_over {
                    return;
                }
            }
        });
        Ok(Some(Self { pieces, data: Mapped::read(Vec::new()), has_ended: false }))
    }

    /// Waits for more bytes, and takes all that come without a pause: no more than there were, so that looking at all
    /// of them again stays linear.
    pub fn grow(&mut self) -> Result<()> {
        let data = std::mem::replace(&mut self.data, Mapped::read(Vec::new()));
        let mut data = data.into_bytes();
        let most = data.len().saturating_mul(2).max(PIECE);
        let mut next = self.pieces.recv().map_err(|_| RecvTimeoutError::Disconnected);
        loop {
            match next {
                Ok(Ok(piece)) => data.extend(piece),
                Ok(Err(error)) => return Err(Failure::unreadable(format!("cannot read: {error}"))),
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => {
                    self.has_ended = true;
                    break;
                }
            }
            if data.len() >= most {
                break;
            }
            next = self.pieces.recv_timeout(PAUSE);
        }
        self.data = Mapped::read(data);
        Ok(())
    }

    /// True if what begins a trace may still come.
    pub fn may_begin(&self) -> bool {
        !self.has_ended && (self.data.data().len() as u64) < PROBE
    }

    /// All bytes that have come so far.
    pub fn data(&self) -> Mapped {
        self.data.clone()
    }
}
