//! Every number of a scene has bounds. Within them scenes are read and built; beyond them the reader reports the
//! position.

use barchan::scene::{Diagnostics, Document, Place, SCENE, Scene, parse_scene, schema};
use barchan::world::spec::{Kind, TableSpec};
use barchan::{SOLVERS, check_settings, forecast};
use serde_json::Value;

/// A scene with every table that a scene can have.
const WHOLE: &str = r#"
duration = 1
periodic = { x = [-9, 9], y = [-9, 9], z = [-9, 9] }
[solver]
pbd = {}
sph = {}
dem = {}
[materials.sand]
density = 1600
friction = { static = 0.4, kinetic = 0.3 }
[materials.gravel]
density = 1500
[[pair]]
materials = ["sand", "gravel"]
friction = { static = 0.4, kinetic = 0.3 }
[clumps.pair]
spheres = [{ radius = 1 }, { at = [1, 0, 0], radius = 1 }]
[clumps.egg]
shape = { sphere = { radius = 1 } }
[[fill]]
material = "sand"
radius = { min = 0.1, max = 0.11 }
packing = "lattice"
shape = { box = { size = [0.5, 0.5, 0.5] }, at = [0, 0, 1] }
[[fill]]
material = "gravel"
radius = { list = [0.1, 0.12], weights = [1, 2] }
packing = "lattice"
shape = { sphere = { radius = 0.3 }, at = [2, 0, 1] }
[[emitter]]
material = "sand"
radius = { min = 0.1, max = 0.11 }
rate = 10
shape = { box = { size = [1, 1, 0.5] }, at = [0, 2, 2] }
[[sink]]
shape = { box = { size = [1, 1, 0.5] }, at = [0, 0, -2] }
[[body]]
name = "ground"
friction = { static = 0.4, kinetic = 0.3 }
shape = { half_space = { normal = [0, 0, 1], offset = 0.0 } }
[[body]]
name = "arm"
motion = "scripted"
keys = [{ time = 0 }, { time = 1, at = [0, 0, 0.1], rotate = [0, 0, 10] }]
shape = { cylinder = { radius = 0.1, height = 0.5 }, at = [-2, 0, 1] }
[[body]]
name = "ball"
motion = "dynamic"
density = 1000
shape = { sphere = { radius = 0.2 }, at = [-3, 0, 1] }
[[joint]]
bodies = ["arm", "ball"]
kind = "hinge"
axis = [0, 0, 1]
anchors = [[0, 0, 0], [0, 0, 0]]
limits = [-90, 90]
spring = {}
motor = { speed = 1 }
[[robot]]
urdf = "tests/robots/arm.urdf"
at = [4, 0, 0]
friction = { static = 0.4, kinetic = 0.3 }
pose = [{ joint = "shoulder", angle = 20 }]
[[joint]]
bodies = ["arm", "ball"]
kind = "ball"
at = [0, 0, 0]
[[control]]
lever = "boom"
body = "arm"
turn = [0, 0, 1]
speed = 1
range = [0, 1]
[[camera]]
position = [1, 1, 1]
target = [0, 0, 0]
keys = [{ time = 0 }, { time = 1 }]
[refine]
radius = { min = 0.04, max = 0.05 }
[output]
"#;

/// The bounds of a value, and its notation with `x` for the value.
struct Number {
    path: String,
    low: f64,
    high: f64,
    write: fn(f64) -> String,
}

/// Collects every number that the tables below `spec` declare, with the path of its key in [`WHOLE`].
fn numbers(spec: &TableSpec, path: &str, found: &mut Vec<Number>) {
    for field in spec.fields {
        let path = if path.is_empty() {
            field.key.to_owned()
        } else {
            format!("{path}.{}", field.key)
        };
        of_kind(&field.kind, path, found);
    }
}

fn of_kind(kind: &Kind, path: String, found: &mut Vec<Number>) {
    let mut add = |low: f64, high: f64, write: fn(f64) -> String| {
        found.push(Number {
            path: path.clone(),
            low,
            high,
            write,
        });
    };
    match kind {
        Kind::Between(low, high) => add(*low, *high, |x| format!("{x:e}")),
        Kind::Vector(low, high) | Kind::Axes(low, high) => add(*low, *high, |x| format!("[{x:e}, {x:e}, {x:e}]")),
        Kind::Range(low, high) => add(*low, *high, |x| match x < 0.0 {
            true => format!("[{x:e}, 2]"),
            false => format!("[-2, {x:e}]"),
        }),
        Kind::Count(low, high) => add(*low as f64, *high as f64, |x| match x == i64::MAX as f64 {
            // The next larger double-precision number is above the bound.
            true => i64::MAX.to_string(),
            false => format!("{x}"),
        }),
        Kind::Turn => add(-1e9, 1e9, |x| format!("{{ axis = [0, 0, 1], angle = {x:e} }}")),
        Kind::NumberOr(number, spec) => {
            of_kind(number, path.clone(), found);
            numbers(spec, &path, found);
        }
        Kind::Table(spec) => numbers(spec, &path, found),
        Kind::Named(spec) => {
            let names = if path == "clumps" {
                ["pair", "egg"]
            } else {
                ["sand", "gravel"]
            };
            names
                .iter()
                .for_each(|name| numbers(spec, &format!("{path}.{name}"), found));
        }
        Kind::List(item) => match item {
            Kind::Table(spec) => numbers(spec, &format!("{path}.0"), found),
            _ => of_kind(item, format!("{path}.0"), found),
        },
        Kind::Pair(item) => of_kind(item, format!("{path}.0"), found),
        Kind::Solver => {
            for solver in SOLVERS {
                numbers(&solver.settings, &format!("{path}.{solver}"), found);
            }
        }
        Kind::Flag | Kind::Text | Kind::Word(_) | Kind::Direction | Kind::Color | Kind::Shape => {}
    }
}

fn set(path: &str, value: &str) -> Result<Scene, Diagnostics> {
    let document = Document::new("scene.toml", WHOLE).with(format!("{path}={value}"));
    // Settings apply only to their own solver.
    let document = match path.split('.').nth(1).filter(|_| path.starts_with("solver.")) {
        Some(solver) => document.with(format!("solver.kind={solver}")),
        None => document,
    };
    parse_scene(&document).map(|(scene, _)| scene)
}

/// Maps alternatives of the same table to where [`WHOLE`] has them: element 1 of a list where element 0 has another
/// one.
fn elsewhere(path: &str) -> String {
    path.replace("radius.list.0", "radius.list")
        .replace("radius.weights.0", "radius.weights")
        .replace("body.0.keys.0", "body.1.keys.1")
        .replace("joint.0.anchors.0", "joint.0.anchors.1")
}

#[test]
fn every_number_has_finite_bounds_in_tables_and_schema() {
    let mut all = Vec::new();
    numbers(&SCENE, "", &mut all);
    assert!(all.len() > 120, "{}", all.len());
    for number in &all {
        assert!(
            number.low.is_finite() && number.high.is_finite() && number.low < number.high,
            "{}",
            number.path
        );
    }
    let mut seen = 0;
    bounded(&schema(), &mut seen);
    assert!(seen > 140, "{seen}");
}

/// Checks that every number in a JSON Schema has a minimum and a maximum.
fn bounded(schema: &Value, seen: &mut usize) {
    match schema {
        Value::Object(entries) => {
            if let Some("number" | "integer") = schema["type"].as_str() {
                assert!(
                    schema["minimum"].is_number() && schema["maximum"].is_number(),
                    "{schema}"
                );
                *seen += 1;
            }
            entries.values().for_each(|value| bounded(value, seen));
        }
        Value::Array(items) => items.iter().for_each(|value| bounded(value, seen)),
        _ => {}
    }
}

#[test]
fn numbers_beyond_their_bounds_are_errors_at_their_place_and_those_within_are_not() {
    set("seed", "1").unwrap_or_else(|problems| panic!("{problems}"));
    let mut all = Vec::new();
    numbers(&SCENE, "", &mut all);
    for Number { path, low, high, write } in all {
        let listed = elsewhere(&path);
        let text = |x: f64| match listed.ends_with("radius.list") || listed.ends_with("radius.weights") {
            true => format!("[{x:e}, {x:e}]"),
            false => write(x),
        };
        let beyond = |x: f64| x + 1e-3 * x.abs().max(1e-12);
        for x in [-beyond(-low), beyond(high)] {
            // Errors in a list name the element.
            let problems = set(&listed, &text(x))
                .err()
                .unwrap_or_else(|| panic!("{path} = {x:e} is accepted"));
            let is_said = problems.items.iter().any(|item| {
                let place = problems.document.place(item.span.start);
                matches!(place, Place::Override(_)) && item.message.contains("must be")
            });
            assert!(is_said, "{path} = {x:e}: {problems}");
        }
        for x in [low, high] {
            // The reader may reject this number in combination with others, but not the number itself.
            match set(&listed, &text(x)) {
                Err(problems) => {
                    let key = path.trim_end_matches(".0").rsplit('.').next().unwrap();
                    let refusal = format!("{key} must be ");
                    let is_refused = problems.items.iter().any(|item| item.message.starts_with(&refusal));
                    assert!(!is_refused, "{path} = {x:e}: {problems}");
                }
                Ok(scene) => {
                    let _ = check_settings(&scene);
                    let is_built = ["fill.", "body.", "periodic."]
                        .iter()
                        .any(|begin| path.starts_with(begin));
                    if forecast(&scene).is_ok_and(|needs| is_built && needs.filled < 1e5) {
                        let _ = scene.build();
                    }
                }
            }
        }
    }
}

#[test]
fn shapes_beyond_their_bounds_are_errors_with_line_and_column() {
    let ground = "shape = { half_space = { normal = [0, 0, 1], offset = 0.0 } }";
    for (shape, at_fault) in [
        (
            "shape = { half_space = { normal = [0, 0, 1], offset = -1e308 } }",
            "-1e308",
        ),
        ("shape = { half_space = { normal = [0, 0, 1e308] } }", "1e308"),
        ("shape = { box = { size = [1, 1e308, 1] } }", "1e308"),
        ("shape = { sphere = { radius = 1e-200 } }", "1e-200"),
        ("shape = { sphere = { radius = 1 }, at = [0, 0, 1e200] }", "1e200"),
        ("shape = { sphere = { radius = 1 }, scale = 1e300 }", "1e300"),
        ("shape = { sphere = { radius = 1 }, rotate = [0, 0, 1e300] }", "1e300"),
        (
            "shape = { union = [{ sphere = { radius = 1 } }], smooth = 1e308 }",
            "1e308",
        ),
        ("shape = { revolve = [[0, 0], [1, 0], [1, 1e200]] }", "1e200"),
        ("shape = { torus = { major = 1e10, minor = 1 } }", "1e10"),
        // Each is allowed alone, but not together.
        (
            "shape = { union = [{ sphere = { radius = 1e8 }, scale = 1e8 }] }",
            "{ sphere",
        ),
    ] {
        let column = shape.find(at_fault).unwrap() + 1;
        let text = WHOLE.replace(ground, shape);
        let line = text.lines().position(|line| line == shape).unwrap() + 1;
        let problems = parse_scene(&Document::new("scene.toml", text)).unwrap_err();
        let place = problems.document.place(problems.items[0].span.start);
        assert_eq!(place, Place::Text { line, column }, "{problems}");
    }
}

#[test]
fn runs_without_an_end_are_refused_at_the_key_that_makes_them() {
    for (path, value, said) in [
        ("duration", "1e300", "duration must be 1e-6 to 1e7"),
        ("duration", "1e6", "6.000e7 frames"),
        ("fill.0.settle", "1e308", "settle must be 0 to 1e7"),
        ("fill.0.settle", "1e6", "6.000e7 frames"),
        ("frame_rate", "1e9", "frame_rate must be 0.01 to 1e6"),
        ("refine.step", "1e-39", "step must be 1e-12"),
        ("refine.step", "1e-9", "1.667e7 steps per frame"),
        ("solver.pbd.step", "1e-9", "1.667e7 steps per frame"),
        ("emitter.0.radius", "1e-7", "weigh 1.1e-17 kg"),
    ] {
        let problems = set(path, value).err().unwrap_or_else(|| panic!("{path} = {value}"));
        assert!(problems.to_string().contains(said), "{problems}");
    }
}
