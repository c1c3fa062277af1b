//! Motion without external forces, or with gravity only.

use glam::DVec3;

use super::Broken;
use crate::expression::GRAVITY;
use crate::stage::{Observation, Stage, values};

/// Two clouds of guides collide without gravity; measures the errors of conserved quantities over `duration` [s].
pub(super) fn cloud(stage: &mut Stage) -> Result<Observation, Broken> {
    let duration = stage.value("duration")?;
    let first = stage.momenta();
    let (mut linear, mut angular, mut gain, mut last) = (0f64, 0f64, 0.0, first.energy);
    while stage.time() < duration {
        stage.advance()?;
        let now = stage.momenta();
        linear = linear.max((now.linear - first.linear).length() / first.linear_scale);
        angular = angular.max((now.angular - first.angular).length() / first.angular_scale);
        gain += (now.energy - last).max(0.0) / first.energy;
        last = now.energy;
    }
    Ok(Observation {
        values: values([
            ("momentum error", linear),
            ("angular momentum error", angular),
            ("energy gain", 100.0 * gain),
            ("energy left", 100.0 * last / first.energy),
        ]),
        guides: stage.guides(),
        ..Observation::default()
    })
}

/// A cloud crosses periodic faces for `duration` [s]; measures the errors of published momentum and energy against m v
/// and m v²/2 of the start, the worst of all frames, and of the mean displacement of the guides against v t. With
/// `shortest`, each displacement is replaced by its nearest image.
pub(super) fn crossings(stage: &mut Stage) -> Result<Observation, Broken> {
    let (duration, is_shortest) = (stage.value("duration")?, stage.value("shortest")? > 0.0);
    let first = stage.momenta();
    let mass: f64 = stage
        .simulation()
        .world()
        .guides
        .mass
        .iter()
        .map(|&m| f64::from(m))
        .sum();
    let (mut momentum_error, mut energy_error) = (0f64, 0f64);
    let mut gone = DVec3::ZERO;
    let frame = stage.frame_duration();
    while stage.time() < duration {
        stage.advance()?;
        let world = stage.simulation().world();
        let (mut momentum, mut energy) = (DVec3::ZERO, 0.0);
        for (mut velocity, &mass) in stage.velocities().into_iter().zip(&world.guides.mass) {
            if is_shortest {
                velocity = world.shortest_way(velocity * frame) / frame;
            }
            momentum += f64::from(mass) * velocity;
            energy += 0.5 * f64::from(mass) * velocity.length_squared();
        }
        momentum_error = momentum_error.max(momentum.distance(first.linear) / first.linear.length());
        energy_error = energy_error.max((energy / first.energy - 1.0).abs());
        gone += momentum / mass * frame;
    }
    let wanted = first.linear / mass * stage.time();
    Ok(Observation {
        values: values([
            ("momentum error", momentum_error),
            ("energy error", 100.0 * energy_error),
            ("drift", gone.distance(wanted) / wanted.length()),
        ]),
        guides: stage.guides(),
        ..Observation::default()
    })
}

/// A second of free fall; measures the error over g Σ Δt² / 2, which is 1 for symplectic Euler. Steps get shorter as
/// the speed grows.
pub(super) fn fall(stage: &mut Stage) -> Result<Observation, Broken> {
    // The mean of all guides: contact forces cancel.
    let height = |stage: &Stage| {
        let positions = stage.positions();
        positions.iter().map(|p| p.z).sum::<f64>() / positions.len() as f64
    };
    let start = height(stage);
    let mut squares = 0.0;
    while stage.time() < 1.0 - 1e-9 {
        stage.advance()?;
        squares += stage.frame_duration().powi(2) / f64::from(stage.simulation().report().steps);
    }
    let time = stage.time();
    let fallen = start - height(stage);
    let error = (fallen - 0.5 * GRAVITY * time * time).abs();
    Ok(Observation {
        values: values([("error", error / (0.5 * GRAVITY * squares))]),
        guides: stage.guides(),
        ..Observation::default()
    })
}

/// The body `plate` rotates about its intermediate axis; measures the time between two flips, and the energy after
/// five.
pub(super) fn flip(stage: &mut Stage) -> Result<Observation, Broken> {
    let turning = |stage: &Stage| {
        let body = stage.body("plate");
        body.pose.rotation.inverse() * body.twist.angular
    };
    let inertia = DVec3::new(1.0, 2.0, 3.0);
    let energy = |w: DVec3| (inertia * w * w).element_sum();
    let first = energy(turning(stage));
    let mut flips: Vec<f64> = Vec::new();
    let mut last = turning(stage);
    while flips.len() < 6 && stage.time() < 40.0 {
        let before = stage.time();
        stage.advance()?;
        let now = turning(stage);
        if now.y * last.y < 0.0 {
            let s = last.y / (last.y - now.y);
            flips.push(before + s * (stage.time() - before));
        }
        last = now;
    }
    let mut seen = Observation::default();
    if flips.len() < 6 {
        seen.values.push(("flip interval".into(), f64::NAN));
        seen.notes.push(format!("{} flips in 40 s", flips.len()));
        return Ok(seen);
    }
    seen.values = values([
        ("flip interval", (flips[5] - flips[0]) / 5.0),
        ("first flip", flips[0]),
        ("energy lost", 100.0 * (1.0 - energy(last) / first)),
    ]);
    Ok(seen)
}
