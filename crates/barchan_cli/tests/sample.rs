//! `barchan sample` from a user's view: its files, and its messages on wrong input.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::{TempDir, tempdir};

fn barchan(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_barchan"));
    command.current_dir(folder);
    command
}

/// Runs `barchan sample` with more arguments; returns exit code, standard output and standard error.
fn sample(folder: &Path, words: &[&str]) -> (i32, String, String) {
    let output = barchan(folder).arg("sample").args(words).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code().expect("no signal"),
        text(output.stdout),
        text(output.stderr),
    )
}

/// Asserts exit code 2, a message with all of `parts`, and that no file was left behind.
fn refused(folder: &TempDir, words: &[&str], parts: &[&str]) {
    let before = fs::read_dir(folder.path()).unwrap().count();
    let (code, _, message) = sample(folder.path(), words);
    assert_eq!(code, 2, "{words:?}: {message}");
    for part in parts {
        assert!(message.contains(part), "{words:?}: `{part}` is not in: {message}");
    }
    assert!(message.lines().any(|line| line.starts_with("error:")), "{message}");
    assert!(!message.contains("panicked"), "{message}");
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        before,
        "{words:?} left a file"
    );
}

const BALL: &str = "{ sphere = { radius = 0.1 } }";
const TETRAHEDRON: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";

fn with_file(name: &str, content: &[u8]) -> TempDir {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join(name), content).unwrap();
    folder
}

#[test]
fn a_mesh_becomes_particles_in_every_format() {
    let folder = with_file("castle.obj", TETRAHEDRON.as_bytes());
    let mut counts = Vec::new();
    for file in ["points.ply", "points.vtp", "points.csv", "points.xyz"] {
        let (code, out, err) = sample(folder.path(), &["castle.obj", "--radius", "0.03", "-o", file, "--json"]);
        assert_eq!(code, 0, "{err}");
        let row: Value = serde_json::from_str(&out).unwrap();
        assert!(row["packing"].as_f64().unwrap() > 0.35, "{row}");
        assert!(row["min_distance"].as_f64().unwrap() > 0.99, "{row}");
        assert!(row["seconds"].as_f64().unwrap() > 0.0, "{row}");
        counts.push(row["count"].as_u64().unwrap() as usize);
    }
    assert!(counts.iter().all(|&c| c == counts[0] && c > 100), "{counts:?}");
    let read = |file: &str| fs::read(folder.path().join(file)).unwrap();
    let lines = |file: &str| String::from_utf8(read(file)).unwrap().lines().count();
    assert_eq!(lines("points.xyz"), counts[0]);
    assert_eq!(lines("points.csv"), counts[0] + 1);
    let ply = read("points.ply");
    let end = ply.windows(11).position(|w| w == b"end_header\n").unwrap() + 11;
    assert_eq!(ply.len() - end, 16 * counts[0]);
}

#[test]
fn plain_output_names_count_packing_distance_and_time() {
    let folder = tempdir().unwrap();
    let (code, out, err) = sample(folder.path(), &[BALL, "--radius", "0.02", "-o", "points.ply"]);
    assert_eq!(code, 0, "{err}");
    for part in [
        "particles in points.ply",
        "packing fraction",
        "smallest distance",
        "time",
    ] {
        assert!(out.contains(part), "{out}");
    }
}

#[test]
fn one_thread_and_three_write_the_same_file() {
    let folder = tempdir().unwrap();
    for packing in ["dense", "random", "lattice"] {
        for threads in ["1", "3"] {
            let words = [
                BALL,
                "--radius",
                "0.01..0.015",
                "--packing",
                packing,
                "--threads",
                threads,
                "-o",
            ];
            let (code, _, err) = sample(folder.path(), &[&words[..], &[&format!("{threads}.ply")]].concat());
            assert_eq!(code, 0, "{err}");
        }
        let read = |file: &str| fs::read(folder.path().join(file)).unwrap();
        assert_eq!(read("1.ply"), read("3.ply"), "{packing}");
    }
}

#[test]
fn a_surface_is_covered_with_normals() {
    let folder = tempdir().unwrap();
    let words = [
        BALL,
        "--surface",
        "--radius",
        "0.01",
        "--offset",
        "-0.01",
        "-o",
        "cover.csv",
        "--json",
    ];
    let (code, out, err) = sample(folder.path(), &words);
    assert_eq!(code, 0, "{err}");
    let row: Value = serde_json::from_str(&out).unwrap();
    assert!(row["gap"].as_f64().unwrap() < 2.0, "{row}");
    let text = fs::read_to_string(folder.path().join("cover.csv")).unwrap();
    assert!(text.starts_with("x,y,z,radius,nx,ny,nz\n"), "{text:.60}");
    for line in text.lines().skip(1) {
        let numbers: Vec<f64> = line.split(',').map(|n| n.parse().unwrap()).collect();
        let distance = numbers[..3].iter().map(|c| c * c).sum::<f64>().sqrt();
        assert!((distance - 0.09).abs() < 2e-4, "{line}");
    }
}

#[test]
fn a_shape_may_come_from_a_file() {
    let folder = with_file("ball.toml", b"shape = { sphere = { radius = 0.1 } }\n");
    let (code, _, err) = sample(folder.path(), &["ball.toml", "--radius", "0.02", "-o", "points.xyz"]);
    assert_eq!(code, 0, "{err}");
}

#[test]
fn a_mesh_file_may_be_called_anything() {
    let folder = with_file("size=1.obj", TETRAHEDRON.as_bytes());
    let (code, _, err) = sample(folder.path(), &["size=1.obj", "--radius", "0.05", "-o", "points.xyz"]);
    assert_eq!(code, 0, "{err}");
}

#[test]
fn faults_of_a_mesh_are_warned_of() {
    let with_duplicate = format!("{TETRAHEDRON}f 1 3 2\n");
    let folder = with_file("castle.obj", with_duplicate.as_bytes());
    let (code, _, err) = sample(folder.path(), &["castle.obj", "--radius", "0.05", "-o", "points.ply"]);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("warning:") && err.contains("duplicate"), "{err}");
}

/// A box between two corners as OBJ, its vertices counted from `first`.
fn obj_box(low: [f64; 3], high: [f64; 3], first: u32) -> String {
    let corner = |k: usize, axis: usize| if k >> axis & 1 == 0 { low[axis] } else { high[axis] };
    let vertices = (0..8).map(|k| format!("v {} {} {}\n", corner(k, 0), corner(k, 1), corner(k, 2)));
    let sides = [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ];
    let sides = sides.map(|side| {
        let [a, b, c, d] = side.map(|v: u32| v + first);
        format!("f {a} {b} {c} {d}\n")
    });
    vertices.chain(sides).collect()
}

#[test]
fn shells_that_overlap_count_once_in_volume_and_packing() {
    let one = obj_box([0.0; 3], [0.3, 0.3, 0.3], 1);
    let other = obj_box([0.1, 0.1, 0.0], [0.5, 0.2, 0.3], 9);
    let volume = 0.027 + 0.4 * 0.1 * 0.3 - 0.2 * 0.1 * 0.3;
    let folder = with_file("pair.obj", format!("{one}{other}").as_bytes());
    let words = ["pair.obj", "--radius", "0.01", "-o", "points.ply"];
    let (code, out, err) = sample(folder.path(), &words);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("warning: shells overlap"), "{err}");
    assert!(
        out.contains(&format!("watertight, 0.5000 x 0.3000 x 0.3000 m, {volume:.4e} m³")),
        "{out}"
    );
    let (_, out, _) = sample(folder.path(), &[&words[..], &["--json"]].concat());
    let row: Value = serde_json::from_str(&out).unwrap();
    let found = row["mesh"]["volume"].as_f64().unwrap();
    assert!((found / volume - 1.0).abs() < 1e-9, "{found} {volume}");
    let spheres = row["count"].as_f64().unwrap() * 4.0 / 3.0 * std::f64::consts::PI * 1e-6;
    assert!(
        (row["packing"].as_f64().unwrap() * volume / spheres - 1.0).abs() < 1e-9,
        "{row}"
    );

    let apart = obj_box([0.4, 0.0, 0.0], [0.5, 0.2, 0.3], 9);
    let folder = with_file("pair.obj", format!("{one}{apart}").as_bytes());
    let (code, _, err) = sample(folder.path(), &words);
    assert_eq!((code, err.contains("overlap")), (0, false), "{err}");
}

#[test]
fn files_that_are_no_mesh_are_refused() {
    let to = ["--radius", "0.01", "-o", "points.ply"];
    let cases: &[(&str, &[u8], &[&str])] = &[
        ("empty.obj", b"", &["empty.obj", "empty"]),
        ("empty.stl", b"", &["empty.stl", "empty"]),
        ("prose.obj", b"Once upon a time\nthere was a castle.\n", &["prose.obj"]),
        ("prose.ply", b"Once upon a time\n", &["prose.ply"]),
        ("prose.glb", b"Once upon a time\n", &["prose.glb"]),
        ("nan.obj", b"v 0 0 0\nv nan 0 0\nv 0 1 0\nf 1 2 3\n", &["nan.obj"]),
        (
            "infinite.obj",
            b"v 0 0 0\nv inf 0 0\nv 0 1 0\nf 1 2 3\n",
            &["infinite.obj"],
        ),
        (
            "index.obj",
            b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n",
            &["index.obj", "9"],
        ),
        (
            "flat.obj",
            b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n",
            &["flat.obj", "no volume"],
        ),
        ("castle.step", b"anything", &["castle.step", ".obj"]),
    ];
    for (name, content, parts) in cases {
        let folder = with_file(name, content);
        refused(&folder, &[&[*name][..], &to[..]].concat(), parts);
    }
}

#[test]
fn a_missing_or_truncated_mesh_is_refused() {
    let folder = tempdir().unwrap();
    refused(
        &folder,
        &["nowhere.obj", "--radius", "0.01", "-o", "points.ply"],
        &["nowhere.obj"],
    );
    let mut stl = vec![0u8; 84];
    stl[80] = 4;
    let folder = with_file("short.stl", &[stl, vec![0u8; 70]].concat());
    refused(
        &folder,
        &["short.stl", "--radius", "0.01", "-o", "points.ply"],
        &["short.stl"],
    );
}

#[test]
fn radii_that_are_none_are_refused() {
    let folder = tempdir().unwrap();
    for radius in ["0", "-1", "nan", "inf", "wide", "0.02..0.01", "0.01:-1", "0.01:0", ""] {
        refused(&folder, &[BALL, "--radius", radius, "-o", "points.ply"], &["radius"]);
    }
    refused(
        &folder,
        &[BALL, "--radius", "0.2", "-o", "points.ply"],
        &["0.2", "fits"],
    );
    let range = [BALL, "--surface", "--radius", "0.01..0.02", "-o", "points.ply"];
    refused(&folder, &range, &["--surface"]);
}

#[test]
fn more_particles_than_memory_are_refused_with_their_number() {
    let folder = tempdir().unwrap();
    for more in [
        &[][..],
        &["--packing", "random"],
        &["--packing", "lattice"],
        &["--surface"],
    ] {
        let words = [&[BALL, "--radius", "1e-9", "-o", "points.ply"][..], more].concat();
        refused(&folder, &words, &["particles", "GiB"]);
    }
}

#[test]
fn shapes_that_are_none_are_refused_with_their_place() {
    let folder = tempdir().unwrap();
    let to = ["--radius", "0.01", "-o", "points.ply"];
    for (text, parts) in [
        ("{ sphere = { raduis = 1 } }", &["1:14", "did you mean `radius`"][..]),
        ("{ half_space = { normal = [0, 0, 1] } }", &["no end"]),
        ("{ mesh = \"nowhere.obj\" }", &["1:", "nowhere.obj"]),
        ("{ sphere = { radius = 1 }", &["1:"]),
    ] {
        refused(&folder, &[&[text][..], &to[..]].concat(), parts);
    }
}

#[test]
fn places_that_cannot_be_written_are_refused() {
    let folder = tempdir().unwrap();
    let to = |file: &'static str| [BALL, "--radius", "0.01", "-o", file];
    refused(&folder, &to("points.step"), &["points.step", ".ply"]);
    refused(&folder, &to("points"), &[".ply"]);
    fs::create_dir(folder.path().join("folder.ply")).unwrap();
    refused(&folder, &to("folder.ply"), &["folder.ply"]);
    // A folder is created only for files that can be written.
    refused(
        &folder,
        &["nowhere.obj", "--radius", "0.01", "-o", "new/points.ply"],
        &["nowhere.obj"],
    );
}

#[test]
#[cfg(target_os = "linux")]
fn a_disk_that_takes_no_files_is_a_failure_of_the_work() {
    let folder = tempdir().unwrap();
    // No user may create files there.
    let (code, _, message) = sample(folder.path(), &[BALL, "--radius", "0.05", "-o", "/sys/points.ply"]);
    assert_eq!(code, 1, "{message}");
    assert!(message.contains("/sys/points.ply"), "{message}");
}

#[test]
fn an_old_file_survives_a_refusal() {
    let folder = with_file("points.ply", b"precious");
    refused(
        &folder,
        &["nowhere.obj", "--radius", "0.01", "-o", "points.ply"],
        &["nowhere.obj"],
    );
    assert_eq!(fs::read(folder.path().join("points.ply")).unwrap(), b"precious");
}

#[test]
fn help_lists_the_shapes() {
    let output = barchan(Path::new(".")).args(["sample", "--help"]).output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    for word in ["--packing", "--surface", "frustum", "heightmap", "subtract"] {
        assert!(help.contains(word), "{word} is not in the help");
    }
}
