//! Stanford PLY, binary little-endian, vertices only.

use std::io::{self, Write};

use crate::values::{Number, put_f32, put_f64};
use crate::{Points, Precision, Values};

pub(crate) fn write(out: &mut impl Write, points: &Points) -> io::Result<()> {
    let precision = points.precision();
    let number = match precision {
        Precision::Single => name_of(Number::F32),
        Precision::Double => name_of(Number::F64),
    };
    writeln!(
        out,
        "ply\nformat binary_little_endian 1.0\ncomment barchan, SI units, z up"
    )?;
    writeln!(out, "element vertex {}", points.positions.len())?;
    for axis in ["x", "y", "z"] {
        writeln!(out, "property {number} {axis}")?;
    }
    for column in &points.columns {
        for name in column.values.component_names(column.name) {
            writeln!(out, "property {} {name}", name_of(column.values.number()))?;
        }
    }
    writeln!(out, "end_header")?;
    for (i, p) in points.positions.iter().enumerate() {
        match precision {
            Precision::Single => put_f32(out, p.to_array())?,
            Precision::Double => put_f64(out, p.to_array())?,
        }
        for column in &points.columns {
            if let Values::Text(words) = column.values {
                out.write_all(&(words[i].len() as u32).to_le_bytes())?;
            }
            column.values.put(out, i)?;
        }
    }
    Ok(())
}

fn name_of(number: Number) -> &'static str {
    match number {
        Number::U8 => "uchar",
        Number::U32 => "uint",
        Number::F32 => "float",
        Number::F64 => "double",
        Number::Text => "list uint uchar",
    }
}
