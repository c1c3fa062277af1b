//! Three coordinates per line, as point-cloud programs read it.

use std::io::{self, Write};

use crate::Points;

pub(crate) fn write(out: &mut impl Write, points: &Points) -> io::Result<()> {
    for p in points.positions {
        writeln!(out, "{} {} {}", p.x, p.y, p.z)?;
    }
    Ok(())
}
