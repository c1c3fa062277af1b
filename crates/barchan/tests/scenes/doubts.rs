//! Scenes that are valid but probably not intended.

use barchan::scene::{Document, Place, parse_scene};

/// Sand in a box on the ground, without warnings.
const PLAIN: &str = r#"duration = 1
gravity = [0, 0, -9.81]
[materials.sand]
density = 1600
[[fill]]
material = "sand"
radius = 0.05
shape = { box = { size = [0.5, 0.5, 0.5] }, at = [0, 0, 0.25] }
[[body]]
name = "ground"
shape = { half_space = { normal = [0, 0, 1] } }
"#;

/// Returns position and message of each warning.
fn warnings(text: &str) -> Vec<(String, String)> {
    let document = Document::new("scene.toml", text);
    let (_, warnings) = parse_scene(&document).unwrap_or_else(|problems| panic!("{problems}"));
    let place = |at: usize| match document.place(at) {
        Place::Text { line, column } => format!("{line}:{column}"),
        Place::Override(_) => panic!("there is no override"),
    };
    warnings
        .iter()
        .map(|w| (place(w.span.start), w.message.clone()))
        .collect()
}

/// Position and message of each warning.
type Warnings = &'static [(&'static str, &'static str)];

/// A change of [`PLAIN`], and its warnings.
#[rustfmt::skip]
const DOUBTED: &[([&str; 2], Warnings)] = &[
    (["duration = 1", "duration = 2"], &[]),
    (["density = 1600", "density = 1.6"], &[("4:11", "`density` of 1.6 kg/m³ is implausibly low")]),
    (["-9.81]", "9.81]"], &[("2:11", "gravity points upwards")]),
    (["-9.81]", "0]"], &[]),
    (["at = [0, 0, 0.25]", "at = [0, 0, 0.2]"], &[("8:9", "guides of this fill start inside body `ground`")]),
    // A hundredth of a radius is within rounding.
    (["at = [0, 0, 0.25]", "at = [0, 0, 0.2495]"], &[]),
    (["{ half_space = { normal = [0, 0, 1] } }", "{ box = { size = [2, 2, 0.1] }, at = [0, 0, -0.3] }"], &[]),
    (["{ half_space = { normal = [0, 0, 1] } }", "{ box = { size = [2, 2, 0.1] }, at = [5, 0, -0.3] }"],
        &[("5:1", "nothing is below this fill: its guides fall for ever")]),
    // Below one side of it only.
    (["{ half_space = { normal = [0, 0, 1] } }", "{ box = { size = [2, 2, 0.1] }, at = [1.1, 0, -9] }"], &[]),
    // Thrown onto a table.
    (["{ half_space = { normal = [0, 0, 1] } }", "{ box = { size = [2, 2, 0.1] }, at = [5, 0, -5] }\n[[fill]]\nmaterial = \"sand\"\nradius = 0.05\nvelocity = [5, 0, 0]\nshape = { sphere = { radius = 0.2 }, at = [0, 5, 0] }\n[[body]]\nname = \"table\"\nshape = { box = { size = [4, 4, 0.1] }, at = [5, 5, -5] }"],
        &[("5:1", "nothing is below this fill: its guides fall for ever")]),
    // A body that only holds it while it settles, and one that removes it.
    (["name = \"ground\"", "name = \"ground\"\nuntil = 0"], &[("5:1", "nothing is below this fill: its guides fall for ever")]),
    (["[[body]]\nname = \"ground\"", "[[sink]]\nshape = { box = { size = [1, 1, 1] }, at = [0, 0, -4] }\n[[body]]\nname = \"ground\"\nuntil = 0"], &[]),
    (["[[body]]", "[refine]\nradius = 0.06\n[[body]]"], &[("10:10", "grains of 0.06 m are larger than guides of 0.05 m")]),
    (["[[body]]", "[refine]\nradius = 0.05\n[[body]]"], &[]),
    (["[[body]]", "[[emitter]]\nmaterial = \"sand\"\nradius = 0.05\nrate = 1\nshape = { sphere = { radius = 0.2 }, at = [3, 0, -3] }\n[[body]]"], &[]),
    // The initial pose of a scripted body counts, not the pose of its shape.
    (["[[body]]", "[[body]]\nname = \"bucket\"\nmotion = \"scripted\"\nkeys = [{ time = 0, at = [0, 0, 5] }]\nshape = { sphere = { radius = 0.2 } }\n[[body]]"], &[]),
    (["[[body]]", "[[body]]\nname = \"bucket\"\nmotion = \"scripted\"\nkeys = [{ time = 0, at = [0, 0, 0.3] }]\nshape = { sphere = { radius = 0.2 }, at = [0, 0, -0.1] }\n[[body]]"],
        &[("8:9", "guides of this fill start inside body `bucket`")]),
];

#[test]
fn what_is_hardly_meant_is_warned_of_at_its_place() {
    for ([old, new], expected) in DOUBTED {
        assert!(PLAIN.contains(old));
        let found = warnings(&PLAIN.replacen(old, new, 1));
        let found: Vec<(&str, &str)> = found.iter().map(|w| (w.0.as_str(), w.1.as_str())).collect();
        assert_eq!(found, *expected, "{new}");
    }
}

#[test]
fn a_text_that_is_not_utf_8_is_refused_with_line_and_column() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scene.toml");
    std::fs::write(&path, b"duration = 1\nname = \"s\xc3\xa4nd\xff\"\n").unwrap();
    let error = Document::read(&path).unwrap_err();
    assert_eq!(error.to_string(), "line 2, column 13 is not UTF-8");
}
