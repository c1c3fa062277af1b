//! `barchan sweep` and `barchan render --shard`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::{TempDir, tempdir};

const SCENE: &str = r#"
name = "box"
duration = 0.1
[materials.sand]
density = 1600
[[fill]]
material = "sand"
radius = 0.04
settle = 0.1
shape = { box = { size = [0.3, 0.3, 0.2] }, at = [0, 0, 0.1] }
[[body]]
name = "ground"
shape = { half_space = { normal = [0, 0, 1] } }
[refine]
radius = 0.02
"#;

const VARY: [&str; 2] = ["--vary=seed=1,2", "--vary=refine.radius=0.02,0.03"];

fn folder() -> TempDir {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("box.toml"), SCENE).unwrap();
    folder
}

/// Returns exit code, standard output and standard error.
fn barchan(folder: &Path, words: &[&str]) -> (i32, String, String) {
    let program = env!("CARGO_BIN_EXE_barchan");
    let output = Command::new(program).current_dir(folder).args(words).output();
    let Output { status, stdout, stderr } = output.unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code().expect("no signal"), text(stdout), text(stderr))
}

fn sweep(folder: &Path, out: &str, words: &[&str]) -> (i32, String, String) {
    let start = ["sweep", "box.toml", "-o", out, "--frames=3"];
    barchan(folder, &[&start[..], &VARY, words].concat())
}

/// Returns the bytes of every frame of a sweep, and of its table.
fn bytes(sweep: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for name in ["table.csv", "table.arrow"] {
        found.insert(name.to_owned(), fs::read(sweep.join(name)).unwrap());
    }
    for run in fs::read_dir(sweep.join("runs")).unwrap() {
        for part in ["guides", "grains", "bodies"] {
            for file in fs::read_dir(run.as_ref().unwrap().path().join(part)).unwrap() {
                let path = file.unwrap().path();
                let name = path.strip_prefix(sweep).unwrap().display().to_string();
                found.insert(name, fs::read(path).unwrap());
            }
        }
    }
    found
}

#[test]
fn tasks_and_jobs_write_the_same_bytes_as_one_process() {
    let folder = folder();
    let path = folder.path();
    let (code, said, stderr) = sweep(path, "one", &["--json"]);
    assert_eq!(code, 0, "{stderr}");
    let rows: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 4, "{said}");
    assert_eq!(
        (&rows[2]["run"], &rows[2]["seed"]),
        (&Value::from(2), &Value::from(2.0))
    );
    assert!(rows[0]["grains"].as_f64() > rows[1]["grains"].as_f64(), "{said}");
    // Run 1 differs from run 0 in its grains only, and begins with the same settled guides.
    let settled: Vec<_> = fs::read_dir(path.join("one/settled"))
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert_eq!(settled.len(), 2, "{settled:?}");
    let one = bytes(&path.join("one"));
    assert_eq!(one.len(), 2 + 4 * 4 * 3);
    assert_eq!(
        one["runs/0000/guides/000003.arrow"],
        one["runs/0001/guides/000003.arrow"]
    );

    let (code, _, stderr) = sweep(path, "jobs", &["--jobs=2"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(bytes(&path.join("jobs")) == one);

    for task in ["3", "1", "2", "0"] {
        let (code, said, stderr) = sweep(path, "tasks", &["--task", task, "--threads=1"]);
        assert_eq!(code, 0, "{stderr}");
        assert!(said.starts_with("1 of 1 run in "), "{said}");
    }
    assert!(bytes(&path.join("tasks")) == one);
}

#[test]
fn settling_once_gives_the_bits_of_a_run_of_its_own() {
    let folder = folder();
    let path = folder.path();
    assert_eq!(sweep(path, "shared", &[]).0, 0);
    let own = [
        "run",
        "box.toml",
        "-o",
        "own",
        "--frames=3",
        "--set=seed=1",
        "--set=refine.radius=0.03",
    ];
    assert_eq!(barchan(path, &own).0, 0);
    for part in ["guides", "grains"] {
        let frame = |dir: &str| fs::read(path.join(dir).join(part).join("000003.arrow")).unwrap();
        assert!(frame("own") == frame("shared/runs/0001"), "{part}");
    }
}

#[test]
fn a_sweep_continues_and_repeats_only_what_failed() {
    let folder = folder();
    let path = folder.path();
    assert_eq!(sweep(path, "out", &["--task=0"]).0, 0);
    let row = path.join("out/rows/0000.json");
    let written = fs::metadata(&row).unwrap().modified().unwrap();
    let (code, said, stderr) = sweep(path, "out", &[]);
    assert_eq!((code, said.starts_with("4 of 4 runs in ")), (0, true), "{said}{stderr}");
    assert_eq!(fs::metadata(&row).unwrap().modified().unwrap(), written);
    let (code, _, stderr) = sweep(path, "out", &["--set=gravity=[0,0,-1]"]);
    assert!(code == 2 && stderr.contains("holds another sweep"), "{stderr}");
}

#[test]
fn wrong_sweeps_are_refused_before_anything_runs() {
    let folder = folder();
    let refused = |words: &[&str], message: &str| {
        let words = [&["sweep", "box.toml", "-o", "no"][..], words].concat();
        let (code, _, stderr) = barchan(folder.path(), &words);
        assert_eq!(code, 2, "{stderr}");
        assert!(stderr.contains(message), "{stderr}");
        assert!(!folder.path().join("no/runs").exists());
    };
    refused(&["--vary=seed"], "must be KEY=A,B,C");
    refused(&["--vary=seed=1", "--vary=seed=2"], "varied twice");
    refused(&["--vary=fill.0.radius=0.04,-1"], "run 0001 (fill.0.radius=-1)");
    refused(&["--vary=fill.0.raduis=0.04"], "did you mean `radius`?");
    refused(&["--vary=seed=1", "--task=0", "--jobs=2"], "cannot be used with");
    let words = ["sweep", "box.toml", "-o", "few", "--vary=seed=1,2", "--task=2"];
    let (code, _, stderr) = barchan(folder.path(), &words);
    assert!(code == 2 && stderr.contains("there is no run 2"), "{stderr}");
}

#[test]
fn a_failed_run_is_a_row_and_an_exit_code() {
    let folder = folder();
    let words = [
        "sweep",
        "box.toml",
        "--set=solver.kind=dem",
        "--vary=fill.0.velocity=[0,0,0],[0,0,-1e5]",
        "--frames=40",
        "--jobs=2",
        "-o",
        "out",
    ];
    let (code, _, stderr) = barchan(folder.path(), &words);
    assert_ne!(code, 0, "{stderr}");
    assert!(stderr.contains("run 0001 (fill.0.velocity=[0,0,-1e5])"), "{stderr}");
    let table = fs::read_to_string(folder.path().join("out/table.csv")).unwrap();
    assert!(table.lines().next().unwrap().ends_with(",error"), "{table}");
    assert_eq!(table.lines().count(), 3, "{table}");
}

#[test]
fn shards_draw_all_frames_together() {
    let folder = folder();
    let path = folder.path();
    assert_eq!(barchan(path, &["run", "box.toml", "-o", "cache", "--frames=4"]).0, 0);
    let draw = |words: &[&str]| {
        let start = ["render", "cache", "--size=32x24", "--engine=cpu"];
        barchan(path, &[&start[..], words].concat())
    };
    assert_eq!(draw(&["-o", "all"]).0, 0);
    for (shard, frames) in [("1/2", 3), ("2/2", 2)] {
        let (code, said, stderr) = draw(&["-o", "parts", "--shard", shard]);
        assert_eq!(code, 0, "{stderr}");
        assert!(said.starts_with(&format!("{frames} pictures in parts")), "{said}");
    }
    for frame in 0..5 {
        let picture = |dir: &str| fs::read(path.join(dir).join(format!("{frame:06}.png"))).unwrap();
        assert!(picture("all") == picture("parts"), "{frame}");
    }
    assert!(
        draw(&["-o", "none", "--shard", "9/9"])
            .1
            .contains("no frames in this shard")
    );
    for wrong in [&["-o", "a.mp4", "--shard", "1/2"][..], &["-o", "b", "--shard", "3/2"]] {
        assert_eq!(draw(wrong).0, 2);
    }
}
