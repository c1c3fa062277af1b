//! Checkpoints: a valid one is changed by the input, with a right checksum, and resumed.

use std::fs;
use std::sync::LazyLock;

use barchan::Simulation;
use barchan::io::{read_checkpoint, write_checkpoint};
use barchan::world::Archive;
use tempfile::tempdir;

use super::sample;

static ARCHIVES: LazyLock<[Archive; 3]> =
    LazyLock::new(|| sample::SCENES.each_ref().map(|scene| sample::simulate(scene).save()));

/// Resumes a changed checkpoint and advances it by a frame.
///
/// The first byte chooses the solver, or with 3 that the rest is a checkpoint file whose checksum is made right. Otherwise each
/// following group of five bytes changes one entry: its number, an operation, an offset of two bytes, a value.
pub fn resume(bytes: &[u8]) {
    let Some((&choice, rest)) = bytes.split_first() else {
        return;
    };
    let solver = usize::from(choice % 4);
    if solver == ARCHIVES.len() {
        return read_file(rest);
    }
    let mut archive = ARCHIVES[solver].clone();
    for edit in rest.as_chunks::<5>().0 {
        change(&mut archive, *edit);
    }
    let _ = Simulation::resume(&sample::SCENES[solver], &archive).map(|mut simulation| simulation.advance());
}

fn change(archive: &mut Archive, [entry, operation, high, low, value]: [u8; 5]) {
    let count = archive.entries.len();
    let Some(name) = archive.entries.keys().nth(usize::from(entry) % count.max(1)).cloned() else {
        return;
    };
    let bytes = archive.entries.get_mut(&name).expect("its name was found");
    let offset = usize::from(u16::from_be_bytes([high, low]));
    match operation % 5 {
        0 if !bytes.is_empty() => {
            let at = offset % bytes.len();
            bytes[at] = value;
        }
        1 => bytes.truncate(offset),
        2 => bytes.resize(bytes.len() + offset, value),
        3 => drop(archive.entries.remove(&name)),
        // The last bytes of a number decide its size.
        4 if bytes.len() >= 8 => {
            let at = offset % (bytes.len() / 8) * 8;
            bytes[at..at + 8].fill(value);
        }
        _ => {}
    }
}

fn read_file(content: &[u8]) {
    let folder = tempdir().expect("a temporary folder");
    // Makes the folder of the state, too.
    write_checkpoint(folder.path(), &Archive::default(), 0).expect("a temporary file");
    let sum = crc32fast::hash(content).to_le_bytes();
    fs::write(folder.path().join("checkpoint/state"), [content, &sum].concat()).expect("a temporary file");
    let _ = read_checkpoint(folder.path());
}
