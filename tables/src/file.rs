//! Files that are lent.

/// The bytes of a file, as long as they are needed.
pub type Bytes<'f> = Box<dyn AsRef<[u8]> + Send + Sync + 'f>;

/// A file of a trace.
pub trait File: Sync {
    /// The path in the trace.
    fn name(&self) -> &str;

    /// The number of bytes it has.
    fn size(&self) -> u64;

    /// Opens it: reads or maps it.
    ///
    /// # Errors
    /// A line that says why it cannot be read.
    fn open(&self) -> Result<Bytes<'_>, String>;

    /// Opens it as far as it can be read, with the error that hides the rest: of a packed file.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    fn open_part(&self) -> Result<(Bytes<'_>, Option<traceglass::Error>), String> {
        Ok((self.open()?, None))
    }
}

/// The reason why a file cannot be read at all.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The file's name in the trace.
    pub file: String,
    /// For people: a line.
    pub message: String,
    /// The located error, if it comes from the content.
    pub cause: Option<traceglass::Error>,
}
