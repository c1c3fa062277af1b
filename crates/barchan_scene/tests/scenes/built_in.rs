use barchan_scene::{BUILT_IN, Scene, built_in, parse_scene};
use barchan_world::{Boundary, Mass, World};

fn scene(name: &str) -> Scene {
    let document = built_in(name).unwrap();
    let (scene, warnings) = parse_scene(&document).unwrap_or_else(|problems| panic!("{problems}"));
    let warnings: Vec<String> = warnings.iter().map(|warning| warning.render(&document)).collect();
    assert!(warnings.is_empty(), "{}", warnings.join("\n"));
    scene
}

fn world(name: &str) -> World {
    scene(name).build().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_built_in_scene_is_read_without_warnings_and_makes_a_world() {
    for entry in BUILT_IN {
        let start = std::time::Instant::now();
        let scene = scene(entry.name);
        let world = scene.build().unwrap_or_else(|error| panic!("{}: {error}", entry.name));
        println!("{:10} {:6} guides, {:7.1} kg, {:.2} s", entry.name, world.guides.len(), world.ledger.filled.kilograms(), start.elapsed().as_secs_f64());
        for body in &world.bodies {
            let kind = match &body.boundary {
                Boundary::Field(grid) => format!("field {:.4} m, {} kB", grid.voxel(), grid.bytes() / 1000),
                Boundary::Exact(_) => "exact".to_owned(),
                Boundary::Particles { positions, .. } => format!("{} particles", positions.len()),
            };
            println!("    {:12} {:7} triangles, {:8.4} m³, {kind}", body.name, body.surface.triangles.len(), body.mass_properties.volume);
        }
        assert_eq!(scene.name, entry.name);
        assert_eq!(world.ledger.expected(), Mass::sum(world.guides.mass.iter().copied()));
    }
    let _ = world;
}
