//! The `barchan` program.
fn main() {}
