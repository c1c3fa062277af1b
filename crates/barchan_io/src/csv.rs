//! Comma-separated text with a header line.

use std::io::{self, Write};

use crate::Points;

pub(crate) fn write(out: &mut impl Write, points: &Points) -> io::Result<()> {
    write!(out, "x,y,z")?;
    for column in &points.columns {
        write!(out, ",{}", column.values.component_names(column.name).join(","))?;
    }
    writeln!(out)?;
    for (i, p) in points.positions.iter().enumerate() {
        write!(out, "{},{},{}", p.x, p.y, p.z)?;
        for column in &points.columns {
            write!(out, ",")?;
            column.values.print(out, i)?;
        }
        writeln!(out)?;
    }
    Ok(())
}
