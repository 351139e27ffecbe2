//! The native part of the Python package: what the command says of a trace as JSON, and its tables as Arrow streams.
//!
//! Each stream is read by a thread of its own, which opens the trace anew and hands batches over a channel: Python's lock
//! is not held meanwhile, and memory is that of a few batches.

// All unsafe code is inside the macros of pyo3 and in the crate arrow-array.
#![deny(unsafe_code)]

mod reader;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_schema::ffi::FFI_ArrowSchema;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use reader::{Plan, Reader};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use traceglass::event::Window;
use traceglass_cli::Console;
use traceglass_cli::tables::{self, Refused};
use traceglass_tables::Query;

/// The exception for an error in a trace.
fn trace_error(py: Python<'_>, message: &str, error: Option<&traceglass::Error>) -> PyErr {
    let made = (|| {
        let class = py.import("traceglass._errors")?.getattr("TraceError")?;
        let about = PyDict::new(py);
        about.set_item("offset", error.map(traceglass::Error::offset))?;
        about.set_item("element", error.map(|error| error.element().name()))?;
        about.set_item("kind", error.map(|error| error.kind().code()))?;
        class.call((message,), Some(&about))
    })();
    match made {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

fn refused(py: Python<'_>, refused: &Refused) -> PyErr {
    trace_error(py, &refused.message, refused.error.as_ref())
}

/// Bytes shared by their writer and by the one who reads them afterwards.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Shared {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

impl Write for Shared {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(data);
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs the command; returns its exit status, and what it printed to stdout and stderr.
#[pyfunction]
fn run(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> PyResult<(u8, String, String)> {
    let (stdout, stderr) = (Shared::default(), Shared::default());
    let arguments = std::iter::once("traceglass".into()).chain(arguments).collect::<Vec<_>>();
    let console = Console::new(stdout.clone(), stderr.clone(), false);
    let status = py.detach(|| traceglass_cli::on_large_stack(|| traceglass_cli::run(arguments, console)))?;
    Ok((status, stdout.text(), stderr.text()))
}

/// The names of a trace's tables, the sizes of its pieces.
#[pyfunction]
fn describe(py: Python<'_>, path: PathBuf) -> PyResult<(Vec<String>, Vec<u64>)> {
    let found = py.detach(|| {
        traceglass_cli::on_large_stack(|| {
            tables::with(&path, |trace| {
                let names = trace.tables().iter().map(|table| table.name().to_owned()).collect();
                (names, (0..trace.pieces()).map(|piece| trace.piece_bytes(piece)).collect())
            })
        })
    })?;
    found.map_err(|failure| refused(py, &failure))
}

/// A table as an Arrow stream, in a capsule, or its schema.
#[pyfunction]
#[pyo3(signature = (path, table, *, columns, start, end, kinds, pieces, threads, rows, schema_only))]
#[allow(clippy::too_many_arguments)]
fn stream<'py>(
    py: Python<'py>,
    path: PathBuf,
    table: String,
    columns: Option<Vec<String>>,
    start: Option<i128>,
    end: Option<i128>,
    kinds: Option<Vec<String>>,
    pieces: Option<(usize, usize)>,
    threads: usize,
    rows: usize,
    schema_only: bool,
) -> PyResult<Bound<'py, PyCapsule>> {
    let query = Query {
        columns,
        window: Window::new(start, end),
        kinds: kinds.map(|kinds| kinds.into_iter().collect()),
        rows,
        ..Query::default()
    };
    let plan = Plan { path, table, query, pieces: pieces.map(|(begin, end)| begin..end), threads };
    let schema = py.detach(|| traceglass_cli::on_large_stack(|| plan.schema()))?;
    let schema = match schema {
        Ok(Ok(schema)) => schema,
        Ok(Err(error)) => return Err(PyValueError::new_err(error.to_string())),
        Err(failure) => return Err(refused(py, &failure)),
    };
    let invalid = |error: arrow_schema::ArrowError| PyValueError::new_err(error.to_string());
    if schema_only {
        let schema = FFI_ArrowSchema::try_from(&*schema).map_err(invalid)?;
        return PyCapsule::new_with_value(py, schema, c"arrow_schema");
    }
    let stream = FFI_ArrowArrayStream::new(Box::new(Reader::new(plan, schema)));
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(run, module)?)?;
    module.add_function(wrap_pyfunction!(describe, module)?)?;
    module.add_function(wrap_pyfunction!(stream, module)?)
}
