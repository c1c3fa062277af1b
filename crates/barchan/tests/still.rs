//! A solver of one's own: this file and one line of a table are all that it takes.

use barchan::scene::{Document, Place, Scene, parse_scene_with, schema_with};
use barchan::world::spec::{
    BodySurface, Facts, FrictionMeaning, Idle, Input, Kind, Need, Preset, Refusal, Setting, Settings, SolverSpec,
    TableSpec, Unless, Weight, field, preset_names,
};
use barchan::world::{AdvanceError, AdvanceReport, Archive, ArchiveError, Solver, World, displace, words};
use barchan::{SOLVERS, Simulation, check_settings};
use glam::Vec3;

/// The line: the solvers that there are, and this one.
fn solvers() -> Vec<&'static SolverSpec> {
    [SOLVERS, &[&STILL]].concat()
}

static STILL: SolverSpec = SolverSpec {
    name: "still",
    about: "guides stay where they are, or nearly so",
    settings: SETTINGS,
    presets: &PRESETS,
    materials: &["restitution"],
    idle: &[Idle {
        key: "amplitude",
        unless: Unless::Word("manner", &[Manner::Shiver.word()]),
    }],
    idle_materials: &[],
    facts,
    build,
};

const SETTINGS: TableSpec = TableSpec {
    name: "solver.still",
    fields: &[
        field(
            "preset",
            Kind::Word(&preset_names(&PRESETS)),
            Need::Optional,
            "settings under a name",
        ),
        field(
            "manner",
            Kind::Word(Manner::WORDS),
            Need::Word(Manner::Rest.word()),
            "manner of standing still",
        ),
        field(
            "amplitude",
            Kind::Between(0.0, 1.0),
            Need::Number(0.001),
            "amplitude of shivering [m]",
        ),
    ],
    exclusive: &[],
};

const PRESETS: [Preset; 1] = [Preset {
    name: "cold",
    about: "a cold day",
    settings: &[("manner", Setting::word("shiver"))],
}];

words! {
    /// Manner of standing still.
    enum Manner {
        /// Without any motion.
        Rest = "rest",
        /// Up and down, and less from frame to frame.
        Shiver = "shiver",
    }
}

fn facts(_: &Settings) -> Facts {
    Facts {
        weight: Weight::Bulk,
        clumps: false,
        continuum: false,
        friction: FrictionMeaning::Bulk,
        bodies: BodySurface::Distance { band: 2.0 },
        shortest_period: None,
        steepest: 90.0,
        guide_bytes: 200.0,
        passes: None,
    }
}

fn build(input: &Input, world: &World) -> Result<Box<dyn Solver>, Refusal> {
    let manner: Manner = input.settings.get("manner")?;
    let amplitude: f32 = input.settings.get("amplitude")?;
    if let Some(name) = world
        .bodies
        .iter()
        .find(|body| body.is_dynamic())
        .map(|body| &body.name)
    {
        return Err(format!("body `{name}` cannot stand still").into());
    }
    Ok(Box::new(Still {
        way: match manner {
            Manner::Rest => 0.0,
            Manner::Shiver => amplitude,
        },
    }))
}

struct Still {
    /// Displacement of the next frame [m].
    way: f32,
}

impl Solver for Still {
    fn name(&self) -> &'static str {
        STILL.name
    }

    fn advance(&mut self, world: &mut World, _: f64) -> Result<AdvanceReport, AdvanceError> {
        let guides = &mut world.guides;
        for (position, offset) in guides.position.iter_mut().zip(&mut guides.offset) {
            displace(position, offset, self.way * Vec3::Z);
        }
        self.way *= -0.7;
        Ok(AdvanceReport {
            steps: 1,
            ..AdvanceReport::default()
        })
    }

    fn save(&self, archive: &mut Archive) {
        archive.put("still.way", &[self.way]);
    }

    fn load(&mut self, _: &World, archive: &Archive) -> Result<(), ArchiveError> {
        self.way = archive.get_one("still.way")?;
        Ok(())
    }
}

const SCENE: &str = r#"
duration = 1
[materials.sand]
density = 1600
[[fill]]
material = "sand"
radius = 0.02
shape = { box = { size = [0.2, 0.2, 0.2] }, at = [0, 0, 0.2] }
[[body]]
name = "ground"
shape = { half_space = { normal = [0, 0, 1] } }
[solver]
kind = "still"
"#;

fn parse(set: &[&str]) -> (Scene, Vec<String>) {
    let document = set
        .iter()
        .fold(Document::new("scene.toml", SCENE), |d, &set| d.with(set));
    let (scene, warnings) = parse_scene_with(&document, &solvers()).unwrap_or_else(|problems| panic!("{problems}"));
    (scene, warnings.into_iter().map(|warning| warning.message).collect())
}

#[test]
fn it_runs_a_scene_and_resumes_bit_for_bit() {
    let (scene, warnings) = parse(&["solver.still.preset=cold"]);
    assert!(warnings.is_empty(), "{warnings:?}");
    let mut whole = Simulation::new(&scene).unwrap();
    let start = whole.world().guides.position[0];
    whole.advance().unwrap();
    let moved = whole.world().guides.position[0] - start;
    assert!((moved - 0.001 * Vec3::Z).length() < 1e-6, "{moved}");
    let mut resumed = Simulation::resume(&scene, &whole.save()).unwrap();
    for _ in 0..3 {
        whole.advance().unwrap();
        resumed.advance().unwrap();
    }
    assert_eq!(whole.frame().guides, resumed.frame().guides);
    assert_eq!(whole.save(), resumed.save());
    assert_ne!(whole.world().guides.position[0], start, "it shivers");
    // Without the preset it stands.
    let mut rest = Simulation::new(&parse(&[]).0).unwrap();
    rest.advance().unwrap();
    assert_eq!(rest.world().guides.position[0], start);
}

#[test]
fn its_settings_are_checked_with_line_and_column() {
    let problems = |added: &str| {
        let text = format!("{SCENE}{added}");
        let problems = parse_scene_with(&Document::new("scene.toml", text), &solvers()).unwrap_err();
        let place = |at: usize| match problems.document.place(at) {
            Place::Text { line, column } => (line, column),
            Place::Override(assignment) => panic!("{assignment}"),
        };
        let items = problems.items.iter();
        items
            .map(|item| (place(item.span.start), item.message.clone()))
            .collect::<Vec<_>>()
    };
    let wrong = problems("[solver.still]\namplitude = 2\nmaner = \"rest\"\nmanner = \"dance\"\n");
    assert_eq!(
        wrong,
        [
            ((15, 13), "amplitude must be 0 to 1, got `2`".to_owned()),
            ((16, 1), "unknown key `maner` in solver.still".to_owned()),
            ((17, 10), "unknown manner `dance`".to_owned()),
        ]
    );
    let periodic = problems("[periodic]\nx = [-1, 1]\n");
    assert_eq!(periodic[0].1, "still has no periodic axes");
    let refused = check_settings(&parse(&[]).0);
    assert_eq!(refused, Ok(()));
}

#[test]
fn what_it_does_not_use_is_warned_of() {
    let (_, warnings) = parse(&["solver.still.amplitude=0.1"]);
    assert_eq!(warnings, ["`amplitude` has no effect with manner = \"rest\""]);
    let (_, warnings) = parse(&[
        "materials.sand.restitution=0.5",
        "materials.sand.cohesion=5",
        "fill.0.clump=cube",
    ]);
    assert_eq!(
        warnings,
        [
            "`cohesion` has no effect with still",
            "still has no clumps: each cube is replaced by the sphere of equal volume"
        ]
    );
}

#[test]
fn it_stands_in_the_schema_and_in_the_manual() {
    let schema = schema_with(&solvers());
    let solver = &schema["properties"]["solver"]["properties"];
    assert_eq!(
        solver["kind"]["enum"],
        serde_json::json!(["pbd", "sph", "dem", "mpm", "still"])
    );
    assert_eq!(
        solver["still"]["properties"]["manner"]["enum"],
        serde_json::json!(["rest", "shiver"])
    );
    assert_eq!(solver["still"]["properties"]["amplitude"]["default"], 0.001);
    let restitution = &schema["properties"]["materials"]["additionalProperties"]["properties"]["restitution"];
    assert!(
        restitution["description"]
            .as_str()
            .unwrap()
            .ends_with("; with dem, still")
    );
    let manual = STILL.manual();
    assert!(
        manual.contains("| `amplitude` | 0.001 | 0 to 1 | amplitude of shivering [m] |"),
        "{manual}"
    );
    assert!(
        manual.contains("Preset `cold`, a cold day: `manner = \"shiver\"`."),
        "{manual}"
    );
}

#[test]
fn a_word_that_is_none_of_its_words_is_an_error_and_no_default() {
    let (mut scene, _) = parse(&[]);
    scene.solver_settings.set("manner", Setting::word("dance"));
    let refusal = check_settings(&scene).unwrap_err().to_string();
    assert_eq!(refusal, "solver `still`: `manner` cannot be dance");
}
