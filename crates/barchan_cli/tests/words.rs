//! Words that the program prints: progress before the first frame, timings and next commands of a run, numbers and
//! counts.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::{TempDir, tempdir};

const SCENE: &str = r#"
name = "small"
duration = 0.1
[materials.sand]
density = 1600
[[fill]]
material = "sand"
radius = 0.04
settle = 0.1
shape = { box = { size = [0.4, 0.4, 0.4] } }
[[body]]
name = "floor"
shape = { box = { size = [1, 1, 0.2] }, at = [0, 0, -0.3] }
[refine]
radius = 0.02
"#;

fn folder_with(scene: &str) -> TempDir {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("small.toml"), scene).unwrap();
    folder
}

fn barchan(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_barchan"));
    command.current_dir(folder).args(words);
    command
}

/// Returns exit code, standard output and standard error.
fn finish(folder: &Path, words: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } = barchan(folder, words).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code().expect("no signal"), text(stdout), text(stderr))
}

#[test]
fn a_run_names_its_phases_in_order_and_the_next_commands() {
    let folder = folder_with(SCENE);
    let (code, said, stderr) = finish(folder.path(), &["run", "small.toml", "-o", "my cache"]);
    assert_eq!(code, 0, "{stderr}");
    let phases = ["packing guides", "building bodies", "settling", "seeding grains"];
    let places: Vec<_> = phases.iter().map(|phase| stderr.find(phase)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{stderr}");
    assert!(said.contains("\n  build "), "{said}");
    for next in ["render 'my cache'", "view 'my cache'", "export 'my cache' --to vtk"] {
        assert!(said.contains(&format!("\n  barchan {next}\n")), "{said}");
    }
}

#[test]
fn the_build_time_is_in_the_json_row_and_nothing_else_is_on_standard_output() {
    let folder = folder_with(SCENE);
    let (code, said, stderr) = finish(folder.path(), &["run", "small.toml", "--json"]);
    assert_eq!(code, 0, "{stderr}");
    let row: serde_json::Value = serde_json::from_str(&said).unwrap();
    let seconds = |key: &str| row[key].as_f64().unwrap_or_else(|| panic!("{key} in {row}"));
    let parts = ["packing", "bodies", "settling", "seeding"].map(|part| seconds(&format!("{part}_seconds")));
    assert!(parts.iter().all(|part| *part > 0.0), "{row}");
    assert!(parts.iter().sum::<f64>() <= seconds("build_seconds"), "{row}");
}

#[test]
fn an_interrupt_stops_the_settling_and_says_so() {
    let folder = folder_with(&SCENE.replace("settle = 0.1", "settle = 1000"));
    for command in ["run", "render"] {
        let mut child = barchan(folder.path(), &[command, "small.toml"])
            .stderr(fs::File::create(folder.path().join("stderr")).unwrap())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let stderr = || fs::read_to_string(folder.path().join("stderr")).unwrap();
        let start = Instant::now();
        while !stderr().contains("settling") && start.elapsed() < Duration::from_secs(60) {
            sleep(Duration::from_millis(5));
        }
        let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(kill.unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(1));
        assert!(stderr().contains("stopped while settling"), "{}", stderr());
    }
}

#[test]
fn counts_are_singular_or_plural_and_the_program_has_its_name() {
    let folder = folder_with("duration = \"x\"");
    let (code, _, stderr) = finish(folder.path(), &["check", "small.toml"]);
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("1 error, 1 warning\n"), "{stderr}");
    let (_, said, _) = finish(folder.path(), &["--version"]);
    assert_eq!(said.trim(), concat!("barchan ", env!("CARGO_PKG_VERSION")));
    fs::write(folder.path().join("small.toml"), SCENE).unwrap();
    let (code, said, stderr) = finish(
        folder.path(),
        &[
            "render",
            "small.toml",
            "-o",
            "pictures",
            "--frames",
            "0",
            "--size",
            "32x32",
        ],
    );
    assert_eq!(code, 0, "{stderr}");
    assert!(said.contains("1 picture in"), "{said}");
}

#[test]
fn computed_numbers_have_no_binary_tails() {
    let folder = folder_with(SCENE);
    let words = ["run", "small.toml", "--set", "fill.0.radius=0.0002"];
    let (code, _, stderr) = finish(folder.path(), &words);
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("0.0002 m") && !stderr.contains("0.000199"), "{stderr}");
}

#[cfg(unix)]
#[test]
fn a_cache_that_cannot_be_looked_at_is_not_said_to_be_missing() {
    let folder = folder_with(SCENE);
    std::os::unix::fs::symlink("loop", folder.path().join("loop")).unwrap();
    let (code, _, stderr) = finish(folder.path(), &["info", "loop"]);
    assert_eq!(code, 2, "{stderr}");
    assert!(!stderr.contains("does not exist"), "{stderr}");
    let (_, _, stderr) = finish(folder.path(), &["info", "nothing"]);
    assert!(stderr.contains("does not exist"), "{stderr}");
}
