//! `barchan compare`: panels, movie, table and page of one scene by several methods.

use assert_cmd::Command;
use serde_json::Value;

const SCENE: &str = r#"
name = "collapse"
duration = 0.2
frame_rate = 30
[materials.sand]
density = 1600
friction = 0.5
[[fill]]
material = "sand"
radius = 0.025
shape = { cylinder = { radius = 0.12, height = 0.24 }, at = [0, 0, 0.13] }
[[body]]
name = "ground"
shape = { half_space = { normal = [0, 0, 1] } }
[[camera]]
name = "main"
position = [0.6, -0.9, 0.5]
target = [0, 0, 0.1]
"#;

fn barchan() -> Command {
    Command::cargo_bin("barchan").unwrap()
}

/// Rows that the command prints with `--json`.
fn rows(output: &[u8]) -> Vec<Value> {
    let text = String::from_utf8(output.to_vec()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_scene_is_compared_by_solvers_and_presets() {
    let folder = tempfile::tempdir().unwrap();
    let scene = folder.path().join("collapse.toml");
    std::fs::write(&scene, SCENE).unwrap();
    let out = folder.path().join("out");
    let methods = "pbd,pbd:sommer,sph,dem";
    let compare = || {
        let mut command = barchan();
        command
            .arg("compare")
            .arg(&scene)
            .args(["--methods", methods, "--json"]);
        command.args(["--size", "96x64", "--engine", "cpu"]).arg("-o").arg(&out);
        command
    };
    let first = compare().output().unwrap();
    assert!(first.status.success(), "{}", String::from_utf8_lossy(&first.stderr));
    let found = rows(&first.stdout);
    let names: Vec<&str> = found.iter().map(|row| row["method"].as_str().unwrap()).collect();
    assert_eq!(names, ["pbd", "pbd:sommer", "sph", "dem"]);
    for row in &found {
        let number = |key: &str| row[key].as_f64().unwrap_or_else(|| panic!("{key} of {row}"));
        assert_eq!(number("frames"), 6.0);
        assert!(row["broken"].is_null(), "{row}");
        // It falls, and what it loses is no more than what it had.
        assert!(
            number("height") < number("start_height") && number("height") > 0.05,
            "{row}"
        );
        assert!(number("run_out") >= number("start_run_out") - 0.05, "{row}");
        assert!(number("lost_energy") > 0.0 && number("max_overlap") < 1.0, "{row}");
        let cache = out.join(row["method"].as_str().unwrap().replace(':', "-"));
        assert!(cache.join("manifest.json").exists());
    }
    // Each method has its own result.
    assert_ne!(found[0]["run_out"], found[2]["run_out"]);
    let picture = std::fs::File::open(out.join("compare.png")).unwrap();
    let reader = png::Decoder::new(std::io::BufReader::new(picture)).read_info().unwrap();
    // Three panels and two lines in the first row, one panel in the second.
    assert_eq!([reader.info().width, reader.info().height], [3 * 96 + 4, 2 * 64 + 2]);
    assert!(std::fs::metadata(out.join("compare.mp4")).unwrap().len() > 1000);
    let page = std::fs::read_to_string(out.join("compare.html")).unwrap();
    for part in [
        "compare.png",
        "compare.mp4",
        "<td>pbd:sommer</td>",
        "[Sommer22]",
        "name = \"collapse\"",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // Caches are kept: the same command simulates nothing again, and gives the same numbers.
    let again = rows(&compare().arg("--no-movie").output().unwrap().stdout);
    assert_eq!(found, again);
}

#[test]
fn methods_that_are_not_known_are_refused_with_those_that_are() {
    for (methods, words) in [
        (
            "pdb",
            &["there is no solver `pdb`", "pbd, sph, dem", "did you mean `pbd`?"][..],
        ),
        ("sph:ihmson", &["no preset of sph `ihmson`", "ihmsen, neder"]),
        ("pbd,dem,pbd", &["pbd is there twice"]),
    ] {
        let output = barchan()
            .args(["compare", "pile", "--methods", methods])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{methods}");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        for word in words {
            assert!(text.contains(word), "{methods}: {text}");
        }
    }
}

#[test]
fn a_bulldozer_clears_what_an_avalanche_left() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("docs")).unwrap();
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/clearing.toml");
    std::fs::copy(page, folder.path().join("docs/clearing.toml")).unwrap();
    let run = |words: &[&str]| {
        let output = barchan()
            .arg("run")
            .args(words)
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        rows(&output.stdout).remove(0)
    };
    // Few, and soft, so that steps are long.
    let few = [
        "--set",
        "fill.0.radius=0.2",
        "--set",
        "materials.rubble.youngs_modulus=1e7",
    ];
    run(&[
        &[
            "avalanche-small",
            "--frames",
            "2",
            "-o",
            "caches/avalanche-small",
            "--json",
        ][..],
        &few,
    ]
    .concat());
    let cleared = run(&[
        "docs/clearing.toml",
        "--frames",
        "2",
        "-o",
        "cleared",
        "--json",
        few[2],
        few[3],
    ]);
    assert_eq!(cleared["frames"], 2);
    let frame = |dir: &str, frame: u64| {
        let cache = barchan::io::Cache::open(&folder.path().join(dir)).unwrap();
        (
            cache.read_guides(frame).unwrap().len(),
            cache.read_bodies(frame).unwrap(),
        )
    };
    let (left, before) = frame("caches/avalanche-small", 2);
    let (taken, after) = frame("cleared", 0);
    assert!(left > 10 && left == taken, "{left} {taken}");
    let block = |bodies: &[barchan::world::BodyState]| bodies.iter().find(|b| b.name == "block 3").unwrap().clone();
    assert_eq!(block(&before).position, block(&after).position);
    assert!(after.iter().any(|body| body.name == "dozer"));
}
