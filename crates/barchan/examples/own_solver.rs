//! Adds a solver of one's own: dust that sinks through air at a constant speed and stays on the ground.

use std::error::Error;

use barchan::scene::{Document, parse_scene_with};
use barchan::world::spec::{
    BodySurface, Facts, FrictionMeaning, Input, Kind, Need, Refusal, Settings, SolverSpec, TableSpec, Weight, field,
};
use barchan::world::{AdvanceError, AdvanceReport, Archive, ArchiveError, Solver, World, displace};
use barchan::{SOLVERS, Simulation};
use glam::Vec3;

/// Description of the solver: scene files, `check` and the JSON Schema follow from it.
static DUST: SolverSpec = SolverSpec {
    name: "dust",
    about: "guides sink at a constant speed",
    settings: SETTINGS,
    presets: &[],
    materials: &[],
    idle: &[],
    idle_materials: &[],
    facts,
    build,
};

const SETTINGS: TableSpec = TableSpec {
    name: "solver.dust",
    fields: &[field(
        "speed",
        Kind::Between(0.0, 100.0),
        Need::Number(0.5),
        "speed of sinking [m/s]",
    )],
    exclusive: &[],
};

fn facts(_: &Settings) -> Facts {
    Facts {
        weight: Weight::Bulk,
        clumps: false,
        continuum: false,
        friction: FrictionMeaning::Bulk,
        bodies: BodySurface::Distance { band: 2.0 },
        shortest_period: None,
        steepest: 90.0,
        guide_bytes: 100.0,
        passes: None,
    }
}

fn build(input: &Input, _: &World) -> Result<Box<dyn Solver>, Refusal> {
    let speed = input.settings.get("speed")?;
    Ok(Box::new(Dust { speed }))
}

struct Dust {
    /// Speed of sinking [m/s].
    speed: f32,
}

impl Solver for Dust {
    fn name(&self) -> &'static str {
        DUST.name
    }

    fn advance(&mut self, world: &mut World, duration: f64) -> Result<AdvanceReport, AdvanceError> {
        let way = self.speed * duration as f32;
        for i in 0..world.guides.len() {
            // The ground is z = 0; a real solver asks the distance fields of the bodies.
            let height = world.place(i).z as f32 - world.guides.radius[i];
            let guides = &mut world.guides;
            let down = way.min(height.max(0.0));
            displace(&mut guides.position[i], &mut guides.offset[i], -down * Vec3::Z);
        }
        Ok(AdvanceReport {
            steps: 1,
            ..AdvanceReport::default()
        })
    }

    /// Stores everything that the next frame depends on besides the world: here nothing.
    fn save(&self, _: &mut Archive) {}

    fn load(&mut self, _: &World, _: &Archive) -> Result<(), ArchiveError> {
        Ok(())
    }
}

const SCENE: &str = r#"
    duration = 1
    solver = { kind = "dust", dust = { speed = 0.8 } }

    [materials.dust]
    density = 1000

    [[fill]]
    material = "dust"
    radius = 0.02
    shape = { box = { size = [0.2, 0.2, 0.4] }, at = [0, 0, 0.5] }
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let solvers = [SOLVERS, &[&DUST]].concat();
    let (scene, _) = parse_scene_with(&Document::new("dust", SCENE), &solvers)?;
    let mut simulation = Simulation::new(&scene)?;
    for frame in 0..=scene.frames() {
        if frame % 15 == 0 {
            let world = simulation.world();
            let heights = (0..world.guides.len()).map(|i| world.place(i).z);
            let on_the_ground = heights.filter(|z| *z < 0.0201).count();
            println!(
                "{:.2} s: {on_the_ground} of {} on the ground",
                world.time,
                world.guides.len()
            );
        }
        simulation.advance()?;
    }
    Ok(())
}
