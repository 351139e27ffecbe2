//! `compile`: the metadata of a trace as a table.

use crate::common::{Scratch, status, traceglass};
use std::fs;
use std::path::{Path, PathBuf};
use traceglass::ctf::metadata::MetadataStream;
use traceglass::ctf::schema::{Node, Schema};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/data").join(name)
}

fn compiled(args: &[&str]) -> Vec<u8> {
    let output = traceglass(&[&["compile"], args].concat());
    assert_eq!((status(&output), std::str::from_utf8(&output.stderr)), (0, Ok("")), "{args:?}");
    output.stdout
}

/// Numbers between braces or brackets, in the notation of a language.
fn numbers(text: &str, open: char, close: char) -> Vec<u32> {
    let list = text.rsplit_once(open).unwrap().1.split_once(close).unwrap().0;
    let number = |word: &str| match word.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).unwrap(),
        None => word.parse().unwrap(),
    };
    list.split(',').map(str::trim).filter(|word| !word.is_empty()).map(number).collect()
}

/// The table that the firmware example reads is that of the sample; `TRACEGLASS_BLESS=1` writes it.
#[test]
fn a_trace_has_a_table() {
    let (folder, expected) = (data("sample.ctf"), data("sample.ctf.schema"));
    let folder = folder.to_str().unwrap();
    let table = compiled(&[folder]);
    if std::env::var_os("TRACEGLASS_BLESS").is_some() {
        fs::write(&expected, &table).unwrap();
    }
    assert!(table == fs::read(&expected).unwrap(), "TRACEGLASS_BLESS=1 writes it anew");
    let metadata = format!("{folder}/metadata");
    for path in [metadata.as_str(), &format!("{folder}/stream")] {
        assert!(compiled(&[path]) == table, "{path}");
    }
    let mut nodes = vec![Node::EMPTY; 100];
    let schema = Schema::load(&table, &mut nodes).unwrap();
    schema.check_metadata(&MetadataStream::parse(&fs::read(metadata).unwrap()).unwrap()).unwrap();
    assert_eq!(schema.stream_classes().next().unwrap().event_classes().count(), 2);

    let scratch = Scratch::new("compile");
    let file = scratch.0.join("trace.schema");
    assert_eq!(compiled(&["-o", file.to_str().unwrap(), folder]), b"");
    assert!(fs::read(&file).unwrap() == table);
    // What is there stays, unless that is said.
    fs::write(&file, "mine").unwrap();
    let again = ["compile", "-o", file.to_str().unwrap(), folder];
    assert_eq!((status(&traceglass(&again)), fs::read(&file).unwrap()), (2, b"mine".to_vec()));
    assert_eq!(compiled(&["--force", "-o", file.to_str().unwrap(), folder]), b"");
    assert!(fs::read(&file).unwrap() == table);
}

#[test]
fn a_table_is_a_constant() {
    let folder = data("sample.ctf1");
    let folder = folder.to_str().unwrap();
    let table = compiled(&[folder]);
    let rust = String::from_utf8(compiled(&["--rust", folder])).unwrap();
    assert!(rust.contains(&format!("pub struct Table(pub [u8; {}]);", table.len())), "{rust}");
    let bytes: Vec<u32> = table.iter().map(|byte| u32::from(*byte)).collect();
    assert_eq!(numbers(&rust, '[', ']'), bytes);
    let c = String::from_utf8(compiled(&["--c", folder])).unwrap();
    assert!(c.contains(&format!("traceglass_schema_size = {};", table.len())), "{c}");
    let mut padded = table;
    padded.resize(padded.len().next_multiple_of(4), 0);
    let words: Vec<u8> = numbers(&c, '{', '}').into_iter().flat_map(u32::to_le_bytes).collect();
    assert_eq!(words, padded);
}

#[test]
fn what_has_no_table_is_told() {
    let says = |args: &[&str], code: i32, why: &str| {
        let output = traceglass(&[&["compile"], args].concat());
        let said = String::from_utf8(output.stderr.clone()).unwrap();
        assert_eq!(status(&output), code, "{said}");
        assert!(said.contains(why) && output.stdout.is_empty(), "{said}");
    };
    let (rtc, ctf) = (data("sample.rtc"), data("sample.ctf"));
    let (rtc, ctf) = (rtc.to_str().unwrap(), ctf.to_str().unwrap());
    says(&[rtc], 2, "compile is for CTF");
    says(&["--rust", "--c", ctf], 2, "--c");
    says(&["-o", rtc, ctf], 2, "is a trace, and would be overwritten");
    let scratch = Scratch::new("compile-broken");
    fs::write(scratch.0.join("metadata"), "/* CTF 1.8 */ trace { major = 1; };").unwrap();
    says(&[scratch.0.join("metadata").to_str().unwrap()], 1, "TSDL trace block");
}
