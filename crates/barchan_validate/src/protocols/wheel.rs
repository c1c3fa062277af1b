//! A wheel that is driven over sand at prescribed slips.

use barchan::world::Target;

use super::Broken;
use crate::stage::{Observation, Stage, values};

/// Slips of the phases [-].
const SLIPS: [f64; 3] = [0.0, 0.2, 0.6];
/// Part of a phase after which its pull is measured [-].
const RAMP: f64 = 0.5;

/// Results at a slip: the pull over the load [-], and the height of the axle [m] at the end.
struct Phase {
    pull: f64,
    height: f64,
}

/// Lowers the wheel, then drives it at each slip s = 1 - v/(ω r) in turn; measures its pull and how far it sinks.
pub(super) fn wheel(stage: &mut Stage) -> Result<Observation, Broken> {
    let (lower, phase) = (stage.value("lower")?, stage.value("phase")?);
    let radius = stage.value("r")?;
    // At most so fast that it comes down softly.
    drive(stage, "guide", -radius / lower, f64::INFINITY);
    while stage.time() < lower {
        stage.advance()?;
        if stage
            .simulation()
            .body("wheel")
            .is_some_and(|wheel| wheel.wrench.force.z > 0.0)
        {
            break;
        }
    }
    // From now on its weight is all that presses it down.
    drive(stage, "guide", 0.0, 0.0);
    let mut phases = Vec::new();
    for slip in SLIPS {
        phases.push(drive_at(stage, slip, phase)?);
    }
    let [_, low, high] = &phases[..] else {
        unreachable!("there is a phase per slip")
    };
    Ok(Observation {
        values: values([
            ("pull at 20 % slip", low.pull),
            ("part of the pull at 60 % slip", low.pull / high.pull),
            ("sinkage from 20 to 60 % slip", (low.height - high.height) / radius),
        ]),
        notes: vec![format!(
            "pull at no slip {:.2}, at 60 % {:.2} of the load",
            phases[0].pull, high.pull
        )],
        guides: stage.guides(),
        ..Observation::default()
    })
}

/// Drives for `duration` [s] at the slip `slip` [-].
fn drive_at(stage: &mut Stage, slip: f64, duration: f64) -> Result<Phase, Broken> {
    let (speed, radius, load) = (stage.value("speed")?, stage.value("r")?, stage.value("load")?);
    drive(stage, "rail", speed, f64::INFINITY);
    drive(stage, "axle", speed / (radius * (1.0 - slip)), f64::INFINITY);
    let start = stage.time();
    let (mut sum, mut frames) = (0.0, 0.0);
    while stage.time() < start + duration - 1e-9 {
        stage.advance()?;
        if stage.time() > start + RAMP * duration {
            // The rail holds back what the wheel pulls.
            sum -= stage
                .simulation()
                .joint("rail")
                .map_or(f64::NAN, |rail| rail.load.wrench.force.x);
            frames += 1.0;
        }
    }
    Ok(Phase {
        pull: sum / frames / load,
        height: stage.body("wheel").center().z,
    })
}

/// Sets the speed [m/s, rad/s] and the largest force [N, N m] of a joint's motor.
fn drive(stage: &mut Stage, joint: &str, speed: f64, limit: f64) {
    let motor = stage
        .simulation_mut()
        .motor_mut(joint)
        .expect("the scene has its motors");
    (motor.target, motor.limit) = (Target::Speed(speed), limit);
}
