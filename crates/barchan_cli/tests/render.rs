//! `barchan render` from a user's view.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::{TempDir, tempdir};

const SCENE: &str = r##"
name = "drop"
duration = 0.2
frame_rate = 60

[materials.sand]
density = 1600
[materials.coal]
density = 1200
color = "#101014"

[[fill]]
material = "sand"
radius = 0.02
packing = "lattice"
shape = { box = { size = [0.2, 0.2, 0.2] }, at = [-0.15, 0, 0.3] }

[[fill]]
material = "coal"
radius = 0.02
packing = "lattice"
shape = { box = { size = [0.2, 0.2, 0.2] }, at = [0.15, 0, 0.3] }

[[body]]
name = "ground"
shape = { half_space = { normal = [0, 0, 1] } }

[[camera]]
name = "main"
position = [0, -2, 0.5]
target = [0, 0, 0.2]

[[camera]]
name = "above"
position = [0, 0, 3]
target = [0, 0, 0]
up = [0, 1, 0]
"##;

fn folder_with_scene() -> TempDir {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("drop.toml"), SCENE).unwrap();
    folder
}

/// Runs to the end without any other program on the path; returns the exit code and the output.
fn barchan(folder: &Path, words: &[&str]) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_barchan"))
        .current_dir(folder)
        .env("PATH", "")
        .args(words)
        .output()
        .unwrap();
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

/// Returns the number of images in a movie: the sample count of its `stsz` box.
fn images(movie: &Path) -> u32 {
    let bytes = fs::read(movie).unwrap();
    assert_eq!(&bytes[4..8], b"ftyp");
    let at = bytes.windows(4).position(|w| w == b"stsz").unwrap();
    u32::from_be_bytes(bytes[at + 12..at + 16].try_into().unwrap())
}

/// Returns width and pixels of a picture.
fn pixels(picture: &Path) -> (usize, Vec<[u8; 3]>) {
    let mut reader = png::Decoder::new(std::io::BufReader::new(fs::File::open(picture).unwrap()))
        .read_info()
        .unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    (
        reader.info().width as usize,
        pixels.chunks(3).map(|p| [p[0], p[1], p[2]]).collect(),
    )
}

/// Returns the brightest and the darkest pixel, as sums of red, green and blue.
fn extremes(picture: &Path) -> (u32, u32) {
    let (_, pixels) = pixels(picture);
    let sums = pixels.iter().map(|p| p.iter().map(|&c| u32::from(c)).sum::<u32>());
    (sums.clone().max().unwrap(), sums.min().unwrap())
}

#[test]
fn a_cache_becomes_a_picture_pictures_and_a_movie() {
    let folder = folder_with_scene();
    let at = folder.path();
    done(at, &["run", "drop.toml", "-o", "cache", "--start-frame", "1001"]);
    done(
        at,
        &["render", "cache", "-o", "p.png", "--size", "161x90", "--frame", "1005"],
    );
    let (bright, dark) = extremes(&at.join("p.png"));
    assert!(bright > 450 && dark < 120, "{bright} {dark}: sky and coal");
    done(
        at,
        &["render", "cache", "-o", "frames", "--size", "80x45", "--frames", "3"],
    );
    let mut names: Vec<_> = fs::read_dir(at.join("frames"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["001001.png", "001002.png", "001003.png", "001004.png"]);
    let said = done(at, &["render", "cache", "--size", "81x45"]);
    assert!(
        said.contains("13 images in drop.mp4") && said.contains("built-in encoder"),
        "{said}"
    );
    assert_eq!(images(&at.join("drop.mp4")), 13);
    // 0.2 s at a quarter of the speed and 40 images per second: 32 and the first.
    done(
        at,
        &[
            "render", "cache", "-o", "slow.mp4", "--size", "80x45", "--fps", "40", "--speed", "0.25",
        ],
    );
    assert_eq!(images(&at.join("slow.mp4")), 33);
}

#[test]
fn a_scene_is_drawn_as_its_cache_is_and_leaves_none() {
    let folder = folder_with_scene();
    let at = folder.path();
    let look = ["--size", "160x90", "--frame", "6", "--color", "speed"];
    done(at, &["run", "drop.toml", "-o", "cache", "--set", "gravity=[0, 0, -2]"]);
    done(at, &[&["render", "cache", "-o", "cached.png"][..], &look].concat());
    let live = ["render", "drop.toml", "-o", "live.png", "--set", "gravity=[0, 0, -2]"];
    done(at, &[&live[..], &look].concat());
    let read = |name: &str| fs::read(at.join(name)).unwrap();
    assert!(read("cached.png") == read("live.png"));
    assert_eq!(fs::read_dir(at).unwrap().count(), 4);
}

#[test]
fn cameras_and_colors_change_the_picture() {
    let folder = folder_with_scene();
    let at = folder.path();
    done(at, &["run", "drop.toml", "-o", "cache", "--frames", "6"]);
    let mut seen: Vec<Vec<u8>> = Vec::new();
    for options in [
        &[][..],
        &["--camera", "above"],
        &["--camera", "fit"],
        &["--position", "-1,-2,1"],
        &["--target", "0,0,-0.2"],
        &["--fov", "20"],
        &["--color", "speed"],
        &["--color", "radius", "--range", "0..1"],
        &["--color", "speed", "--map", "inferno"],
    ] {
        done(
            at,
            &[&["render", "cache", "-o", "p.png", "--size", "320x180"][..], options].concat(),
        );
        let picture = fs::read(at.join("p.png")).unwrap();
        assert!(!seen.contains(&picture), "{options:?} changes nothing");
        seen.push(picture);
    }
}

#[test]
fn grains_take_the_colors_of_guides_and_say_so() {
    let folder = folder_with_scene();
    let at = folder.path();
    let wet = SCENE.replace("density = 1200", "density = 1200\ncohesion = 500\nwetness = 0.5")
        + "[solver]\nkind = \"sph\"\n[refine]\nradius = 0.01\n";
    fs::write(at.join("wet.toml"), wet).unwrap();
    done(at, &["run", "wet.toml", "-o", "cache", "--frames", "3"]);
    let mut seen: Vec<Vec<u8>> = Vec::new();
    for column in ["wetness", "pressure", "density", "speed"] {
        for (what, frame) in [("cache", "3"), ("wet.toml", "1")] {
            let said = done(
                at,
                &[
                    "render", what, "-o", "p.png", "--frame", frame, "--size", "320x180", "--color", column,
                ],
            );
            let noted = said.contains(column) && said.contains("nearest guide") && said.contains("--guides");
            assert_eq!(noted, column != "speed", "{column}: {said}");
        }
        let shot = ["render", "cache", "-o", "p.png", "--size", "320x180", "--color", column];
        done(at, &shot);
        let grains = fs::read(at.join("p.png")).unwrap();
        done(at, &[&shot[..], &["--guides"]].concat());
        assert_ne!(grains, fs::read(at.join("p.png")).unwrap(), "grains were not drawn");
        assert!(!seen.contains(&grains), "{column} looks as another column");
        seen.push(grains);
    }
    // Movies too, although solvers have their columns only from the first step on.
    let movie = ["-o", "m.mp4", "--size", "80x46", "--frames", "2", "--color", "wetness"];
    done(at, &[&["render", "cache"][..], &movie].concat());
    done(at, &[&["render", "wet.toml", "--range", "0..1"][..], &movie].concat());
    let pbd = ["render", "drop.toml", "--range", "0..1"];
    let (code, said) = barchan(at, &[&pbd[..], &movie].concat());
    assert!(code == 2 && said.contains("no column `wetness`"), "{code}: {said}");
    // A column that neither guides nor grains have.
    let (code, said) = barchan(at, &["render", "cache", "-o", "p.png", "--color", "heat"]);
    assert!(
        code == 2 && said.contains("wetness") && said.contains("speed"),
        "{code}: {said}"
    );
}

#[test]
fn a_fitting_camera_leaves_a_margin_in_all_pictures_of_a_movie() {
    let folder = folder_with_scene();
    let at = folder.path();
    // All of the sand is coal, which is darker than ground, sky and shadows, and spreads out.
    let coal = SCENE
        .replace("material = \"sand\"", "material = \"coal\"")
        .replace("duration = 0.2", "duration = 0.6");
    fs::write(at.join("coal.toml"), coal).unwrap();
    done(at, &["run", "coal.toml", "-o", "cache"]);
    for (what, size) in [("cache", "120x50"), ("cache", "50x120"), ("coal.toml", "70x70")] {
        done(
            at,
            &[
                "render", what, "-o", "frames", "--size", size, "--camera", "fit", "--fps", "10",
            ],
        );
        for entry in fs::read_dir(at.join("frames")).unwrap() {
            let path = entry.unwrap().path();
            let (width, pixels) = pixels(&path);
            let height = pixels.len() / width;
            let mut dark = 0;
            for (k, pixel) in pixels.iter().enumerate() {
                let (x, y) = (k % width, k / width);
                let is_dark = pixel.iter().map(|&c| u32::from(c)).sum::<u32>() < 120;
                let inside = (2..width - 2).contains(&x) && (2..height - 2).contains(&y);
                assert!(
                    inside || !is_dark,
                    "{what} {size}: coal at the edge, {x} {y} of {path:?}"
                );
                dark += usize::from(is_dark);
            }
            assert!(
                dark > pixels.len() / 100,
                "{what} {size}: {dark} dark pixels of {}",
                pixels.len()
            );
        }
        fs::remove_dir_all(at.join("frames")).unwrap();
    }
}

#[test]
fn the_commands_for_compositing_in_the_documentation_do_what_it_says() {
    let folder = folder_with_scene();
    let at = folder.path();
    done(at, &["run", "drop.toml", "-o", "cache", "--frames", "2"]);
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures.md")).unwrap();
    let commands = page
        .split("## Compositing")
        .nth(1)
        .and_then(|part| part.split("```").nth(1));
    let commands: Vec<&str> = commands
        .unwrap()
        .lines()
        .filter(|line| line.starts_with("barchan"))
        .collect();
    assert_eq!(commands.len(), 3);
    for command in commands {
        let words = command.split('#').next().unwrap().split_whitespace().skip(1);
        done(at, &words.chain(["--size", "160x90"]).collect::<Vec<_>>());
    }
    // Sky, sand and what lies between: clear, opaque and the shadow.
    let file = fs::File::open(at.join("cut.png")).unwrap();
    let mut reader = png::Decoder::new(std::io::BufReader::new(file)).read_info().unwrap();
    let mut rgba = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut rgba).unwrap();
    assert_eq!(rgba.len(), 4 * 160 * 90);
    let alphas = |most: u8, least: u8| rgba.chunks(4).filter(|p| (least..=most).contains(&p[3])).count();
    let (clear, opaque, between) = (alphas(0, 0), alphas(255, 255), alphas(200, 50));
    assert!(
        clear > 5000 && opaque > 200 && between > 20,
        "{clear} {opaque} {between}"
    );
    for name in [
        "layers.exr",
        "layers/000000.exr",
        "layers/000001.exr",
        "layers/000002.exr",
    ] {
        let bytes = fs::read(at.join(name)).unwrap();
        assert_eq!(
            bytes[..4],
            [0x76, 0x2f, 0x31, 0x01],
            "{name}: the magic number of OpenEXR"
        );
        assert!(bytes.len() > 10_000);
    }
    assert_eq!(fs::read_dir(at.join("layers")).unwrap().count(), 3);
}

#[test]
fn looks_and_wetness_change_the_picture() {
    let folder = folder_with_scene();
    let at = folder.path();
    let refined = format!("{SCENE}[refine]\nradius = 0.01\n");
    let shot = |material: &str| {
        let scene = refined.replace("[materials.sand]\n", &format!("[materials.sand]\n{material}\n"));
        fs::write(at.join("look.toml"), scene).unwrap();
        done(at, &["run", "look.toml", "-o", "cache", "--frames", "0"]);
        done(at, &["render", "cache", "-o", "p.png", "--size", "160x90"]);
        fs::remove_dir_all(at.join("cache")).unwrap();
        pixels(&at.join("p.png")).1
    };
    let plain = shot("");
    assert_eq!(shot("look = \"sand\""), plain);
    let mut seen = vec![plain.clone()];
    for material in [
        "look = \"gravel\"",
        "look = \"soil\"",
        "look = \"snow\"",
        "look = \"plain\"",
        "wetness = 1",
    ] {
        let picture = shot(material);
        assert!(!seen.contains(&picture), "{material} changes nothing");
        seen.push(picture);
    }
    let light = |picture: &[[u8; 3]]| picture.iter().flatten().map(|&c| u64::from(c)).sum::<u64>();
    assert!(light(&seen[3]) > light(&plain), "snow is bright");
    assert!(light(&seen[5]) < light(&plain), "wet sand is dark");
    fs::write(
        at.join("wrong.toml"),
        refined.replace("density = 1200", "density = 1200\nlook = \"wool\""),
    )
    .unwrap();
    let (code, said) = barchan(at, &["check", "wrong.toml"]);
    assert!(
        code == 2 && said.contains("gravel") && said.contains("wrong.toml:"),
        "{code}: {said}"
    );
}

#[test]
fn a_scene_name_that_is_nearly_right_is_corrected() {
    let folder = folder_with_scene();
    for (word, meant) in [
        ("exavator", "excavator"),
        ("hourglas.toml", "hourglass"),
        ("splash-clump", "splash-clumps"),
    ] {
        for command in ["run", "check", "render"] {
            let (code, said) = barchan(folder.path(), &[command, word]);
            assert_eq!(code, 2, "{said}");
            assert!(said.contains(&format!("did you mean `{meant}`?")), "{said}");
        }
    }
    let (_, said) = barchan(folder.path(), &["run", "nowhere"]);
    assert!(
        !said.contains("did you mean") && said.contains("`barchan scenes`"),
        "{said}"
    );
    // The list keeps its columns.
    let list = done(folder.path(), &["scenes"]);
    let column = |line: &str| {
        line.find("  ")
            .map(|at| at + line[at..].len() - line[at..].trim_start().len())
    };
    let first = column(list.lines().next().unwrap());
    assert!(
        first.is_some() && list.lines().all(|line| line.as_bytes()[first.unwrap() - 1] == b' '),
        "{list}"
    );
    assert!(
        list.lines().all(|line| line.as_bytes()[first.unwrap()] != b' '),
        "{list}"
    );
}

#[test]
fn wrong_input_is_refused_with_exit_code_two() {
    let folder = folder_with_scene();
    let at = folder.path();
    done(at, &["run", "drop.toml", "-o", "cache", "--frames", "2"]);
    for (words, part) in [
        (&["render", "nowhere", "-o", "p.png"][..], "nowhere"),
        (&["render", "cache", "-o", "p.gif"], "a movie ends in .mp4"),
        (&["render", "cache", "-o", "p.png", "--frame", "9"], "9"),
        (
            &["render", "cache", "-o", "m.mp4", "--frame", "1"],
            "--frame needs a picture",
        ),
        (&["render", "cache", "--camera", "side"], "there are: main, above, fit"),
        (&["render", "cache", "--color", "heat"], "speed"),
        (&["render", "cache", "--color", "speed", "--range", "2..1"], "ascending"),
        (&["render", "cache", "--range", "0..1"], "--color"),
        (&["render", "cache", "--transparent"], "--transparent needs pictures"),
        (&["render", "cache", "-o", "p.png", "--format", "exr"], "needs a folder"),
        (&["render", "cache", "-o", "p.exr", "--wireframe"], "--wireframe"),
        (
            &["render", "cache", "-o", "p.png", "--transparent", "--engine", "gpu"],
            "--engine gpu",
        ),
        (&["render", "cache", "--compare"], "no grains"),
        (&["render", "cache", "--speed", "0"], "--speed"),
        (&["render", "cache", "--speed", "1e-9"], "--speed must be from"),
        (&["render", "cache", "--fps", "0.001"], "--fps must be from 1"),
        (&["render", "cache", "--fps", "0"], "images per second"),
        (&["render", "cache", "--size", "0x3"], "1280x720"),
        (&["render", "cache", "--engine", "abacus"], "auto, cpu, gpu"),
        (&["render", "cache", "--position", "1,2"], "three numbers"),
        (&["render", "cache", "--fov", "180"], "--fov"),
        (&["render", "cache", "--set", "seed=2"], "--set"),
        (&["render", "drop.toml", "--set", "seeed=2"], "seed"),
        (&["render", "drop.toml", "--color", "speed"], "--range"),
    ] {
        let (code, said) = barchan(at, words);
        assert_eq!(code, 2, "{words:?}: {said}");
        assert!(said.contains(part), "{words:?}: {said}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn without_a_display_the_window_names_what_needs_none() {
    let folder = folder_with_scene();
    let output = Command::new(env!("CARGO_BIN_EXE_barchan"))
        .current_dir(folder.path())
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .args(["view", "drop.toml"])
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("no display") && said.contains("barchan render"), "{said}");
}
