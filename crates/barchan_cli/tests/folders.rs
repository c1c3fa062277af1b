//! The folder of a run: one writer at a time, nothing replaced without `--force`, and the conditions of `--resume`.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::{TempDir, tempdir};

/// A ball of sand falls beside a mesh.
const SCENE: &str = r#"
name = "drop"
duration = 0.1
frame_rate = 60

[materials.sand]
density = 1600

[[fill]]
material = "sand"
radius = 0.02
packing = "lattice"
shape = { sphere = { radius = 0.1 }, at = [0, 0, 0.3] }

[[body]]
name = "wedge"
shape = { mesh = "wedge.obj" }
"#;

fn wedge(height: f64) -> String {
    format!("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 {height}\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n")
}

fn scene() -> TempDir {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("drop.toml"), SCENE).unwrap();
    fs::write(folder.path().join("wedge.obj"), wedge(-1.0)).unwrap();
    folder
}

fn command(folder: &Path, words: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_barchan"));
    command.current_dir(folder).args(words.split_whitespace());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs to the end; returns the exit code and the output.
fn barchan(folder: &Path, words: &str) -> (i32, String) {
    let output = command(folder, words).output().unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    (output.status.code().expect("no signal"), text)
}

fn expect(folder: &Path, words: &str, code: i32, parts: &[&str]) -> String {
    let (found, said) = barchan(folder, words);
    assert_eq!(found, code, "{words}: {said}");
    for part in parts {
        assert!(said.contains(part), "{words}: no `{part}` in: {said}");
    }
    said
}

fn wait_for(path: &Path) {
    let start = Instant::now();
    while !path.exists() {
        assert!(start.elapsed() < Duration::from_secs(60), "{}", path.display());
        sleep(Duration::from_millis(5));
    }
}

/// Kills a process when the test ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn a_second_run_into_a_folder_is_refused_until_the_first_ends() {
    let folder = scene();
    let endless = "run drop.toml -o two --frames 1000000";
    let first = Running(command(folder.path(), endless).spawn().unwrap());
    wait_for(&folder.path().join("two/guides/000002.arrow"));
    let process = format!("process {}", first.0.id());
    for words in [
        "run drop.toml -o two",
        "run drop.toml -o two --force",
        "run drop.toml -o two --resume --frames 1000000",
        "refine two --radius 0.01",
    ] {
        expect(folder.path(), words, 2, &[&process, endless]);
    }
    // Reading is allowed.
    expect(folder.path(), "info two", 0, &["frames 0 to"]);
    drop(first);
    let frames = fs::read_dir(folder.path().join("two/guides")).unwrap().count();
    expect(
        folder.path(),
        &format!("run drop.toml -o two --resume --frames {frames}"),
        0,
        &[],
    );
    let stats = fs::read_to_string(folder.path().join("two/stats.jsonl")).unwrap();
    let rows = stats
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let numbers: Vec<u64> = rows.map(|row| row["frame"].as_u64().unwrap()).collect();
    assert!(numbers.iter().copied().eq(0..numbers.len() as u64), "{numbers:?}");
}

#[test]
fn a_cache_is_replaced_only_if_asked() {
    let folder = scene();
    expect(folder.path(), "run drop.toml", 0, &[]);
    let before = fs::read(folder.path().join("caches/drop/guides/000006.arrow")).unwrap();
    let other = "run drop.toml --set seed=2 --set fill.0.radius=0.03";
    expect(folder.path(), other, 2, &["caches/drop", "--resume", "--force"]);
    let path = folder.path().join("caches/drop/guides/000006.arrow");
    assert_eq!(fs::read(&path).unwrap(), before);
    // A scene that cannot be built leaves the old cache untouched.
    expect(folder.path(), "run drop.toml --force --set fill.0.radius=0.2", 2, &[]);
    assert_eq!(fs::read(&path).unwrap(), before);
    expect(folder.path(), &format!("{other} --force"), 0, &[]);
    assert_ne!(fs::read(&path).unwrap(), before);
}

#[test]
fn files_of_others_stay_and_empty_folders_are_taken() {
    let folder = scene();
    let own = folder.path().join("own");
    fs::create_dir_all(own.join("guides")).unwrap();
    fs::write(own.join("guides/000001.arrow"), "mine").unwrap();
    fs::write(own.join(".work.part"), "mine").unwrap();
    for force in ["", "--force", "--resume"] {
        expect(
            folder.path(),
            &format!("run drop.toml -o own {force}"),
            2,
            &["own/guides"],
        );
    }
    for file in ["guides/000001.arrow", ".work.part"] {
        assert_eq!(fs::read_to_string(own.join(file)).unwrap(), "mine");
    }
    fs::remove_dir_all(own.join("guides")).unwrap();
    expect(folder.path(), "run drop.toml -o own", 0, &[]);
    assert_eq!(fs::read_to_string(own.join(".work.part")).unwrap(), "mine");
}

#[test]
fn a_folder_is_tried_before_sand_settles() {
    let folder = scene();
    // Settling alone would take far longer than this test may.
    let slow = "--set fill.0.settle=1000 --set fill.0.radius=0.005";
    expect(
        folder.path(),
        &format!("run drop.toml -o drop.toml/below {slow}"),
        1,
        &["below"],
    );
    fs::create_dir_all(folder.path().join("own/stats.jsonl")).unwrap();
    fs::write(folder.path().join("own/stats.jsonl/a"), "").unwrap();
    expect(
        folder.path(),
        &format!("run drop.toml -o own {slow}"),
        2,
        &["stats.jsonl"],
    );
}

#[test]
fn resuming_without_a_checkpoint_starts_from_the_beginning() {
    let folder = scene();
    fs::create_dir(folder.path().join("empty")).unwrap();
    fs::create_dir(folder.path().join("locked")).unwrap();
    fs::write(folder.path().join("locked/.barchan.lock"), "").unwrap();
    expect(folder.path(), "run drop.toml -o lost", 0, &[]);
    fs::remove_dir_all(folder.path().join("lost/checkpoint")).unwrap();
    let other = "run drop.toml -o lost --resume --set seed=9";
    expect(folder.path(), other, 2, &["another scene"]);
    for dir in ["missing", "empty", "locked", "lost"] {
        let words = format!("run drop.toml -o {dir} --resume");
        expect(folder.path(), &words, 0, &["no checkpoint", "from the beginning"]);
        assert!(folder.path().join(dir).join("guides/000006.arrow").exists());
        let said = expect(folder.path(), &words, 0, &[]);
        assert!(!said.contains("beginning"), "{said}");
    }
}

#[test]
fn a_run_goes_on_only_with_the_same_files_and_the_same_version() {
    let folder = scene();
    let resume = "run drop.toml -o shot --resume --frames 8";
    expect(folder.path(), "run drop.toml -o shot --frames 4", 0, &[]);

    fs::write(folder.path().join("wedge.obj"), wedge(-1.5)).unwrap();
    expect(folder.path(), resume, 2, &["wedge.obj", "changed"]);
    fs::write(folder.path().join("wedge.obj"), wedge(-1.0)).unwrap();

    let manifest = folder.path().join("shot/manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
    value["version"] = "9.9.9".into();
    fs::write(&manifest, value.to_string()).unwrap();
    expect(folder.path(), resume, 2, &["9.9.9", env!("CARGO_PKG_VERSION")]);
    assert!(fs::read_to_string(&manifest).unwrap().contains("9.9.9"));
    fs::write(&manifest, &text).unwrap();

    let (guides, away) = (folder.path().join("shot/guides"), folder.path().join("away"));
    fs::rename(&guides, &away).unwrap();
    expect(folder.path(), resume, 2, &["guides/000000.arrow", "is missing"]);
    fs::rename(&away, &guides).unwrap();
    expect(folder.path(), resume, 0, &[]);
}

#[test]
fn sizes_are_estimated_before_the_first_frame_and_the_folders_at_the_end() {
    let folder = scene();
    let words = "run drop.toml -o shot --json --frames 20 --set refine.radius=0.005";
    let output = command(folder.path(), words).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("per frame") && said.contains("for 20 frames"), "{said}");
    let row: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let listed = Command::new("find")
        .args(["shot", "-type", "f", "-printf", "%s\n"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let bytes: u64 = String::from_utf8(listed.stdout)
        .unwrap()
        .lines()
        .map(|line| line.parse::<u64>().unwrap())
        .sum();
    assert_eq!(row["bytes"].as_u64().unwrap(), bytes);
    let estimate = said.split("for 20 frames").next().unwrap().rsplit(", ").next().unwrap();
    let (number, unit) = estimate.trim().split_once(' ').unwrap();
    let unit = if unit == "MB" { 1e6 } else { 1e3 };
    let estimate = number.parse::<f64>().unwrap() * unit;
    assert!(
        (0.7..1.4).contains(&(estimate / bytes as f64)),
        "estimated {estimate}, {bytes} written: {said}"
    );
}
