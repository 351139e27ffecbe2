//! A table as CSV, as RFC 4180 has it: a line of names, then a line for each row.
//!
//! # Layout
//! Lines end with CR and LF. A field with a comma, a quotation mark or the end of a line stands between quotation marks.
//! Nothing stands for null. Bytes are lower-case hexadecimal digits, moments RFC 3339 in UTC with nine digits, lists JSON.

use crate::error::{Error, Result};
use crate::json::quote;
use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, TimestampNanosecondType, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Schema};
use csv::{Terminator, Writer, WriterBuilder};
use std::fmt::Write as _;
use std::io::Write;
use traceglass_open::time::Stamps;

/// Writes batches of one table.
pub struct Stream<W: Write> {
    writer: Writer<W>,
    stamps: Stamps,
    text: String,
}

impl<W: Write> Stream<W> {
    /// Writes the names of the columns.
    ///
    /// # Errors
    /// [`Error::Arrow`], where `to` cannot be written.
    pub fn new(to: W, schema: &Schema) -> Result<Self> {
        let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(to);
        writer.write_record(schema.fields().iter().map(|field| field.name())).map_err(failure)?;
        Ok(Self { writer, stamps: Stamps::default(), text: String::new() })
    }

    /// Writes a batch.
    ///
    /// # Errors
    /// As above; also where a column has a type that no table has.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        for row in 0..batch.num_rows() {
            for column in batch.columns() {
                self.text.clear();
                if column.is_valid(row) {
                    self.push(&**column, row)?;
                }
                self.writer.write_field(&self.text).map_err(failure)?;
            }
            self.writer.write_record(None::<&[u8]>).map_err(failure)?;
        }
        Ok(())
    }

    /// Says that there is no more.
    ///
    /// # Errors
    /// As above.
    pub fn finish(mut self) -> Result<()> {
        self.writer.flush().map_err(|error| Error::Arrow(error.to_string()))
    }

    /// Appends a value to the text.
    fn push(&mut self, column: &dyn Array, row: usize) -> Result<()> {
        let text = &mut self.text;
        // A string takes all that is written to it.
        let _ = match column.data_type() {
            DataType::UInt64 => write!(text, "{}", column.as_primitive::<UInt64Type>().value(row)),
            DataType::Int64 => write!(text, "{}", column.as_primitive::<Int64Type>().value(row)),
            DataType::Float64 => write!(text, "{}", column.as_primitive::<Float64Type>().value(row)),
            DataType::Boolean => write!(text, "{}", column.as_boolean().value(row)),
            DataType::Utf8 => text.write_str(column.as_string::<i32>().value(row)),
            DataType::Binary => {
                let bytes = column.as_binary::<i32>().value(row);
                bytes.iter().try_for_each(|byte| write!(text, "{byte:02x}"))
            }
            DataType::Timestamp(..) => {
                let moment = column.as_primitive::<TimestampNanosecondType>().value(row);
                self.stamps.push(text, moment.into(), true);
                Ok(())
            }
            DataType::Dictionary(..) => {
                let names = column.as_dictionary::<Int32Type>();
                let key = names.key(row).unwrap_or_default();
                text.write_str(names.values().as_string::<i32>().value(key))
            }
            // A JSON array: a comma may be in what it has.
            DataType::List(_) => {
                let names = column.as_list::<i32>().value(row);
                text.push('[');
                for (at, name) in names.as_string::<i32>().iter().enumerate() {
                    text.push_str(if at > 0 { "," } else { "" });
                    quote(text, name.unwrap_or_default());
                }
                text.push(']');
                Ok(())
            }
            other => return Err(Error::Arrow(format!("no table has a column of {other}"))),
        };
        Ok(())
    }
}

fn failure(error: csv::Error) -> Error {
    Error::Arrow(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::Query;
    use crate::rows::Rows;
    use crate::table::{self, Table};
    use arrow_schema::Field;

    #[test]
    fn each_type_is_written_as_it_is_and_null_as_nothing() {
        let blob = Field::new("blob", DataType::Binary, true);
        let truth = Field::new("truth", DataType::Boolean, true);
        let columns = vec![
            table::id("id"),
            table::ns("a, \"b\""),
            table::moment("time"),
            table::float("value"),
            truth,
            table::text("text"),
            table::name("name"),
            blob,
            table::names("list"),
        ];
        let mut rows = Rows::new(&Table::new("t", columns), &Query::default());
        let texts = [Some("a,b"), Some("say \"x\"\r\nand \u{1b}[0m"), Some(""), None];
        for (place, text) in texts.into_iter().enumerate() {
            if text.is_some() {
                rows.u64(0, Some(u64::MAX));
                rows.i64(1, Some(i64::MIN));
                rows.moment(2, Some(1_795_225_314_001_000_000 + place as i64));
                rows.f64(3, [Some(0.1), Some(f64::NAN), Some(-1e300)][place]);
                rows.bool(4, Some(place == 0));
                rows.text(5, text);
                rows.name(6, text);
                rows.blob(7, &[0, 0xfe]);
                rows.names(8, ["a", "b,\""].into_iter().take(place));
            }
            rows.end_row();
        }
        let batch = rows.take().unwrap().unwrap();
        let mut out = Vec::new();
        let mut stream = Stream::new(&mut out, &batch.schema()).unwrap();
        stream.write(&batch).unwrap();
        stream.finish().unwrap();
        let day = "2026-11-21T01:41:54.00100000";
        let front = "18446744073709551615,-9223372036854775808";
        let expected = [
            "id,\"a, \"\"b\"\"\",time,value,truth,text,name,blob,list\r\n".to_owned(),
            format!("{front},{day}0Z,0.1,true,\"a,b\",\"a,b\",00fe,[]\r\n"),
            format!(
                "{front},{day}1Z,NaN,false,\"say \"\"x\"\"\r\nand \u{1b}[0m\",\"say \"\"x\"\"\r\nand \u{1b}[0m\",00fe,\"[\"\"a\"\"]\"\r\n"
            ),
            format!(
                "{front},{day}2Z,-1{},false,,,00fe,\"[\"\"a\"\",\"\"b,\\\"\"\"\"]\"\r\n",
                "0".repeat(300)
            ),
            ",,,,,,,,\r\n".to_owned(),
        ];
        assert_eq!(String::from_utf8(out).unwrap(), expected.concat());
    }
}
