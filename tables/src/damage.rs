//! The damage that was found while tables were made.

use crate::events::GAPS;
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, RecordBatch};
use traceglass::rdf::element::CHUNK_VERSION;
use traceglass_open::damage::Damage;

/// Takes up the rows of a batch, if it is one of `gaps`. What a recorder discarded is no damage, nor is a chunk of RDF
/// whose version is not known: its bytes are whole.
pub fn observe(damage: &mut Damage, table: usize, batch: &RecordBatch) {
    if table != GAPS {
        return;
    }
    let column = |name| batch.column_by_name(name);
    let names = |name| column(name)?.as_dictionary::<Int32Type>().downcast_dict::<arrow_array::StringArray>();
    let (Some(files), Some(elements), Some(messages)) = (names("file"), names("element"), column("message"))
    else {
        return;
    };
    let messages = messages.as_string::<i32>();
    for row in (0..batch.num_rows()).filter(|&row| messages.is_valid(row)) {
        use arrow_array::ArrayAccessor;
        if elements.is_valid(row) && elements.value(row) == CHUNK_VERSION.name() {
            continue;
        }
        let file = if files.is_valid(row) { files.value(row) } else { "" };
        let message = messages.value(row);
        damage.add(if file.is_empty() { message.to_owned() } else { format!("{file}: {message}") });
    }
}
