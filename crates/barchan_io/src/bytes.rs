//! Numbers as little-endian bytes.

use std::io::{self, Write};

pub(crate) fn floats<const N: usize>(out: &mut impl Write, values: [f64; N]) -> io::Result<()> {
    values
        .iter()
        .try_for_each(|&v| out.write_all(&(v as f32).to_le_bytes()))
}

pub(crate) fn doubles<const N: usize>(out: &mut impl Write, values: [f64; N]) -> io::Result<()> {
    values.iter().try_for_each(|v| out.write_all(&v.to_le_bytes()))
}
