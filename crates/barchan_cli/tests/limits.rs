//! Numbers beyond any run are rejected with exit code 2, before any work. `check` reports the resources of a run.

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

#[test]
fn run_and_check_print_one_estimate_of_the_cache() {
    let folder = folder();
    // Most of the cache comes from the emitter, and a part from the surface of a body.
    let ring = "[[body]]\nname = \"ring\"\nshape = { torus = { major = 0.5, minor = 0.2 }, at = [4, 0, 1] }\n";
    fs::write(folder.path().join("s.toml"), format!("{SCENE}{ring}")).unwrap();
    let checked = barchan(&folder, &["check", "s.toml"]);
    let text = String::from_utf8(checked.stdout).unwrap();
    let (_, size) = text.lines().next().unwrap().rsplit_once("60 frames, ").unwrap();
    let size = size.strip_suffix(" of cache").unwrap();
    let output = barchan(&folder, &["run", "s.toml", "-o", "c", "--threads", "1"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success() && said.contains(&format!(", {size} for 60 frames")),
        "{size}: {said}"
    );
    // The estimate holds: the actual size is between half of it and one and a half times it.
    let row = barchan(&folder, &["check", "s.toml", "--json"]).stdout;
    let row: Value = serde_json::from_slice(&row).unwrap();
    let written = barchan::io::folder_bytes(&folder.path().join("c")).unwrap() as f64;
    let ratio = written / row["cache_bytes"].as_f64().unwrap();
    assert!((0.5..1.5).contains(&ratio), "{ratio}");
}

#[test]
fn check_refuses_what_run_refuses_and_nothing_else() {
    let fill = |more: &str| {
        format!(
            "duration = 1\n{more}\n[materials.sand]\ndensity = 1600\n[[body]]\nname = \"ground\"\n\
             shape = {{ half_space = {{ normal = [0, 0, 1], offset = -1 }} }}\n"
        )
    };
    let sand = "[[fill]]\nmaterial = \"sand\"\nradius = 0.05\n";
    let body = |shape: &str| format!("[[body]]\nname = \"d\"\nmotion = \"dynamic\"\ndensity = 1000\nshape = {shape}\n");
    let ball = format!("{sand}shape = {{ sphere = {{ radius = 0.3 }} }}\n");
    let cases = [
        // One guide fits in the middle, whatever the packing.
        (
            fill("") + sand + "shape = { sphere = { radius = 0.1 } }\n",
            0,
            "about 1 guide,",
        ),
        (
            fill("") + sand + "shape = { sphere = { radius = 0.04 } }\n",
            2,
            "no guide of radius 0.05 m fits",
        ),
        // Loose guides have kernels as wide as their share of the box.
        (
            fill("solver.kind = \"sph\"\nperiodic = { x = [-0.5, 0.5] }")
                + "[[fill]]\nmaterial = \"sand\"\nradius = 0.1\npacking = \"random\"\nshape = { box = { size = [0.8, 0.8, 0.8] } }\n",
            2,
            "a periodic range of 1.000e0 m is shorter than two kernels",
        ),
        (
            fill("") + &ball + &body("{ torus = { major = 0.5, minor = 1e-4 }, at = [3, 0, 0] }"),
            2,
            "cannot collide",
        ),
        (
            fill("") + &ball + &body("{ ellipsoid = { radii = [1, 1, 1e-4] }, at = [3, 0, 0] }"),
            2,
            "cannot collide",
        ),
        // Grains that do not fit are not an error.
        (fill("refine.radius = 1e6") + &ball, 0, "grains of 1000000 m are larger"),
        (
            fill("solver.kind = \"sph\"")
                + "[[emitter]]\nmaterial = \"sand\"\nradius = { min = 0.0005, max = 0.2 }\nrate = 1\n\
                   shape = { box = { size = [1, 1, 0.5] }, at = [0, 0, 2] }\n",
            2,
            "guides differ in size by a factor of 400",
        ),
    ];
    let folder = folder();
    for (text, code, reason) in cases {
        fs::write(folder.path().join("t.toml"), &text).unwrap();
        let checked = barchan(&folder, &["check", "t.toml"]);
        let said = [checked.stdout, checked.stderr].concat();
        let said = String::from_utf8(said).unwrap();
        assert!(
            checked.status.code() == Some(code) && said.contains(reason),
            "{text}\n{said}"
        );
        let run = barchan(
            &folder,
            &["run", "t.toml", "-o", "t", "--frames", "1", "--threads", "1", "--force"],
        );
        let said = String::from_utf8(run.stderr).unwrap();
        assert_eq!(run.status.code(), Some(code), "{text}\n{said}");
        assert!(code == 0 || said.contains(reason), "{text}\n{said}");
    }
}

#[test]
fn missing_folders_are_made_and_blocked_ones_are_failures_of_the_work() {
    let folder = folder();
    let shape = "{ sphere = { radius = 0.1 } }";
    fs::write(folder.path().join("file"), "").unwrap();
    let render = |output: &'static str| {
        vec![
            "render", "s.toml", "--frames", "1", "--size", "64x48", "--engine", "cpu", "-o", output,
        ]
    };
    for (output, words) in [
        (
            "a/b/x.ply",
            vec!["sample", shape, "--radius", "0.05", "-o", "a/b/x.ply"],
        ),
        ("c/d/x.png", render("c/d/x.png")),
        ("e/f/x.mp4", render("e/f/x.mp4")),
        ("g/h", render("g/h")),
        ("i/j", vec!["run", "s.toml", "--frames", "1", "-o", "i/j"]),
    ] {
        let done = barchan(&folder, &words);
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(
            done.status.success() && folder.path().join(output).exists(),
            "{words:?}: {said}"
        );
        // The same below a file.
        let blocked = format!("file/{output}");
        let words: Vec<&str> = words
            .iter()
            .map(|word| if *word == output { &blocked } else { *word })
            .collect();
        let failed = barchan(&folder, &words);
        let said = String::from_utf8_lossy(&failed.stderr);
        assert_eq!(failed.status.code(), Some(1), "{words:?}: {said}");
    }
}

#[test]
fn messages_are_short_and_say_only_what_holds() {
    let folder = folder();
    let shape = "{ sphere = { radius = 1 } }";
    for (words, reason) in [
        (vec!["sample", shape, "-o", "p.ply", "--radius", "1e308"], "1e308"),
        (
            vec!["sample", shape, "-o", "p.ply", "--radius", "1e-308"],
            "--radius must be from 1e-12 to 1e9 m",
        ),
        (
            vec![
                "sample",
                shape,
                "-o",
                "p.ply",
                "--radius",
                "0.1",
                "--surface",
                "--offset=-1e308",
            ],
            "--offset must be from -1e9 to 1e9 m, got -1e308",
        ),
        (vec!["refine", ".", "--floor", "1e308"], "got 1e308"),
        (vec!["render", "s.toml", "--fov", "1e308"], "got 1e308"),
    ] {
        let output = barchan(&folder, &words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(said.contains(reason) && said.len() < 200, "{words:?}: {said}");
    }
    // A run that is rejected does not start from the beginning.
    fs::write(folder.path().join("fine.toml"), SCENE.replace("0.02", "1e-5")).unwrap();
    let output = barchan(&folder, &["run", "fine.toml", "-o", "c", "--resume"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.code() == Some(2) && !said.contains("no checkpoint"),
        "{said}"
    );
    let output = barchan(&folder, &["check", "s.toml", "--set", "duration=0.01"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("; 1 frame, "), "{said}");
}
