//! Every vector instruction set gives the same frames with each solver, and an unknown one is rejected.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use barchan::simd::Level;
use tempfile::tempdir;

/// Sand falls on a tray and on a ball, which it pushes.
const SCENE: &str = r#"
duration = 0.3
seed = 5

[materials.sand]
density = 1600
angle_of_repose = 30

[[fill]]
material = "sand"
radius = { min = 0.018, max = 0.022 }
packing = "lattice"
shape = { box = { size = [0.3, 0.3, 0.3] }, at = [0, 0, 0.25] }

[[body]]
name = "tray"
shape = { subtract = [ { box = { size = [0.6, 0.6, 0.5] }, at = [0, 0, 0.2] }, { box = { size = [0.5, 0.5, 0.5] }, at = [0, 0, 0.25] } ] }

[[body]]
name = "ball"
motion = "dynamic"
density = 3000
shape = { sphere = { radius = 0.06 }, at = [0.05, 0.02, 0.5] }

[refine]
radius = 0.008
"#;

fn run(folder: &Path, solver: &str, simd: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_barchan"));
    command.current_dir(folder).env("BARCHAN_SIMD", simd);
    command.args(["run", "scene.toml", "--frames", "8", "-o", &format!("{solver}-{simd}")]);
    command.args(["--set", &format!("solver.kind={solver}")]);
    command.output().unwrap()
}

fn frames(cache: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = ["guides", "grains", "bodies"].into_iter().flat_map(|part| {
        let entries = fs::read_dir(cache.join(part)).unwrap();
        entries.map(move |entry| (part, entry.unwrap().path()))
    });
    files
        .map(|(part, path)| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (format!("{part}/{name}"), fs::read(&path).unwrap())
        })
        .collect()
}

#[test]
fn every_instruction_set_writes_the_same_frames() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("scene.toml"), SCENE).unwrap();
    for solver in ["pbd", "sph", "dem", "mpm"] {
        let mut first = None;
        for level in Level::available() {
            let output = run(folder.path(), solver, level.name());
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let found = frames(&folder.path().join(format!("{solver}-{}", level.name())));
            assert_eq!(found.len(), 27);
            let same = *first.get_or_insert_with(|| found.clone()) == found;
            assert!(same, "{solver} differs with {}", level.name());
        }
    }
}

#[test]
fn an_unknown_instruction_set_is_refused() {
    let folder = tempdir().unwrap();
    let output = run(folder.path(), "pbd", "mmx");
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("`mmx` is none of scalar, avx2, avx512"), "{said}");
}
