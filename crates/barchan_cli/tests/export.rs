//! `barchan export` and `barchan mesh` from a user's view. The files' contents are read by the programs that they are
//! for: see `.ci/readers`.

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

const HEAP: &str = r##"
name = "heap"
duration = 0.1
frame_rate = 40
[materials.sand]
density = 1600
color = "#808080"
[[fill]]
material = "sand"
radius = 0.03
shape = { box = { size = [0.4, 0.4, 0.2] }, at = [0, 0, 0.15] }
[[body]]
name = "ground"
shape = { half_space = { normal = [0, 0, 1] } }
"##;

/// A folder with the cache `heap` of five frames.
fn heap() -> TempDir {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("heap.toml"), HEAP).unwrap();
    done(folder.path(), &["run", "heap.toml", "-o", "heap", "--threads", "1"]);
    folder
}

/// Returns the names of the files in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn frames_and_parts_are_selected() {
    let folder = heap();
    let at = folder.path();
    let words = [
        "export", "heap", "--to", "ply", "--frames", "1..4", "--every", "2", "--only", "guides", "-o", "some",
    ];
    done(at, &words);
    assert_eq!(names(&at.join("some")), ["guides"]);
    assert_eq!(names(&at.join("some/guides")), ["000001.ply", "000003.ply"]);
    for (words, what) in [
        (&["--to", "usd", "--frames", "7..9"][..], "the cache has frames 0 to 4"),
        (&["--to", "usd", "--frames", "4..1"], "4 is after 1"),
        (&["--to", "usd", "--every", "0"], "0"),
        (&["--to", "usd", "--scale", "0"], "scale must be positive"),
        (&["--to", "usd", "--voxel", "0.1"], "--voxel is for vdb only"),
        (&["--to", "vdb", "--voxel", "0"], "voxel must be positive"),
        (&["--to", "vdb", "--voxel", "1e-12"], "take larger voxels"),
        (&["--to", "usd", "--only", "joints"], "--only joints is not for usd"),
        (&["--to", "ply", "--instances"], "--instances is for usd only"),
        (&["--to", "fbx"], "fbx"),
    ] {
        let (code, said) = barchan(at, &[&["export", "heap"], words].concat());
        assert!(code == 2 && said.contains(what), "{words:?}: {code} {said}");
    }
}

#[test]
fn colors_are_around_that_of_the_material() {
    let folder = heap();
    done(folder.path(), &["export", "heap", "--to", "csv"]);
    let text = fs::read_to_string(folder.path().join("heap/csv/guides/000004.csv")).unwrap();
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    assert!(header.ends_with(&["red", "green", "blue"]), "{header:?}");
    let reds: Vec<u8> = lines
        .map(|line| line.split(',').nth(header.len() - 3).unwrap().parse().unwrap())
        .collect();
    let mean = reds.iter().map(|&red| f64::from(red)).sum::<f64>() / reds.len() as f64;
    assert!((108.0..148.0).contains(&mean), "{mean}");
    // Particles differ from each other.
    assert!(reds.iter().max().unwrap() - reds.iter().min().unwrap() > 20);
}

#[test]
fn the_surface_of_a_box_of_sand_is_a_box() {
    let folder = heap();
    let at = folder.path();
    let said = done(
        at,
        &[
            "mesh", "heap", "--to", "obj", "--frames", "..2", "--every", "2", "--scale", "100", "--up", "y",
        ],
    );
    assert!(said.contains("2 frames in heap/mesh"), "{said}");
    assert_eq!(names(&at.join("heap/mesh")), ["000000.obj", "000002.obj"]);
    let text = fs::read_to_string(at.join("heap/mesh/000000.obj")).unwrap();
    let numbers = |line: &str| {
        line.split(' ')
            .skip(1)
            .map(|x| x.parse().unwrap())
            .collect::<Vec<f64>>()
    };
    let vertices: Vec<Vec<f64>> = text
        .lines()
        .filter(|line| line.starts_with("v "))
        .map(numbers)
        .collect();
    assert!(vertices.len() > 500 && text.lines().any(|line| line.starts_with("f ")));
    let ends = |axis: usize| {
        let values = || vertices.iter().map(|v| v[axis]);
        (values().fold(f64::MAX, f64::min), values().fold(f64::MIN, f64::max))
    };
    // In centimeters, y upwards; the surface is within half a radius of the fill.
    for (axis, low, high) in [(0, -20.0, 20.0), (1, 5.0, 25.0), (2, -20.0, 20.0)] {
        let (lowest, highest) = ends(axis);
        assert!(
            (lowest - low).abs() < 1.5 && (highest - high).abs() < 1.5,
            "axis {axis}: {lowest} to {highest}"
        );
    }
    for (kind, file) in [("ply", "000004.ply"), ("usd", "surface.usdc")] {
        done(
            at,
            &["mesh", "heap", "--to", kind, "--frames", "4", "--guides", "-o", kind],
        );
        assert_eq!(names(&at.join(kind)), [file]);
    }
    for (words, what) in [
        (&["--to", "obj", "--radius", "0"][..], "radius must be positive"),
        (&["--to", "obj", "--cell", "9"], "the cell must be 0.1 to 2 radii"),
        (&["--to", "obj", "--scale", "nan"], "scale must be positive"),
        (&["--to", "obj", "--frames", "9.."], "has no guides in these frames"),
        (&["--to", "stl"], "stl"),
    ] {
        let (code, said) = barchan(at, &[&["mesh", "heap"], words].concat());
        assert!(code == 2 && said.contains(what), "{words:?}: {code} {said}");
    }
    let (code, _) = barchan(at, &["mesh", "nowhere", "--to", "obj"]);
    assert_eq!(code, 2);
}

#[test]
fn a_surface_is_the_same_for_any_number_of_threads() {
    let folder = heap();
    let at = folder.path();
    let mesh = |threads: &str| {
        done(
            at,
            &[
                "mesh",
                "heap",
                "--to",
                "ply",
                "--frames",
                "3",
                "--threads",
                threads,
                "-o",
                threads,
            ],
        );
        fs::read(at.join(threads).join("000003.ply")).unwrap()
    };
    assert_eq!(mesh("1"), mesh("2"));
}
