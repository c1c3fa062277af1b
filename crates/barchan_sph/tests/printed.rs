//! Settings and presets of papers, as printed.

mod support;

use barchan_sph::{Correction, Gradients, Prediction, Rest, SPEC, SphSettings, WallShear, Walls};
use barchan_world::{Motion, Solver, Twist, World};
use glam::{DVec3, Vec3};
use support::*;

const SPACING: f64 = 0.04;
const PRESETS: [&str; 2] = ["ihmsen", "neder"];

fn preset(name: &str) -> SphSettings {
    SphSettings::read(&SPEC.preset_settings(name).unwrap(), 60.0).unwrap()
}

/// A lattice of guides of `spacing` [m] from `low` on, each with the volume of a cube of [`SPACING`].
fn lattice(world: &mut World, low: DVec3, count: [u32; 3], spacing: f64, velocity: DVec3) {
    let mass = (1600.0 * SPACING.powi(3)) as f32;
    for k in 0..count.iter().product::<u32>() {
        let at = [k % count[0], k / count[0] % count[1], k / count[0] / count[1]].map(f64::from);
        world.add_guide(low + spacing * DVec3::from(at), velocity, 0.5 * SPACING, mass, 0);
    }
}

/// Density over rest density in a lattice of `spacing` [m], summed with the cubic spline.
fn lattice_density(spacing: f64) -> f64 {
    let support = 2.0 * SPACING;
    let weight = |q: f64| match q {
        q if q <= 0.5 => 6.0 * (q.powi(3) - q * q) + 1.0,
        q if q <= 1.0 => 2.0 * (1.0 - q).powi(3),
        _ => 0.0,
    };
    let sum: f64 = (0..729)
        .map(|k| DVec3::new(f64::from(k % 9), f64::from(k / 9 % 9), f64::from(k / 81)) - 4.0)
        .map(|at| weight(spacing * at.length() / support))
        .sum();
    8.0 / std::f64::consts::PI * (SPACING / support).powi(3) * sum
}

fn center(world: &World) -> DVec3 {
    let sum: DVec3 = (0..world.guides.len()).map(|i| world.place(i)).sum();
    sum / world.guides.len() as f64
}

fn energy(world: &World) -> f64 {
    let guides = &world.guides;
    let of = |i: usize| {
        let kinetic = 0.5 * guides.velocity[i].as_dvec3().length_squared();
        f64::from(guides.mass[i]) * (kinetic - world.gravity.dot(world.place(i)))
    };
    (0..guides.len()).map(of).sum()
}

#[test]
fn a_pass_at_predicted_positions_answers_with_the_stiffness_of_a_prototype() {
    // Squeezed by 2 %, and coming nearer at a rate that squeezes it by 1 % more in the step.
    let (squeezed, step) = (0.98 * SPACING, 1e-3);
    for rate in [0.0, -10.0f64] {
        let mut world = world(DVec3::ZERO, friction(0.0));
        lattice(&mut world, DVec3::splat(-4.0 * squeezed), [9; 3], squeezed, DVec3::ZERO);
        for (v, p) in world.guides.velocity.iter_mut().zip(&world.guides.position) {
            *v = rate as f32 * *p;
        }
        let settings = SphSettings {
            prediction: Prediction::Positions,
            correction: Correction::Velocity,
            iterations: [1, 1],
            step: Some(step),
            warm_start: false,
            cfl: 0.4,
            ..SphSettings::default()
        };
        let mut solver = solver(settings, &world);
        solver.advance(&mut world, step).unwrap();
        let (density, pressure) = (column(&solver, "density"), column(&solver, "pressure"));
        let middle = (0..world.guides.len())
            .min_by(|&a, &b| world.place(a).length().total_cmp(&world.place(b).length()))
            .unwrap();
        let ahead = lattice_density(squeezed * (1.0 + rate * step));
        assert!((f64::from(density[middle]) - lattice_density(squeezed)).abs() < 1e-4);
        // γ of [Ihmsen13] eq. (7): 1.1769 d²/Δt².
        let expected = 1.1769 * 1600.0 * (SPACING / step).powi(2) * (ahead - 1.0);
        let found = f64::from(pressure[middle]);
        assert!(
            (found / expected - 1.0).abs() < 0.02,
            "{rate}: {found} Pa, not {expected} Pa"
        );
    }
}

#[test]
fn presets_keep_momentum_and_lose_energy_in_a_cloud() {
    for name in PRESETS {
        let mut world = world(DVec3::ZERO, friction(0.6));
        fill(&mut world, DVec3::splat(-0.2), DVec3::splat(0.2), 0.02, 0.02);
        for (v, p) in world.guides.velocity.iter_mut().zip(&world.guides.position) {
            let swirl = Vec3::new(-p.y, p.x, 0.3 * p.x);
            *v = 2.0 * swirl + 0.2 * Vec3::new((37.0 * p.x).sin(), (41.0 * p.z).cos(), (29.0 * p.y).sin());
        }
        let (p, e) = (momentum(&world), energy(&world));
        let pairs = world.guides.velocity.iter().zip(&world.guides.mass);
        let scale: f64 = pairs.map(|(v, m)| f64::from(v.length() * m)).sum();
        let settings = SphSettings {
            air: None,
            sleeping: false,
            ..preset(name)
        };
        let mut solver = solver(settings, &world);
        run(&mut solver, &mut world, 6);
        assert!(
            (momentum(&world) - p).length() < 1e-5 * scale,
            "{name}: {}",
            momentum(&world) - p
        );
        assert!(energy(&world) < 0.98 * e, "{name}: {} J of {e} J", energy(&world));
    }
}

#[test]
fn presets_carry_the_weight_of_sand_and_press_with_its_depth() {
    for name in PRESETS {
        let mut world = world(down(), friction(0.0));
        let side = 8.0 * SPACING;
        world.periodic = [Some([0.0, side]), Some([0.0, side]), None];
        world.bodies = vec![floor(0.0)];
        let low = DVec3::new(0.5 * SPACING, 0.5 * SPACING, 0.58 * SPACING);
        lattice(&mut world, low, [8, 8, 8], SPACING, DVec3::ZERO);
        let settings = SphSettings {
            sleeping: false,
            step: Some(1e-3),
            // Volume maps press the sand above them with many times its weight.
            walls: Walls::Density,
            ..preset(name)
        };
        let mut solver = solver(settings, &world);
        run(&mut solver, &mut world, 60);
        let weight: f64 = world.guides.mass.iter().map(|&m| 9.81 * f64::from(m)).sum();
        let (mut force, mut low, mut high, frames) = (0.0, [0.0; 2], [0.0; 2], 30);
        for _ in 0..frames {
            run(&mut solver, &mut world, 1);
            force -= world.bodies[0].wrench.force.z / f64::from(frames);
            let center = center(&world).z;
            for (i, &p) in column(&solver, "pressure").iter().enumerate() {
                let half = if world.place(i).z < center { &mut low } else { &mut high };
                *half = [half[0] + f64::from(p), half[1] + 1.0];
            }
        }
        assert!((force / weight - 1.0).abs() < 0.1, "{name}: {force} N of {weight} N");
        // Means of the lower and the upper half: 3/4 and 1/4 of what presses at the bottom.
        let depth = 8.0 * SPACING * 1600.0 * 9.81;
        let (low, high) = (low[0] / low[1], high[0] / high[1]);
        assert!((low / depth - 0.75).abs() < 0.2, "{name}: {low} Pa of {depth} Pa");
        assert!((high / depth - 0.25).abs() < 0.15, "{name}: {high} Pa of {depth} Pa");
    }
}

/// Momentum along x [kg m/s] that a slab of sand at 1 m/s, on a floor that moves at `speed` [m/s], has lost after 12 frames without
/// gravity along it, and what the floor got.
fn exchanged(settings: SphSettings, speed: f64) -> [f64; 2] {
    let mut world = world(down(), friction(0.6));
    let mut ground = floor(0.6);
    ground.motion = Motion::Driven;
    ground.twist = Twist {
        linear: speed * DVec3::X,
        angular: DVec3::ZERO,
    };
    world.bodies = vec![ground];
    let side = 8.0 * SPACING;
    world.periodic = [Some([0.0, side]), Some([0.0, side]), None];
    let low = DVec3::new(0.5 * SPACING, 0.5 * SPACING, 0.6 * SPACING);
    lattice(&mut world, low, [8, 8, 5], SPACING, DVec3::X);
    let start = momentum(&world).x;
    let mut solver = solver(settings, &world);
    let mut given = 0.0;
    for _ in 0..12 {
        run(&mut solver, &mut world, 1);
        given += world.bodies[0].wrench.force.x * FRAME;
    }
    [start - momentum(&world).x, given]
}

#[test]
fn walls_rub_by_stress_and_viscosity_and_get_what_sand_loses() {
    for wall_shear in [WallShear::Stress, WallShear::Dissipation] {
        let settings = SphSettings {
            wall_shear,
            wall_viscosity: (wall_shear == WallShear::Dissipation).then_some(0.5),
            ..SphSettings::default()
        };
        let mass = 8.0 * 8.0 * 5.0 * 1600.0 * SPACING.powi(3);
        let [lost, given] = exchanged(settings.clone(), 0.0);
        assert!(lost > 0.1 * mass, "{wall_shear:?}: {lost} of {mass} kg m/s");
        assert!(
            (given - lost).abs() < 0.02 * lost,
            "{wall_shear:?}: {given} of {lost} kg m/s"
        );
        // A wall that goes along strains nothing, eq. (18) with differences of velocities.
        let [along, _] = exchanged(settings, 1.0);
        assert!(along.abs() < 0.02 * lost, "{wall_shear:?}: {along} of {lost} kg m/s");
    }
}

/// Velocities [m/s] after six frames of a layer in shear on a floor, with plain gradients and friction `mu`, less the `speed` [m/s] along x
/// that the floor and all of it have.
fn sheared(mu: f32, speed: f64) -> Vec<Vec3> {
    let mut world = world(down(), friction(mu));
    let mut ground = floor(mu);
    ground.motion = Motion::Driven;
    ground.twist = Twist {
        linear: speed * DVec3::X,
        angular: DVec3::ZERO,
    };
    world.bodies = vec![ground];
    let side = 8.0 * SPACING;
    world.periodic = [Some([0.0, side]), Some([0.0, side]), None];
    let low = DVec3::new(0.5 * SPACING, 0.5 * SPACING, 0.58 * SPACING);
    lattice(&mut world, low, [8, 8, 6], SPACING, speed * DVec3::X);
    for (v, p) in world.guides.velocity.iter_mut().zip(&world.guides.position) {
        v.y = 3.0 * p.z;
    }
    let settings = SphSettings {
        gradients: Gradients::Plain,
        ..SphSettings::default()
    };
    let mut solver = solver(settings, &world);
    run(&mut solver, &mut world, 6);
    world
        .guides
        .velocity
        .iter()
        .map(|v| *v - speed as f32 * Vec3::X)
        .collect()
}

#[test]
fn plain_gradients_damp_shear_and_feel_nothing_of_a_common_speed() {
    let squares = |velocities: &[Vec3]| velocities.iter().map(|v| f64::from(v.y * v.y)).sum::<f64>();
    let (rough, smooth, along) = (
        squares(&sheared(0.6, 0.0)),
        squares(&sheared(0.0, 0.0)),
        sheared(0.6, 1.0),
    );
    assert!(rough < 0.7 * smooth, "{rough} of {smooth}");
    assert!(
        (squares(&along) / rough - 1.0).abs() < 0.05,
        "{} of {rough}",
        squares(&along)
    );
    let mean = along.iter().map(|v| f64::from(v.x)).sum::<f64>() / along.len() as f64;
    assert!(mean.abs() < 0.01, "{mean} m/s against a floor that goes along");
}

#[test]
fn a_guide_that_sleeps_for_itself_stays_and_one_that_falls_does_not() {
    let moved = |height: f64, speed: f64, rest: Rest| {
        let mut world = world(down(), friction(0.5));
        world.bodies = vec![floor(0.0)];
        lattice(&mut world, height * DVec3::Z, [1; 3], SPACING, speed * DVec3::X);
        let settings = SphSettings {
            rest,
            step: Some(1e-3),
            ..SphSettings::default()
        };
        let mut solver = solver(settings, &world);
        run(&mut solver, &mut world, 12);
        world.place(0) - height * DVec3::Z
    };
    // On the floor, slower than 0.02 √(g d) = 12.5 mm/s: friction of the floor is none.
    let on_floor = 0.45 * SPACING;
    let (single, all) = (moved(on_floor, 1e-3, Rest::Single), moved(on_floor, 1e-3, Rest::All));
    assert!(single.x.abs() < 1e-8, "{single}");
    assert!((all.x - 2e-4).abs() < 2e-5, "{all}");
    let fall = moved(2.0, 0.0, Rest::Single).z;
    assert!((fall + 0.5 * 9.81 * 0.2f64.powi(2)).abs() < 0.005, "{fall} m");
}

#[test]
fn passes_go_on_until_the_stress_changes_little() {
    let passes = |stress_error: Option<f32>| {
        let mut world = world(down(), friction(0.6));
        world.bodies = basin(DVec3::new(0.4, 0.4, 0.4), 0.6);
        let corner = -0.2 + 0.5 * SPACING;
        lattice(
            &mut world,
            DVec3::new(corner, corner, 0.58 * SPACING),
            [10, 10, 6],
            SPACING,
            DVec3::ZERO,
        );
        let settings = SphSettings {
            iterations: [1, 40],
            density_error: 0.1,
            stress_error,
            warm_start: false,
            sleeping: false,
            ..SphSettings::default()
        };
        let mut solver = solver(settings, &world);
        let mut passes = 0.0;
        for _ in 0..6 {
            let report = solver.advance(&mut world, FRAME).unwrap();
            world.time += FRAME;
            let extra = report
                .extras
                .iter()
                .find(|extra| extra.0 == "pressure_iterations")
                .unwrap();
            passes += extra.1 / 6.0;
        }
        passes
    };
    let (density, loose, tight) = (passes(None), passes(Some(0.2)), passes(Some(0.02)));
    assert!(density < loose && loose < tight, "{density} {loose} {tight} passes");
    assert!(density < 3.0, "{density} passes");
}

/// Median distance from the axis [m], and lowest place [m], of a block of sand with friction `mu` half a second after it was released.
fn released(settings: SphSettings, mu: f32) -> [f64; 2] {
    let mut world = world(down(), friction(mu));
    world.bodies = vec![floor(mu)];
    // Higher than volume maps let guides hover.
    let low = DVec3::new(-0.14, -0.14, 1.5 * SPACING);
    lattice(&mut world, low, [8, 8, 8], SPACING, DVec3::ZERO);
    let before = center(&world);
    let mut solver = solver(settings, &world);
    run(&mut solver, &mut world, 30);
    assert!((center(&world) - before).truncate().length() < 0.02);
    let places: Vec<DVec3> = (0..world.guides.len()).map(|i| world.place(i)).collect();
    let mut radii: Vec<f64> = places.iter().map(|p| p.truncate().length()).collect();
    radii.sort_by(f64::total_cmp);
    [
        radii[radii.len() / 2],
        places.iter().map(|p| p.z).fold(f64::MAX, f64::min),
    ]
}

#[test]
fn presets_hold_a_falling_block_together_by_friction() {
    for name in PRESETS {
        let ([rough, low], [smooth, _]) = (released(preset(name), 0.6), released(preset(name), 0.0));
        assert!(rough < 0.9 * smooth, "{name}: {rough} m, {smooth} m without friction");
        assert!(low > 0.0, "{name}: {low} m");
    }
}
