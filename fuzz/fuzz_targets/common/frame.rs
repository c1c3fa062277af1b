//! Frames of a cache: the first byte chooses the part, the others are its file, whose checksum is made right.

use std::fs;
use std::path::Path;

use barchan::io::{Cache, CacheSettings, CacheWriter, Part, Run};
use barchan::scene::Scene;
use tempfile::TempDir;

use super::sample;

thread_local! {
    static CACHE: TempDir = write_cache(&sample::SCENES[0]);
}

fn write_cache(scene: &Scene) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = Run {
        scene: serde_json::Value::Null,
        version: String::new(),
        solver: scene.solver.to_string(),
        frame_rate: scene.frame_rate,
        first_frame: 0,
        files: Default::default(),
    };
    let mut writer = CacheWriter::create(folder.path(), run, CacheSettings::default()).expect("a new cache");
    writer
        .push(sample::simulate(scene).frame())
        .expect("a frame is written");
    writer.finish().expect("a cache is written");
    folder
}

/// Reads a changed file of a frame.
pub fn read(bytes: &[u8]) {
    let Some((choice, content)) = bytes.split_first() else {
        return;
    };
    let part = Part::ALL[usize::from(*choice) % Part::ALL.len()];
    CACHE.with(|folder| read_from(folder.path(), part, content));
}

fn read_from(dir: &Path, part: Part, content: &[u8]) {
    let cache = Cache::open(dir).expect("the manifest is untouched");
    let frame = cache.frames()[0].frame;
    let file = dir.join(part.name()).join(format!("{frame:06}.arrow"));
    fs::write(&file, with_right_checksum(content)).expect("a temporary file");
    let error = match part {
        Part::Guides => cache.read_guides(frame).err(),
        Part::Grains => cache.read_grains(frame).err(),
        Part::Bodies => cache.read_bodies(frame).err(),
        Part::Joints => cache.read_joints(frame).err(),
    };
    if let Some(error) = error {
        assert!(error.to_string().contains(".arrow"), "{error} does not name the file");
    }
}

/// Replaces the checksum in the footer of an Arrow file, if it has one: eight hexadecimal digits.
fn with_right_checksum(file: &[u8]) -> Vec<u8> {
    let mut file = file.to_vec();
    let length = |file: &[u8]| Some(i32::from_le_bytes(*file.strip_suffix(b"ARROW1")?.last_chunk()?));
    let footer = length(&file).and_then(|length| file.len().checked_sub(usize::try_from(length).ok()? + 10));
    let Some(summed) = footer.and_then(|footer| footer.checked_sub(8)) else {
        return file;
    };
    let sum = format!("{:08x}", crc32fast::hash(&file[..summed]));
    let is_sum = |word: &[u8]| word.iter().all(u8::is_ascii_hexdigit);
    if let Some(at) = file[summed..].windows(8).position(is_sum) {
        file[summed + at..][..8].copy_from_slice(sum.as_bytes());
    }
    file
}
