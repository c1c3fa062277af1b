//! A layer of sand flows down a rough slope.

use super::Broken;
use crate::expression::GRAVITY;
use crate::measures::{line, mean};
use crate::stage::{Observation, Stage, values};

/// Largest mean speed of a layer that has stopped, relative to √(g d) [-].
const STOPPED_SPEED: f64 = 0.02;
/// Largest acceleration of a layer in steady flow, relative to g [-]: about the effect of a quarter of a degree of
/// slope.
const STEADY_ACCELERATION: f64 = 0.005;

/// Motion of a layer at the end of its time on a slope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LayerMotion {
    Stopped,
    /// Coming to rest.
    Slowing,
    Steady,
    Accelerating,
}

/// Classifies the mean speeds [time in s, speed in m/s] of a layer of guides of diameter `d` [m] by their last third.
fn classify(speeds: &[[f64; 2]], d: f64) -> LayerMotion {
    let last = &speeds[speeds.len() * 2 / 3..];
    let end: Vec<f64> = last[last.len() * 2 / 3..].iter().map(|p| p[1]).collect();
    let acceleration = line(last).map_or(0.0, |line| line.slope) / GRAVITY;
    if mean(&end) < STOPPED_SPEED * (GRAVITY * d).sqrt() {
        LayerMotion::Stopped
    } else if acceleration < -STEADY_ACCELERATION {
        LayerMotion::Slowing
    } else if acceleration > STEADY_ACCELERATION {
        LayerMotion::Accelerating
    } else {
        LayerMotion::Steady
    }
}

/// Lets a layer rest, until `limit` [s] at most, then tilts gravity from `from` to `to` [°] in steps of `by` [°]. At
/// each angle all guides get the speed `kick` [m/s] down the slope and flow for `watch` [s]. Measures the range of
/// angles at which they neither stop nor accelerate, and the steepest at which they stop.
pub(super) fn flow(stage: &mut Stage) -> Result<Observation, Broken> {
    let d = stage.value("d")?;
    let (from, to, by) = (stage.value("from")?, stage.value("to")?, stage.value("by")?);
    let (kick, watch) = (stage.value("kick")?, stage.value("watch")?);
    let limit = stage.value("limit")?;
    stage.until_rest(d, limit)?;
    let mut seen = Observation {
        guides: stage.guides(),
        ..Observation::default()
    };
    let (mut steady, mut stopped) = (0.0, f64::NAN);
    let mut angle = from;
    while angle < to + 1e-9 {
        stage.tilt(angle.to_radians(), kick);
        let start = stage.time();
        let mut speeds = Vec::new();
        while stage.time() < start + watch {
            stage.advance()?;
            let down: Vec<f64> = stage.velocities().iter().map(|v| v.x).collect();
            speeds.push([stage.time(), mean(&down)]);
        }
        match classify(&speeds, d) {
            LayerMotion::Stopped => stopped = angle,
            LayerMotion::Slowing => (),
            LayerMotion::Steady => steady += by,
            LayerMotion::Accelerating => break,
        }
        angle += by;
    }
    if angle > to {
        seen.notes.push(format!("does not accelerate at {to:.0}°"));
    }
    seen.values = values([("window", steady), ("stopping angle", stopped)]);
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A layer whose speed [m/s] is a function of time [s], over 3 s.
    fn layer(speed: impl Fn(f64) -> f64) -> LayerMotion {
        let speeds: Vec<[f64; 2]> = (1..=180).map(|k| f64::from(k) / 60.0).map(|t| [t, speed(t)]).collect();
        classify(&speeds, 0.02)
    }

    #[test]
    fn a_layer_stops_flows_steadily_or_accelerates() {
        assert_eq!(layer(|t| 0.5 - t.min(0.5)), LayerMotion::Stopped);
        assert_eq!(layer(|t| 1.0 - 0.5 * (-3.0 * t).exp()), LayerMotion::Steady);
        assert_eq!(layer(|t| 1.0 - 0.2 * t), LayerMotion::Slowing);
        assert_eq!(layer(|t| 0.5 + 0.02 * t), LayerMotion::Steady);
        assert_eq!(
            layer(|t| 0.5 + 0.1 * t),
            LayerMotion::Accelerating,
            "half a degree of slope"
        );
    }
}
