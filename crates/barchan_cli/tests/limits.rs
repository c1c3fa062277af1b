//! Numbers that no run can mean: refused with exit code 2, before any work. What a run needs is told by `check`.

use std::fs;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::{TempDir, tempdir};

const SCENE: &str = r#"duration = 1
[materials.sand]
density = 1600
[[emitter]]
material = "sand"
radius = 0.05
rate = 100
shape = { box = { size = [1, 1, 0.5] }, at = [0, 0, 2] }
[[body]]
name = "ground"
shape = { half_space = { normal = [0, 0, 1] } }
[refine]
radius = 0.02
"#;

fn folder() -> TempDir {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("s.toml"), SCENE).unwrap();
    folder
}

fn barchan(folder: &TempDir, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_barchan"));
    command.args(words).current_dir(folder.path()).output().unwrap()
}

#[test]
fn extreme_numbers_of_the_command_line_are_refused() {
    let folder = folder();
    let shape = "{ sphere = { radius = 1 } }";
    let mut commands: Vec<Vec<&str>> = Vec::new();
    for number in ["-1", "nan", "inf", "1e308", "18446744073709551615"] {
        for key in ["--frames", "--start-frame", "--threads"] {
            commands.push(vec!["run", "s.toml", "-o", "c", key, number]);
        }
        for key in ["--frames", "--size", "--fov", "--fps", "--speed", "--threads"] {
            commands.push(vec!["render", "s.toml", "-o", "m.mp4", key, number]);
        }
        commands.push(vec!["sample", shape, "-o", "p.ply", "--radius", number]);
        commands.push(vec!["refine", ".", "--frame-rate", number]);
    }
    commands.push(vec!["run", "s.toml", "--threads", "0"]);
    commands.push(vec!["render", "s.toml", "--size", "4294967295x4294967295"]);
    commands.push(vec!["sample", shape, "-o", "p.ply", "--radius", "0"]);
    commands.push(vec!["sample", shape, "-o", "p.ply", "--radius", "1e-300"]);
    for words in commands {
        let output = barchan(&folder, &words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(said.contains("error: "), "{words:?}: {said}");
    }
    assert!(!folder.path().join("c").exists() && !folder.path().join("p.ply").exists());
}

#[test]
fn check_tells_what_a_run_needs_and_refuses_what_it_refuses() {
    let folder = folder();
    let output = barchan(&folder, &["check", "s.toml"]);
    let said = String::from_utf8(output.stdout).unwrap();
    // 100 kg of guides of 1.396 kg, each with 15.6 grains.
    assert!(
        said.contains("about 72 guides (72 from emitters), 1,120 grains, "),
        "{said}"
    );
    assert!(said.contains("60 frames, "), "{said}");
    let output = barchan(&folder, &["check", "s.toml", "--json"]);
    let row: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((row["frames"].as_u64(), row["guides"].as_f64()), (Some(60), Some(72.0)));
    assert!(
        row["memory_bytes"].as_f64() > Some(1e7) && row["cache_bytes"].as_f64() > Some(1e5),
        "{row}"
    );

    let text = SCENE.replace("0.02", "1e-5");
    fs::write(folder.path().join("fine.toml"), text).unwrap();
    for words in [vec!["check", "fine.toml"], vec!["run", "fine.toml", "-o", "c"]] {
        let output = barchan(&folder, &words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(
            said.contains("fine.toml:13:10: grains: a radius of 0.00001 m makes about"),
            "{said}"
        );
    }
    let output = barchan(&folder, &["check", "fine.toml", "--json"]);
    let row: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (row["line"].as_u64(), row["column"].as_u64()),
        (Some(13), Some(10)),
        "{row}"
    );
    assert!(!folder.path().join("c").exists());
}
