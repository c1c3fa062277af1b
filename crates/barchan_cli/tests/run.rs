//! `barchan run` from a user's view: the same bits for any number of threads and after a kill, and its errors.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::{TempDir, tempdir};

/// Sand falls into a box while a dynamic ball drops on it, an emitter pours and a sink drains.
const SCENE: &str = r#"
name = "small"
duration = 1.0
frame_rate = 60
seed = 3

[materials.sand]
density = 1600
friction = { static = 0.5, kinetic = 0.4 }

[[fill]]
material = "sand"
radius = { min = 0.015, max = 0.02 }
packing = "random"
shape = { box = { size = [0.4, 0.4, 0.3] }, at = [0, 0, 0.2] }

[[emitter]]
material = "sand"
radius = 0.02
shape = { cylinder = { radius = 0.08, height = 0.1 }, at = [0, 0, 0.7] }
rate = 3.0
velocity = [0, 0, -1]

[[sink]]
shape = { box = { size = [4, 4, 0.5] }, at = [0, 0, -0.6] }

[[body]]
name = "tray"
motion = "fixed"
shape = { subtract = [ { box = { size = [0.6, 0.6, 0.5] }, at = [0, 0, 0.2] }, { box = { size = [0.5, 0.5, 0.5] }, at = [0, 0, 0.25] } ] }

[[body]]
name = "ball"
motion = "dynamic"
density = 3000
shape = { sphere = { radius = 0.06 }, at = [0.05, 0.02, 0.55] }
"#;

/// Grains for the scene.
const GRAINS: &str = "[refine]\nradius = { min = 0.006, max = 0.009 }\n";

fn folder_with_scene() -> TempDir {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("small.toml"), format!("{SCENE}{GRAINS}")).unwrap();
    folder
}

fn barchan(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_barchan"));
    command
        .current_dir(folder)
        .args(words)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs to the end; returns the exit code and the output.
fn finish(folder: &Path, words: &[&str]) -> (i32, String) {
    let output = barchan(folder, words).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (
        output.status.code().expect("no signal"),
        String::from_utf8(text).unwrap(),
    )
}

/// Returns the bytes of every file of guides, grains and bodies.
fn frames(cache: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for part in ["guides", "grains", "bodies"] {
        for entry in fs::read_dir(cache.join(part)).unwrap() {
            let path = entry.unwrap().path();
            found.insert(
                format!("{part}/{}", path.file_name().unwrap().display()),
                fs::read(&path).unwrap(),
            );
        }
    }
    found
}

#[test]
fn one_two_and_three_threads_write_the_same_frames() {
    let folder = folder_with_scene();
    for threads in ["1", "2", "3"] {
        let (code, said) = finish(
            folder.path(),
            &[
                "run",
                "small.toml",
                "-o",
                threads,
                "--frames",
                "30",
                "--threads",
                threads,
            ],
        );
        assert_eq!(code, 0, "{said}");
    }
    let one = frames(&folder.path().join("1"));
    assert_eq!(one.len(), 93);
    assert!(one == frames(&folder.path().join("2")), "two threads differ from one");
    assert!(one == frames(&folder.path().join("3")), "three threads differ from one");
}

#[test]
fn a_cache_without_grains_and_files_of_another_program_get_them() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("bare.toml"), SCENE).unwrap();
    let (code, said) = finish(
        folder.path(),
        &["run", "bare.toml", "-o", "bare", "--frames", "5", "--export", "csv"],
    );
    assert_eq!(code, 0, "{said}");
    assert!(!folder.path().join("bare/grains").exists());
    let (code, said) = finish(folder.path(), &["refine", "bare", "--radius", "0.008"]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(fs::read_dir(folder.path().join("bare/grains")).unwrap().count(), 6);
    let (code, said) = finish(folder.path(), &["refine", "bare/csv/guides", "-o", "foreign", "--json"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("\"frames\":6"), "{said}");
    let (code, said) = finish(folder.path(), &["info", "foreign"]);
    assert!(code == 0 && said.contains("grains"), "{said}");
    let (code, said) = finish(folder.path(), &["refine", "no such folder"]);
    assert_eq!(code, 2, "{said}");
}

#[test]
fn a_run_that_was_killed_goes_on_as_if_it_had_not_been() {
    let folder = folder_with_scene();
    let (code, said) = finish(folder.path(), &["run", "small.toml", "-o", "whole"]);
    assert_eq!(code, 0, "{said}");
    let mut child = barchan(folder.path(), &["run", "small.toml", "-o", "killed"])
        .spawn()
        .unwrap();
    let start = Instant::now();
    while !folder.path().join("killed/guides/000020.arrow").exists() && start.elapsed() < Duration::from_secs(60) {
        sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let (code, said) = finish(folder.path(), &["run", "small.toml", "-o", "killed", "--resume"]);
    assert_eq!(code, 0, "{said}");
    assert!(
        frames(&folder.path().join("whole")) == frames(&folder.path().join("killed")),
        "the resumed run differs"
    );
    let lines = |cache: &str| {
        fs::read_to_string(folder.path().join(cache).join("stats.jsonl"))
            .unwrap()
            .lines()
            .count()
    };
    assert_eq!(lines("whole"), lines("killed"));
}

#[test]
fn numbers_may_begin_elsewhere_and_the_ledger_closes() {
    let folder = folder_with_scene();
    let words = [
        "run",
        "small.toml",
        "-o",
        "shot",
        "--frames",
        "5",
        "--start-frame",
        "1001",
        "--export",
        "csv",
    ];
    let (code, said) = finish(folder.path(), &words);
    assert_eq!(code, 0, "{said}");
    assert!(folder.path().join("shot/guides/001001.arrow").exists());
    assert!(folder.path().join("shot/guides/001006.arrow").exists());
    let stats = fs::read_to_string(folder.path().join("shot/stats.jsonl")).unwrap();
    for line in stats.lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(row["ledger_closes"], true, "{line}");
    }
    let (code, said) = finish(folder.path(), &["info", "shot"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("ball") && said.contains("force ["), "{said}");
    let (code, said) = finish(folder.path(), &["info", "shot", "--frame", "1004", "--json"]);
    assert_eq!(code, 0, "{said}");
    let row: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(
        (&row["frame"], &row["bodies"][1]["name"]),
        (&1004.into(), &"ball".into())
    );
    let (code, said) = finish(folder.path(), &["info", "shot", "--frame", "7"]);
    assert!(code == 2 && said.contains("1001 to 1006"), "{said}");
    let (code, said) = finish(folder.path(), &["render", "shot", "-o", "p.png", "--size", "160x90"]);
    assert_eq!(code, 0, "{said}");
    assert!(fs::read(folder.path().join("p.png")).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn a_run_that_was_interrupted_tells_how_to_go_on_and_another_scene_does_not() {
    let folder = folder_with_scene();
    let words = ["run", "small.toml", "-o", "shot", "--start-frame", "1001"];
    let child = barchan(folder.path(), &words).spawn().unwrap();
    let start = Instant::now();
    while !folder.path().join("shot/guides/001005.arrow").exists() && start.elapsed() < Duration::from_secs(60) {
        sleep(Duration::from_millis(5));
    }
    let interrupted = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(interrupted.success());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8(output.stderr).unwrap().contains("--resume"));
    let resume = ["run", "small.toml", "-o", "shot", "--resume"];
    let (code, said) = finish(folder.path(), &[&resume[..], &["--set", "seed=4"]].concat());
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("another scene"), "{said}");
    let (code, said) = finish(folder.path(), &[&resume[..], &["--start-frame", "1"]].concat());
    assert!(code == 2 && said.contains("begins with frame 1001, not 1"), "{said}");
    let (code, said) = finish(folder.path(), &resume);
    assert_eq!(code, 0, "{said}");
    assert!(folder.path().join("shot/guides/001061.arrow").exists());
}

#[test]
fn a_folder_called_like_a_built_in_scene_does_not_hide_it() {
    let folder = folder_with_scene();
    let words = ["run", "column", "-o", "column", "--frames", "1"];
    for words in [&words[..], &[&words[..], &["--resume"]].concat()] {
        let (code, said) = finish(folder.path(), words);
        assert_eq!(code, 0, "{said}");
    }
    fs::write(folder.path().join("odd.toml"), b"name = \"\xff\"").unwrap();
    let (code, said) = finish(folder.path(), &["check", "odd.toml"]);
    assert!(
        code == 2 && said.contains("UTF-8") && !said.contains("built-in"),
        "{said}"
    );
}

#[test]
fn a_resumed_run_of_which_no_frame_is_left_keeps_what_lies_behind_its_checkpoint() {
    let folder = folder_with_scene();
    let (code, said) = finish(folder.path(), &["run", "small.toml", "-o", "shot", "--frames", "4"]);
    assert_eq!(code, 0, "{said}");
    let early = fs::read(folder.path().join("shot/checkpoint/state")).unwrap();
    let (code, said) = finish(
        folder.path(),
        &["run", "small.toml", "-o", "shot", "--frames", "9", "--resume"],
    );
    assert_eq!(code, 0, "{said}");
    let whole = frames(&folder.path().join("shot"));
    // As if the run had been killed after its last frame and before its next checkpoint.
    fs::write(folder.path().join("shot/checkpoint/state"), early).unwrap();
    let again = ["run", "small.toml", "-o", "shot", "--resume", "--frames", "2"];
    let (code, said) = finish(folder.path(), &again);
    assert_eq!(code, 0, "{said}");
    assert!(frames(&folder.path().join("shot")) == whole, "frames are gone");
}

#[test]
fn nobody_has_to_listen() {
    let folder = folder_with_scene();
    fs::write(folder.path().join("wrong.toml"), "durration = 1").unwrap();
    for words in [&["check", "wrong.toml"][..], &["run", "small.toml", "--set", "a=1"]] {
        let mut child = barchan(folder.path(), words).spawn().unwrap();
        drop((child.stdout.take(), child.stderr.take()));
        assert_eq!(child.wait().unwrap().code(), Some(2), "{words:?}");
    }
}

#[test]
fn a_reader_that_has_left_is_no_failure() {
    let folder = folder_with_scene();
    let mut child = barchan(folder.path(), &["schema"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn wrong_input_is_refused_with_exit_code_two() {
    let folder = folder_with_scene();
    for (words, part) in [
        (&["run", "nowhere.toml"][..], "nowhere.toml"),
        (&["run", "small.toml", "--set", "solver.kind=magic"], "magic"),
        (&["run", "small.toml", "--set", "fill.0.radius=-1"], "radius"),
        (&["run", "small.toml", "--set", "refine.radius=1e100"], "radius"),
        (
            &["run", "small.toml", "--start-frame", "18446744073709551615"],
            "18446744073709551615",
        ),
        (&["check", "small.toml", "--set", "durration=1"], "duration"),
        (
            &[
                "check",
                "small.toml",
                "--set",
                "solver.kind=dem",
                "--set",
                "materials.sand.restitution=0",
            ],
            "restitution",
        ),
        (&["info", "nowhere"], "nowhere"),
        (&["export", "nowhere", "--to", "csv"], "nowhere"),
        (&["render", "nowhere", "-o", "p.png"], "nowhere"),
        (&["render", "nowhere", "-o", "p.jpg"], ".png"),
    ] {
        let (code, said) = finish(folder.path(), words);
        assert_eq!(code, 2, "{words:?}: {said}");
        assert!(said.contains(part), "{words:?}: {said}");
    }
}
