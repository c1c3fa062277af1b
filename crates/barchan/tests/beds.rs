//! Deep beds keep their packing, and bodies carry their weight, asleep or not.

use barchan::Simulation;
use barchan::scene::{Document, parse_scene};

const GRAVITY: f64 = 9.81;

fn simulation(text: &str) -> Simulation {
    let (scene, _) = parse_scene(&Document::new("bed", text)).unwrap_or_else(|problems| panic!("{problems}"));
    Simulation::new(&scene).expect("it can be built")
}

/// Returns the weight carried by all bodies relative to the weight of all guides [-], in the last frame.
fn carried(simulation: &Simulation) -> f64 {
    let world = simulation.world();
    let mass: f64 = world.guides.mass.iter().map(|&m| f64::from(m)).sum();
    let force: f64 = world.bodies.iter().map(|body| -body.wrench.force.z).sum();
    force / (mass * GRAVITY)
}

/// Returns the packing fraction between the heights `low` and `high` [m] over `area` [m²] [-].
fn packing(simulation: &Simulation, area: f64, [low, high]: [f64; 2]) -> f64 {
    let world = simulation.world();
    let below = |i: usize, plane: f64| {
        let r = f64::from(world.guides.radius[i]);
        let h = (plane - world.place(i).z).clamp(-r, r);
        std::f64::consts::PI * (r * r * h - h.powi(3) / 3.0 + 2.0 / 3.0 * r.powi(3))
    };
    let volume: f64 = (0..world.guides.len()).map(|i| below(i, high) - below(i, low)).sum();
    volume / (area * (high - low))
}

#[test]
fn a_bed_of_forty_layers_below_a_free_ball_keeps_its_packing_and_its_floor_carries_it() {
    let mut simulation = simulation(
        r#"
        duration = 10
        [materials.sand]
        density = 1600
        angle_of_repose = 30
        [[fill]]
        material = "sand"
        radius = { min = 0.018, max = 0.022 }
        settle = 1.6
        shape = { box = { size = [0.4, 0.4, 1.6] }, at = [0, 0, 0.8] }
        [[body]]
        name = "floor"
        friction = 0.5
        shape = { half_space = { normal = [0, 0, 1] } }
        [[body]]
        name = "walls"
        friction = 0
        shape = { subtract = [{ box = { size = [0.6, 0.6, 4] } }, { box = { size = [0.4, 0.4, 5] } }] }
        [[body]]
        name = "ball"
        motion = "dynamic"
        density = 3000
        shape = { sphere = { radius = 0.06 }, at = [0, 0, 1.9] }
        "#,
    );
    let mut sum = 0.0;
    for _ in 0..12 {
        simulation.advance().expect("stable");
        let carried = carried(&simulation);
        assert!((carried - 1.0).abs() < 0.06, "{carried}");
        sum += carried;
    }
    assert!((sum / 12.0 - 1.0).abs() < 0.03, "{}", sum / 12.0);
    // The ball falls freely: the tube is not a solid box.
    let (ball, time) = (simulation.world().bodies[2].pose.position.z, simulation.world().time);
    assert!((1.9 - ball - 0.5 * GRAVITY * time * time).abs() < 1e-3, "{ball}");
    // Walls order guides, so that the mean is below that of the bulk.
    for layer in [[0.1, 0.4], [0.4, 0.8], [0.8, 1.2]] {
        let packing = packing(&simulation, 0.16, layer);
        assert!((0.56..0.63).contains(&packing), "{layer:?}: {packing}");
    }
    assert!(
        simulation.report().max_overlap < 0.1,
        "{}",
        simulation.report().max_overlap
    );
}

#[test]
fn floor_and_wall_carry_all_sand_while_the_floor_sinks_slowly_and_after() {
    let mut simulation = simulation(
        r#"
        duration = 10
        [materials.sand]
        density = 1600
        angle_of_repose = 30
        [[fill]]
        material = "sand"
        radius = { min = 0.018, max = 0.022 }
        settle = 1
        shape = { cylinder = { radius = 0.14, height = 0.5 }, at = [0, 0, 0.25] }
        [[body]]
        name = "tube"
        friction = 0.5
        shape = { revolve = [[0.14, -0.2], [0.2, -0.2], [0.2, 0.8], [0.14, 0.8]] }
        [[body]]
        name = "floor"
        motion = "scripted"
        friction = 0.5
        keys = [{ time = 0, at = [0, 0, 0] }, { time = 5, at = [0, 0, 0] }, { time = 6, at = [0, 0, -0.01] }]
        shape = { cylinder = { radius = 0.15, height = 0.1 }, at = [0, 0, -0.05] }
        "#,
    );
    let mut slept = false;
    for half_second in 0..14 {
        let mut sum = 0.0;
        for _ in 0..30 {
            simulation.advance().expect("stable");
            slept |= simulation.report().steps == 0;
            sum += carried(&simulation) / 30.0;
        }
        assert!((sum - 1.0).abs() < 0.03, "half second {half_second}: {sum}");
    }
    assert!(
        slept,
        "the case shows nothing unless sand sleeps before the floor sinks"
    );
}
