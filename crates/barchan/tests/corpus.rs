//! Replays the seeds of every fuzz target, former findings among them.

#[path = "../../../fuzz/fuzz_targets/common/mod.rs"]
mod common;

use std::fs;
use std::path::Path;

#[test]
fn no_seed_of_a_fuzz_target_panics() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    for (name, _) in common::TARGETS {
        let folder = fs::read_dir(seeds.join(name)).expect("every target has seeds");
        let mut files: Vec<_> = folder.map(|entry| entry.unwrap().path()).collect();
        files.sort();
        assert!(!files.is_empty(), "{name} has no seeds");
        for file in files {
            println!("{}", file.display());
            common::feed(name, &fs::read(&file).unwrap());
        }
    }
}

#[test]
fn every_folder_of_seeds_belongs_to_a_target() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    for folder in fs::read_dir(seeds).unwrap() {
        let name = folder.unwrap().file_name().into_string().unwrap();
        assert!(common::TARGETS.iter().any(|target| target.0 == name), "{name}");
    }
}
