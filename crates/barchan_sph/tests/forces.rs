//! Optional forces.

mod support;

use barchan_sph::{Air, SphSettings};
use barchan_world::World;
use glam::{DVec3, Vec3};
use support::*;

const SPACING: f64 = 0.04;

/// A medium thick enough to matter within a second.
const THICK: Air = Air {
    density: 1000.0,
    viscosity: 1e-3,
    wind: Vec3::ZERO,
    particle_diameter: None,
};

fn add(world: &mut World, place: DVec3, velocity: DVec3) {
    let mass = (1600.0 * SPACING.powi(3)) as f32;
    world.add_guide(place, velocity, 0.5 * SPACING, mass, 0);
}

fn with_air(air: Air) -> SphSettings {
    SphSettings {
        air: Some(air),
        ..SphSettings::default()
    }
}

fn energy(world: &World) -> f64 {
    let guides = &world.guides;
    let of = |(v, m): (&Vec3, &f32)| 0.5 * f64::from(*m) * v.as_dvec3().length_squared();
    guides.velocity.iter().zip(&guides.mass).map(of).sum()
}

#[test]
fn a_lone_guide_in_thick_air_nears_its_terminal_speed() {
    let mut world = world(down(), friction(0.5));
    add(&mut world, DVec3::ZERO, DVec3::ZERO);
    let mut solver = solver(with_air(THICK), &world);
    // Above Re = 1000 the coefficient is 0.424: v = √(2mg/(ρ C π L²)) tanh(g t/v).
    let radius = SPACING * (0.75 / std::f64::consts::PI).cbrt();
    let mass = 1600.0 * SPACING.powi(3);
    let terminal = (2.0 * mass * 9.81 / (1000.0 * 0.424 * std::f64::consts::PI * radius * radius)).sqrt();
    for frames in [6, 24, 60] {
        run(&mut solver, &mut world, frames);
        let expected = terminal * (9.81 * world.time / terminal).tanh();
        let speed = f64::from(-world.guides.velocity[0].z);
        assert!((speed / expected - 1.0).abs() < 0.02, "{speed} m/s, not {expected} m/s");
    }
    let speed = f64::from(-world.guides.velocity[0].z);
    assert!(
        (speed / terminal - 1.0).abs() < 0.001,
        "{speed} m/s, not {terminal} m/s"
    );
}

#[test]
fn wind_takes_a_guide_along() {
    let mut world = world(DVec3::ZERO, friction(0.5));
    add(&mut world, DVec3::ZERO, DVec3::ZERO);
    let wind = Vec3::new(2.0, -1.0, 0.5);
    let air = Air {
        particle_diameter: Some(2e-4),
        wind,
        ..THICK
    };
    let mut solver = solver(with_air(air), &world);
    run(&mut solver, &mut world, 120);
    assert!((world.guides.velocity[0] - wind).length() < 0.01 * wind.length());
}

#[test]
fn a_guide_straight_behind_another_feels_no_air() {
    let mut world = world(down(), friction(0.5));
    let start = DVec3::new(0.0, 0.0, -3.0);
    add(&mut world, DVec3::ZERO, start);
    add(&mut world, DVec3::new(0.0, 0.0, 1.5 * SPACING), start);
    let mut solver = solver(with_air(THICK), &world);
    let duration = 1e-3;
    barchan_world::Solver::advance(&mut solver, &mut world, duration).unwrap();
    let speed = |id: u32| {
        let i = world.guides.id.iter().position(|&x| x == id).unwrap();
        f64::from(-world.guides.velocity[i].z)
    };
    assert!(
        (speed(1) - (3.0 + 9.81 * duration)).abs() < 1e-5,
        "behind: {}",
        speed(1)
    );
    assert!(speed(0) < 3.0, "before: {}", speed(0));
}

/// A cloud too thin for a pressure, in a swirl that tightens.
fn cloud(mu: f32) -> World {
    let mut world = world(DVec3::ZERO, friction(mu));
    fill(&mut world, DVec3::splat(-0.25), DVec3::splat(0.25), 0.02, 0.15);
    for (p, v) in world.guides.position.iter().zip(&mut world.guides.velocity) {
        let swirl = Vec3::new(-p.y, p.x, 0.5 * p.x);
        *v = -0.2 * *p + swirl + 0.3 * Vec3::new((37.0 * p.x).sin(), (41.0 * p.z).cos(), (29.0 * p.y).sin());
    }
    world
}

/// Energy falls, momentum stays, and so does angular momentum unless guides of friction `mu` rub, which have no spin to take it.
fn assert_calms(settings: SphSettings, mu: f32, frames: u32) {
    let mut world = cloud(mu);
    let (p, l, e) = (momentum(&world), angular_momentum(&world), energy(&world));
    let pairs = world.guides.velocity.iter().zip(&world.guides.mass);
    let scale: f64 = pairs.map(|(v, m)| f64::from(v.length() * m)).sum();
    let mut solver = solver(settings, &world);
    run(&mut solver, &mut world, frames);
    assert!((momentum(&world) - p).length() < 1e-5 * scale);
    assert!(mu > 0.0 || (angular_momentum(&world) - l).length() < 1e-4 * scale * 0.25);
    assert!(energy(&world) < 0.95 * e, "{} J of {e} J", energy(&world));
}

#[test]
fn viscosity_keeps_momentum_and_angular_momentum_and_takes_energy() {
    let settings = SphSettings {
        viscosity: vec![[0.3; 2]],
        sound_speed: Some(10.0),
        ..SphSettings::default()
    };
    assert_calms(settings, 0.0, 6);
}

#[test]
fn thick_viscosity_shortens_steps_instead_of_flying_apart() {
    let mut world = cloud(0.5);
    let before = energy(&world);
    let settings = SphSettings {
        viscosity: vec![[1.0; 2]],
        sound_speed: Some(100.0),
        ..SphSettings::default()
    };
    let mut solver = solver(settings, &world);
    let report = barchan_world::Solver::advance(&mut solver, &mut world, FRAME).unwrap();
    // ¼ h/(α c) of the smallest guides, whose spacing is d = r ∛(4π/3/0.6).
    let longest = 0.25 * 2.0 * 0.017 * 1.911 / 100.0;
    assert!(
        f64::from(report.steps) >= FRAME / longest * 0.99,
        "{} steps",
        report.steps
    );
    assert!(energy(&world) < before);
}

#[test]
fn single_guides_push_each_other_apart_and_keep_momentum() {
    let settings = SphSettings {
        discrete: true,
        friction_iterations: 0,
        ..SphSettings::default()
    };
    assert_calms(settings.clone(), 0.0, 20);
    assert_calms(settings, 0.5, 20);
}

#[test]
fn two_guides_that_meet_leave_with_a_part_of_their_speed() {
    for discrete in [true, false] {
        let mut world = world(DVec3::ZERO, friction(0.5));
        add(&mut world, DVec3::new(-0.8 * SPACING, 0.0, 0.0), DVec3::X);
        add(&mut world, DVec3::new(0.8 * SPACING, 0.0, 0.0), -DVec3::X);
        let settings = SphSettings {
            discrete,
            ..SphSettings::default()
        };
        let mut solver = solver(settings, &world);
        run(&mut solver, &mut world, 12);
        let of = |id: u32| {
            let i = world.guides.id.iter().position(|&x| x == id).unwrap();
            world.guides.velocity[i].x
        };
        match discrete {
            // 0.397 in steps much shorter than an impact, which takes ten here.
            true => assert!(
                (of(1) / 0.397 - 1.0).abs() < 0.2 && of(0) == -of(1),
                "{} {}",
                of(0),
                of(1)
            ),
            false => assert_eq!((of(0), of(1)), (1.0, -1.0), "they pass through each other"),
        }
    }
}

/// A lattice of wet guides beside dry ones, which no force moves.
fn half_wet(settings: SphSettings) -> (World, barchan_sph::SphSolver) {
    let mut world = world(DVec3::ZERO, friction(0.5));
    let mut wet = world.materials.all[0].clone();
    wet.name = "wet".to_owned();
    world.materials.all.push(wet);
    let mass = (1600.0 * SPACING.powi(3)) as f32;
    for k in 0..6 * 6 * 12 {
        let place = DVec3::new(f64::from(k % 12), f64::from(k / 12 % 6), f64::from(k / 72));
        world.add_guide(SPACING * place, DVec3::ZERO, 0.5 * SPACING, mass, u8::from(k % 12 < 6));
    }
    let settings = SphSettings {
        cohesion: vec![1e-3; 2],
        wetness: vec![0.0, 1.0],
        ..settings
    };
    let solver = solver(settings, &world);
    (world, solver)
}

#[test]
fn water_goes_from_wet_sand_to_dry_and_none_is_lost() {
    let (mut world, mut solver) = half_wet(SphSettings {
        wetting_time: Some(0.05),
        ..SphSettings::default()
    });
    run(&mut solver, &mut world, 1);
    let sum = |solver: &barchan_sph::SphSolver| column(solver, "wetness").iter().map(|&w| f64::from(w)).sum::<f64>();
    let edge = |solver: &barchan_sph::SphSolver, world: &World, id: u32| {
        column(solver, "wetness")[world.guides.id.iter().position(|&x| x == id).unwrap()]
    };
    let before = sum(&solver);
    assert!((before - 216.0).abs() < 1e-3, "{before}");
    run(&mut solver, &mut world, 60);
    assert!((sum(&solver) - before).abs() < 1e-3 * before);
    // Number 6 was dry, beside wet number 5; 11 is far away from both.
    let [wet, dry, far] = [5, 6, 11].map(|id| edge(&solver, &world, id));
    assert!(wet > dry && dry > far && dry > 0.2 && wet < 0.8, "{wet} {dry} {far}");
}

#[test]
fn wet_sand_dries_as_it_should() {
    let (mut world, mut solver) = half_wet(SphSettings {
        drying_time: Some(0.5),
        ..SphSettings::default()
    });
    run(&mut solver, &mut world, 60);
    let left = (-60.0 * FRAME / 0.5).exp();
    let wettest = column(&solver, "wetness").iter().copied().fold(0.0, f32::max);
    assert!((f64::from(wettest) / left - 1.0).abs() < 1e-3, "{wettest}, not {left}");
}

#[test]
fn a_wet_cut_falls_once_it_has_dried() {
    let left = |drying_time: Option<f32>| {
        let mut world = world(down(), friction(0.6));
        world.bodies = vec![floor(1.0)];
        for k in 0..10 * 10 * 7 {
            let place = DVec3::new(
                f64::from(k % 10) - 4.5,
                f64::from(k / 10 % 10) - 4.5,
                f64::from(k / 100) + 0.58,
            );
            add(&mut world, SPACING * place, DVec3::ZERO);
        }
        let settings = SphSettings {
            cohesion: vec![1500.0],
            drying_time,
            ..SphSettings::default()
        };
        let mut solver = solver(settings, &world);
        run(&mut solver, &mut world, 60);
        let top = places(&world).iter().map(|p| p.z).fold(0.0, f64::max);
        top / (6.58 * SPACING)
    };
    let (wet, dried) = (left(None), left(Some(0.05)));
    assert!(wet > 0.9, "wet: {wet}");
    assert!(dried < 0.8, "dried: {dried}");
}

#[test]
fn leapfrog_falls_as_galileo_says() {
    let mut world = world(down(), friction(0.5));
    add(&mut world, DVec3::new(0.0, 0.0, 3.0), DVec3::new(1.0, 0.0, 2.0));
    let settings = SphSettings {
        integration: barchan_sph::Integration::Leapfrog,
        ..SphSettings::default()
    };
    let mut solver = solver(settings, &world);
    run(&mut solver, &mut world, 48);
    let t = 48.0 * FRAME;
    let expected = DVec3::new(t, 0.0, 3.0 + 2.0 * t - 0.5 * 9.81 * t * t);
    assert!(
        (world.place(0) - expected).length() < 1e-5,
        "{} {expected}",
        world.place(0)
    );
}
