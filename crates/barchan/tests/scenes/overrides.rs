use barchan::scene::{Document, FillSource, Scene, parse_scene};

use crate::wrong::GOOD;

fn with(text: &str, overrides: &[&str]) -> Result<Scene, String> {
    let document = overrides
        .iter()
        .fold(Document::new("scene.toml", text), |d, o| d.with(*o));
    parse_scene(&document)
        .map(|(scene, _)| scene)
        .map_err(|problems| problems.to_string())
}

fn radius(scene: &Scene, fill: usize) -> f64 {
    match &scene.fills[fill].source {
        FillSource::Shape { radii, .. } => radii.max(),
        FillSource::Points(particles) => particles.radii[0],
    }
}

#[test]
fn overrides_replace_what_the_text_says() {
    let scene = with(
        GOOD,
        &[
            "duration=2.5",
            "name = long one",
            "fill.0.radius=0.2",
            "solver.pbd.substeps=7",
            "solver.pbd.friction=sommer",
            "materials.sand.density=1700",
            "gravity=[0, 0, -1.62]",
            "periodic.x = [0, 4]",
        ],
    )
    .unwrap();
    assert_eq!((scene.duration, scene.name.as_str()), (2.5, "long one"));
    assert_eq!(radius(&scene, 0), 0.2);
    assert_eq!(scene.solver_settings.count("substeps"), Some(7));
    assert_eq!(scene.solver_settings.word("friction"), Some("sommer"));
    assert_eq!(scene.materials.all[0].density, 1700.0);
    assert_eq!(scene.gravity.z, -1.62);
    assert_eq!(scene.periodic, [Some([0.0, 4.0]), None, None]);
}

#[test]
fn the_last_of_two_overrides_counts_and_lists_are_reached_by_name() {
    let text = format!("{GOOD}[[body]]\nname = \"glass\"\nshape = {{ sphere = {{ radius = 1 }} }}\n");
    let scene = with(
        &text,
        &["body.glass.friction=0.1", "body.0.friction=0.7", "body.glass.name=vase"],
    )
    .unwrap();
    assert_eq!(
        (scene.bodies[0].friction.kinetic, scene.bodies[0].name.as_str()),
        (0.7, "vase")
    );
}

#[test]
fn one_of_two_keys_that_exclude_each_other_removes_the_other() {
    let text = GOOD.replace("density = 1600", "density = 1600\nfriction = 0.5");
    let scene = with(&text, &["materials.sand.angle_of_repose=45"]).unwrap();
    assert!((scene.materials.all[0].angle_of_repose.unwrap() - 45f64.to_radians()).abs() < 1e-12);
    assert!((scene.materials.all[0].friction.kinetic - 1.0).abs() < 1e-6);
    let back = with(
        &text,
        &["materials.sand.angle_of_repose=45", "materials.sand.friction=0.3"],
    )
    .unwrap();
    assert!((back.materials.all[0].angle_of_repose.unwrap().tan() - 0.3).abs() < 1e-6);
    assert_eq!(back.materials.all[0].friction.kinetic, 0.3);
    let steps = format!("{GOOD}[solver.pbd]\nsubsteps = 9\n");
    let scene = with(&steps, &["solver.pbd.step=0.01"]).unwrap();
    assert_eq!(scene.solver_settings.number("step"), Some(0.01));
    assert_eq!(scene.solver_settings.count("substeps"), None);
}

/// Override, then message and help as shown.
#[rustfmt::skip]
const WRONG: &[(&str, &str, &str)] = &[
    ("solver.kind=spg", "unknown kind `spg`", "allowed: pbd, sph, dem"),
    ("solver.pbd.substep=2", "unknown key `substep` in solver.pbd", "did you mean `substeps`?"),
    ("solvr.kind=pbd", "unknown key `solvr` in the scene", "did you mean `solver`?"),
    ("duration=long", "duration must be a number, got `long`, a string", ""),
    ("duration=-1", "duration must be 1e-6 to 1e7, got `-1`", ""),
    ("duration.x=1", "`duration` is a number, there is no `x` in it", ""),
    ("fill.1.radius=1", "`fill` has one item, 0; there is no `1`", ""),
    ("fill.sand.radius=1", "`fill` has one item, 0; there is no `sand`", ""),
    ("materials.snad.density=1", "there is no material `snad`", "did you mean `sand`?"),
    ("duration", "an override must be KEY=VALUE", "solver.kind=pbd"),
    ("=3", "`` is no key", ""),
    ("fill..radius=3", "`fill..radius` is no key", ""),
    ("gravity=[0, 0", "unclosed array, expected `]`", ""),
    ("fill.0.shape={ sphere = { radius = 0.01 } }", "no guide of radius 0.1 m fits into this shape", ""),
];

#[test]
fn wrong_overrides_are_reported_as_such() {
    for (said, message, help) in WRONG {
        let problems = with(GOOD, &["seed=3", said]).expect_err(said);
        assert!(
            problems.starts_with(&format!("error: {message}\n  --> --set {said}")),
            "{problems}"
        );
        assert!(problems.contains(help), "{problems}");
    }
}

#[test]
fn overrides_of_an_empty_scene_are_reported_too() {
    for said in ["", "=", "=1", "a", "a=", "seed"] {
        let problems = with("", &[said]).expect_err(said);
        assert!(problems.contains("duration"), "{problems}");
    }
}

#[test]
fn a_missing_key_is_reported_in_the_file_also_if_an_override_made_the_table() {
    let problems = with(GOOD, &["refine.radii=1"]).unwrap_err();
    assert!(
        problems.contains("unknown key `radii` in refine\n  --> --set refine.radii=1"),
        "{problems}"
    );
    assert!(
        problems.contains("refine must have the key `radius`\n  --> --set refine.radii=1"),
        "{problems}"
    );
}
