//! Particles of other programs: the first byte chooses the format, the others are the file.

use std::fs;

use barchan::io::{READABLE, read_points};

/// Reads a file of particles; its columns have one length.
pub fn read(bytes: &[u8]) {
    let Some((choice, content)) = bytes.split_first() else {
        return;
    };
    let ending = READABLE[usize::from(*choice) % READABLE.len()];
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("points").with_extension(ending);
    fs::write(&path, content).expect("a temporary file");
    match read_points(&path) {
        Ok(table) => {
            let count = table.positions.len();
            assert!(table.velocities.is_none_or(|column| column.len() == count));
            assert!(table.radii.is_none_or(|column| column.len() == count));
            assert!(table.ids.is_none_or(|column| column.len() == count));
        }
        Err(error) => assert!(error.to_string().contains("points.")),
    }
}
