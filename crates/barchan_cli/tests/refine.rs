//! `barchan refine` on files that another program wrote, and exports, from a user's view.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::{TempDir, tempdir};

/// Runs to the end; returns the exit code and the output.
fn barchan(folder: &Path, words: &[&str]) -> (i32, String) {
    let program = env!("CARGO_BIN_EXE_barchan");
    let output = Command::new(program).current_dir(folder).args(words).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (
        output.status.code().expect("no signal"),
        String::from_utf8(text).unwrap(),
    )
}

fn done(folder: &Path, words: &[&str]) -> String {
    let (code, said) = barchan(folder, words);
    assert_eq!(code, 0, "{words:?}: {said}");
    said
}

/// A block of guides whose lower corner is at `x` and 0.02 m above `z`.
fn block(x: f64, z: f64) -> String {
    let mut text = "id,x,y,z,radius\n".to_owned();
    for k in 0..27 {
        let [i, j, l] = [k % 3, k / 3 % 3, k / 9].map(f64::from);
        let (x, y, z) = (x + 0.04 * i, 0.04 * j, z + 0.02 + 0.04 * l);
        writeln!(text, "{k},{x},{y},{z},0.02").unwrap();
    }
    text
}

/// Creates a folder `files` with these files.
fn files(all: impl IntoIterator<Item = (String, String)>) -> TempDir {
    let folder = tempdir().unwrap();
    fs::create_dir(folder.path().join("files")).unwrap();
    for (name, text) in all {
        fs::write(folder.path().join("files").join(name), text).unwrap();
    }
    folder
}

/// Returns one column of an exported table of frame `number`.
fn column(folder: &Path, cache: &str, part: &str, number: u32, name: &str) -> Vec<f64> {
    done(folder, &["export", cache, "--to", "csv"]);
    let path = match part {
        "bodies" => folder.join(cache).join("csv/bodies.csv"),
        _ => folder.join(cache).join(format!("csv/{part}/{number:06}.csv")),
    };
    let text = fs::read_to_string(path).unwrap();
    let at = text
        .lines()
        .next()
        .unwrap()
        .split(',')
        .position(|cell| cell == name)
        .unwrap();
    text.lines()
        .skip(1)
        .map(|line| line.split(',').nth(at).unwrap().parse().unwrap())
        .collect()
}

fn lowest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

#[test]
fn a_series_is_read_in_the_order_of_its_numbers() {
    // 12 files at 60 per second, one millimeter between them.
    let folder = files((0..12).map(|k| {
        let name = if k % 4 == 3 {
            format!("f{k:03}.csv")
        } else {
            format!("f{k}.csv")
        };
        (name, block(0.001 * f64::from(k), 0.0))
    }));
    done(folder.path(), &["refine", "files", "--radius", "0.01"]);
    for frame in 1..12 {
        let x = column(folder.path(), "files-grains", "guides", frame, "velocity_x");
        assert!(x.iter().all(|v| (v - 0.06).abs() < 1e-4), "frame {frame}: {x:?}");
    }
    fs::write(folder.path().join("files/f3.ply"), "ply").unwrap();
    let (code, said) = barchan(folder.path(), &["refine", "files"]);
    assert!(code == 2 && said.contains(".csv and .ply"), "{said}");
}

/// Guides that disappear after the second file, where another one is far above: their grains fall freely.
fn falling() -> TempDir {
    let text = |k: u32| match k {
        0 | 1 => block(0.0, 0.0),
        _ => "id,x,y,z,radius\n99,3,0,5,0.02\n".to_owned(),
    };
    files((0..30).map(|k| (format!("f{k}.csv"), text(k))))
}

#[test]
fn grains_rest_on_a_floor_and_on_the_bodies_of_a_scene() {
    let folder = falling();
    let at = folder.path();
    let refined = |output: &str, words: &[&str]| {
        let common = [
            "refine",
            "files",
            "--radius",
            "0.008",
            "--frame-rate",
            "60",
            "-o",
            output,
        ];
        done(at, &[&common[..], words].concat());
        lowest(&column(at, output, "grains", 29, "z"))
    };
    let free = refined("free", &[]);
    assert!(free < -0.5, "{free}: nothing holds them");
    let floor = refined("floor", &["--floor", "-0.1"]);
    assert!(floor > -0.105 && floor < -0.08, "{floor}");

    // A plate whose top, initially at -0.1, rises by 0.3 m/s.
    let scene = r#"
duration = 1
[materials.gravel]
density = 2000
[[body]]
name = "plate"
motion = "scripted"
shape = { box = { size = [4, 4, 0.2] } }
keys = [{ time = 0, at = [0, 0, -0.2] }, { time = 1, at = [0, 0, 0.1], ease = "linear" }]
[[body]]
name = "ball"
motion = "dynamic"
density = 3000
shape = { sphere = { radius = 0.1 }, at = [0, 0, 3] }
"#;
    fs::write(at.join("plate.toml"), scene).unwrap();
    let top = -0.1 + 0.3 * 29.0 / 60.0;
    let plate = refined("plate", &["--scene", "plate.toml"]);
    assert!(
        plate > top - 0.005 && plate < top + 0.02,
        "{plate}, the plate is at {top}"
    );
    let heights = column(at, "plate", "bodies", 0, "z");
    assert_eq!(heights.len(), 30, "the ball is left out");
    assert!((heights[29] - (top - 0.1)).abs() < 1e-9, "{heights:?}");
    let said = done(at, &["refine", "files", "-o", "again", "--scene", "plate.toml"]);
    assert!(said.contains("`ball` is left out"), "{said}");

    fs::write(at.join("ramp.obj"), "v -9 -9 -0.05\nv 99 -9 -0.05\nv 99 9 -0.05\nv -9 9 -0.05\nv 0 0 -9\nf 1 2 3 4\nf 2 1 5\nf 3 2 5\nf 4 3 5\nf 1 4 5\n").unwrap();
    let mesh = refined("mesh", &["--bodies", "ramp.obj"]);
    assert!(mesh > -0.055 && mesh < -0.03, "{mesh}");
}

#[test]
fn guides_that_cross_a_periodic_face_keep_their_velocity() {
    let x = |k: i32, i: i32| (0.3 + 0.1 * f64::from(k) + 0.1 * f64::from(i)).rem_euclid(1.0);
    let folder = files((0..10).map(|k| {
        let mut text = "id,x,y,z,radius\n".to_owned();
        (0..5).for_each(|i| writeln!(text, "{i},{},0,0,0.04", x(k, i)).unwrap());
        (format!("f{k}.csv"), text)
    }));
    let scene = "duration = 1\nperiodic = { x = [0, 1] }\n[materials.sand]\ndensity = 1600\n";
    fs::write(folder.path().join("ring.toml"), scene).unwrap();
    done(
        folder.path(),
        &["refine", "files", "--scene", "ring.toml", "--frame-rate", "10"],
    );
    for frame in 1..10 {
        let v = column(folder.path(), "files-grains", "guides", frame, "velocity_x");
        assert!(v.iter().all(|v| (v - 1.0).abs() < 1e-4), "frame {frame}: {v:?}");
    }
}

#[test]
fn mistakes_in_files_are_reported_with_their_place() {
    let good = block(0.0, 0.0);
    let folder = files([("f0.csv".to_owned(), good.clone()), ("f1.csv".to_owned(), good.clone())]);
    let at = folder.path();
    let broken = |from: &str, to: &str| fs::write(at.join("files/f1.csv"), good.replacen(from, to, 1)).unwrap();
    for (from, to, reason) in [
        ("0,0,0,0.02,0.02", "0,0,0,0.02,-0.02", "line 2, column `radius`: -0.02"),
        ("0,0,0,0.02,0.02", "0,0,0,0.02,abc", "line 2, column `radius`: `abc`"),
        ("0,0,0,0.02,0.02", "0,0,nan,0.02,0.02", "line 2, column `y`: NaN"),
        ("1,0.04", "0,0.04", "line 3: the id 0 is that of line 2"),
    ] {
        broken(from, to);
        let (code, said) = barchan(
            at,
            &["refine", "files", "-o", "out", "--force", "--guide-radius", "0.02"],
        );
        assert!(code == 2 && said.contains("f1.csv") && said.contains(reason), "{said}");
    }
    broken("radius", "size");
    let (code, said) = barchan(at, &["refine", "files", "--force", "-o", "out"]);
    assert!(
        code == 2 && said.contains("f1.csv") && said.contains("--guide-radius"),
        "{said}"
    );
    for words in [
        &["--guide-radius", "-1"][..],
        &["--floor", "nan"],
        &["--floor", "1e300"],
        &["--scene", "nowhere.toml"],
        &["--bodies", "nowhere.obj"],
        &["--set", "seed=2"],
    ] {
        let (code, said) = barchan(at, &[&["refine", "files", "--force", "-o", "out"][..], words].concat());
        assert_eq!(code, 2, "{words:?}: {said}");
    }
}

#[test]
fn exports_that_cannot_be_written_are_failures_of_the_work() {
    let folder = files((0..2).map(|k| (format!("f{k}.csv"), block(0.0, 0.0))));
    let at = folder.path();
    done(at, &["refine", "files", "--radius", "0.01", "-o", "cache"]);
    fs::write(at.join("file"), "").unwrap();
    for kind in ["usd", "alembic", "bgeo", "vdb", "gltf", "vtk", "ply", "csv"] {
        let (code, said) = barchan(at, &["export", "cache", "--to", kind, "-o", "file/out"]);
        assert_eq!(code, 1, "{kind}: {said}");
        let (code, said) = barchan(at, &["export", "nowhere", "--to", kind]);
        assert_eq!(code, 2, "{kind}: {said}");
    }
}

/// A scene whose sand lies between 0 and 0.3 m.
const HEAP: &str = "duration = 1\n[materials.sand]\ndensity = 1600\n[[fill]]\nmaterial = \"sand\"\nradius = 0.05\n\
    packing = \"lattice\"\nshape = { box = { size = [0.3, 0.3, 0.3] }, at = [0, 0, 0.2] }\n\
    [[body]]\nname = \"ground\"\nshape = { half_space = { normal = [0, 0, 1] } }\n";

/// Returns every file below a folder with its bytes, except locks.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(contents(&path));
        } else if !path.ends_with(".barchan.lock") {
            all.push((path.to_string_lossy().into_owned(), fs::read(&path).unwrap()));
        }
    }
    all.sort();
    all
}

#[test]
fn a_cache_without_room_for_grains_gets_none_and_a_warning() {
    let folder = tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("heap.toml"), HEAP).unwrap();
    done(at, &["run", "heap.toml", "-o", "cache", "--frames", "6"]);
    // All sand lies below this floor.
    let said = done(at, &["refine", "cache", "--radius", "0.03", "--floor", "1"]);
    assert!(
        said.contains("0 grains") && said.contains("there are no grains"),
        "{said}"
    );
    done(at, &["info", "cache"]);
    assert!(column(at, "cache", "grains", 6, "z").is_empty());
}

#[test]
fn a_cache_is_refined_where_it_is_once_or_elsewhere() {
    let folder = tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("heap.toml"), HEAP).unwrap();
    done(at, &["run", "heap.toml", "-o", "cache", "--frames", "3"]);
    let bare = contents(&at.join("cache"));

    let said = done(at, &["refine", "cache", "--radius", "0.02", "-o", "other"]);
    assert!(said.contains("in other"), "{said}");
    assert_eq!(contents(&at.join("cache")), bare, "only the copy has grains");
    let grains = column(at, "other", "grains", 3, "z").len();
    assert!(grains > 50, "{grains}");
    for part in ["guides", "bodies", "meshes"] {
        let bytes = |cache: &str| -> Vec<Vec<u8>> {
            let files = contents(&at.join(cache).join(part));
            files.into_iter().map(|(_, bytes)| bytes).collect()
        };
        assert_eq!(bytes("other"), bytes("cache"), "{part}");
    }

    done(at, &["refine", "cache", "--radius", "0.02", "-o", "./cache"]);
    assert_eq!(column(at, "cache", "grains", 3, "z").len(), grains);
    let refined = contents(&at.join("cache"));
    for (words, reason) in [
        (&["refine", "cache", "--radius", "0.025"][..], "has grains already"),
        (&["refine", "cache", "-o", "other"], "is a cache already"),
        // A third file that cannot be read, after two frames were refined.
        (
            &["refine", "cache", "--radius", "0.025", "--force"],
            "000002.arrow is damaged",
        ),
    ] {
        let broken = reason.contains("damaged");
        let guides = at.join("cache/guides/000002.arrow");
        let good = fs::read(&guides).unwrap();
        if broken {
            fs::write(&guides, &good[..good.len() / 2]).unwrap();
        }
        let (code, said) = barchan(at, words);
        assert!(code == 2 && said.contains(reason), "{words:?}: {code}: {said}");
        fs::write(&guides, &good).unwrap();
        assert_eq!(contents(&at.join("cache")), refined, "{words:?}");
    }
    done(at, &["refine", "cache", "--radius", "0.025", "--force"]);
    let fewer = column(at, "cache", "grains", 3, "z").len();
    assert!(fewer < grains, "{fewer} of {grains}");
}

#[test]
fn files_that_cannot_be_refined_leave_nothing_behind() {
    let folder = files((0..3).map(|k| (format!("f{k}.csv"), block(0.0, 0.0))));
    let at = folder.path();
    let bad = |words: &[&str]| {
        let (code, said) = barchan(at, &[&["refine", "files"][..], words].concat());
        assert_eq!(code, 2, "{words:?}: {said}");
    };
    bad(&["--radius", "-1"]);
    assert!(!at.join("files-grains").exists());
    fs::write(at.join("files/f2.csv"), "id,x,y,z,radius\n0,0,0,0,-1\n").unwrap();
    bad(&["--radius", "0.01"]);
    assert!(!at.join("files-grains").exists());
    fs::write(at.join("files/f2.csv"), block(0.0, 0.0)).unwrap();
    done(at, &["refine", "files", "--radius", "0.01"]);
    let before = contents(&at.join("files-grains"));
    bad(&["--radius", "-1", "--force"]);
    bad(&["--radius", "0.01"]);
    assert_eq!(contents(&at.join("files-grains")), before);
    assert!(!at.join("files-grains/.barchan.part").exists());
}
