//! Schemas that are written as tables and read again.

use std::fmt::Debug;
use traceglass::ErrorKind;
use traceglass::ctf::schema::{Node, Schema};

/// The bytes of a table at an address that is a multiple of 4, and `past` more.
pub fn at_address<T>(table: &[u8], past: usize, read: impl FnOnce(&[u8]) -> T) -> T {
    let mut storage = vec![0; table.len() + 8];
    let start = storage.as_ptr().align_offset(4) + past;
    let place = &mut storage[start..start + table.len()];
    place.copy_from_slice(table);
    read(place)
}

/// The schema that a table is, read in place; where that is not to be had, as the byte order is another, from a copy.
pub fn in_place<T>(table: &[u8], read: impl FnOnce(&Schema<'_, '_>) -> T) -> T {
    at_address(table, 0, |table| {
        if cfg!(target_endian = "little") {
            return read(&Schema::parse(table).unwrap());
        }
        let error = Schema::parse(table).map(drop).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported { value: 0 });
        read(&Schema::load(table, &mut vec![Node::EMPTY; table.len() / 24]).unwrap())
    })
}

/// A table as large as it must be.
pub fn written(schema: &Schema<'_, '_>) -> Vec<u8> {
    let mut table = vec![0xee; usize::try_from(schema.written_size()).unwrap()];
    assert_eq!(schema.write(&mut table).unwrap().len(), table.len());
    table
}

/// Asserts that a schema, its table in place, and a copy of that from any address read the same.
pub fn also_by_table<T: PartialEq + Debug>(
    schema: &Schema<'_, '_>,
    read: impl Fn(&Schema<'_, '_>) -> T,
) -> T {
    let expected = read(schema);
    let table = written(schema);
    let check = |from_table: &Schema<'_, '_>| {
        assert_eq!(read(from_table), expected);
        assert_eq!(from_table.metadata_hash(), schema.metadata_hash());
        assert!(written(from_table) == table);
    };
    in_place(&table, check);
    let mut nodes = vec![Node::EMPTY; table.len() / 24];
    at_address(&table, 1, |table| check(&Schema::load(table, &mut nodes).unwrap()));
    expected
}
