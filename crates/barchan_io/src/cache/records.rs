//! Tables of results, a row per run: Arrow, and CSV for everything else.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_schema::{Field, Schema};

use super::arrow_file;
use crate::{WriteError, write_atomically};

/// A named column of results; a run may lack a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// Numbers.
    Number(Vec<Option<f64>>),
    /// Texts.
    Text(Vec<Option<String>>),
}

impl Record {
    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Number(values) => values.len(),
            Self::Text(values) => values.len(),
        }
    }

    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn array(&self) -> ArrayRef {
        match self {
            Self::Number(values) => Arc::new(Float64Array::from(values.clone())),
            Self::Text(values) => Arc::new(StringArray::from(values.clone())),
        }
    }

    /// Returns the value of a row as a CSV field.
    fn field(&self, row: usize) -> String {
        match self {
            Self::Number(values) => values[row].map_or(String::new(), |value| value.to_string()),
            Self::Text(values) => quoted(values[row].as_deref().unwrap_or_default()),
        }
    }
}

/// Quotes a CSV field that needs it [RFC 4180].
fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

/// Compression level: these tables are small.
const LEVEL: i32 = 1;

/// Writes columns of equal length as an Arrow file.
///
/// # Panics
/// If the columns differ in length.
pub fn write_records(path: &Path, columns: &[(String, Record)]) -> Result<(), WriteError> {
    let arrays: Vec<ArrayRef> = columns.iter().map(|column| column.1.array()).collect();
    let fields = columns.iter().zip(&arrays);
    let fields: Vec<Field> = fields
        .map(|((name, _), array)| Field::new(name, array.data_type().clone(), true))
        .collect();
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(schema.clone(), arrays).expect("columns of equal length");
    arrow_file::write(path, &schema, &[batch], LEVEL).map(drop)
}

/// Writes columns of equal length as CSV with a header.
pub fn write_records_csv(path: &Path, columns: &[(String, Record)]) -> Result<(), WriteError> {
    let rows = columns.first().map_or(0, |column| column.1.len());
    let line = |fields: Vec<String>| fields.join(",") + "\n";
    let mut text = line(columns.iter().map(|column| quoted(&column.0)).collect());
    for row in 0..rows {
        text += &line(columns.iter().map(|column| column.1.field(row)).collect());
    }
    write_atomically(path, |out| out.write_all(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Float64Type;
    use arrow_ipc::reader::FileReader;

    use super::*;

    #[test]
    fn both_files_hold_every_value_and_every_gap() {
        let folder = tempfile::tempdir().unwrap();
        let columns = [
            ("task".to_owned(), Record::Number(vec![Some(0.0), Some(1.0)])),
            ("mass, total".to_owned(), Record::Number(vec![Some(0.1), None])),
            (
                "error".to_owned(),
                Record::Text(vec![None, Some("a \"b\", c".to_owned())]),
            ),
        ];
        let (arrow, csv) = (folder.path().join("t.arrow"), folder.path().join("t.csv"));
        write_records(&arrow, &columns).unwrap();
        write_records_csv(&csv, &columns).unwrap();
        let text = std::fs::read_to_string(csv).unwrap();
        assert_eq!(text, "task,\"mass, total\",error\n0,0.1,\n1,,\"a \"\"b\"\", c\"\n");
        let mut batches = FileReader::try_new(std::fs::File::open(arrow).unwrap(), None).unwrap();
        let batch = batches.next().unwrap().unwrap();
        let mass = batch.column(1).as_primitive::<Float64Type>();
        assert_eq!((mass.value(0), mass.is_null(1)), (0.1, true));
        assert_eq!(batch.column(2).as_string::<i32>().value(1), "a \"b\", c");
    }
}
