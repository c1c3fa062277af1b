//! Bodies that a program moves between frames.

use barchan_scene::reader::suggestion;
use barchan_world::{BodyId, Motion, Twist};
use glam::DVec3;
use thiserror::Error;

use crate::simulation::Simulation;

/// Reason why a body cannot be driven.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum DriveError {
    /// There is no such body.
    #[error("there is no body `{name}`; {help}")]
    NoBody {
        /// Requested name.
        name: String,
        /// The existing names.
        help: String,
    },
    /// Keys or nothing move the body.
    #[error("body `{name}` is {motion}: only driven and dynamic bodies have a velocity that can be set")]
    NotDriven {
        /// Name of the body.
        name: String,
        /// Its kind of motion.
        motion: &'static str,
    },
    /// The velocity is out of range.
    #[error(
        "body `{name}`: velocities must be finite, at most {} m/s and {} rad/s",
        MAX_SPEED,
        MAX_RATE
    )]
    Speed {
        /// Name of the body.
        name: String,
    },
}

/// Largest speed of a body [m/s], as in scene files.
const MAX_SPEED: f64 = 1e5;
/// Largest angular speed of a body [rad/s].
const MAX_RATE: f64 = 1e5;

/// Returns the word of scene files for a kind of motion.
pub fn motion_name(motion: &Motion) -> &'static str {
    match motion {
        Motion::Fixed => "fixed",
        Motion::Scripted { .. } => "scripted",
        Motion::Driven => "driven",
        Motion::Dynamic => "dynamic",
    }
}

impl Simulation {
    /// Returns the index of the body of that name.
    pub fn body_id(&self, name: &str) -> Result<BodyId, DriveError> {
        let bodies = &self.world().bodies;
        bodies.iter().position(|body| body.name == name).ok_or_else(|| {
            let names: Vec<&str> = bodies.iter().map(|body| body.name.as_str()).collect();
            DriveError::NoBody {
                name: name.to_owned(),
                help: match names.is_empty() {
                    true => "the scene has none".to_owned(),
                    false => suggestion(name, &names),
                },
            }
        })
    }

    /// Sets the velocity of a body: a driven one keeps it, a dynamic one starts with it.
    ///
    /// # Panics
    /// If there are fewer bodies.
    pub fn set_velocity(&mut self, body: BodyId, twist: Twist) -> Result<(), DriveError> {
        let body = &mut self.world_mut().bodies[body];
        if !matches!(body.motion, Motion::Driven | Motion::Dynamic) {
            return Err(DriveError::NotDriven {
                name: body.name.clone(),
                motion: motion_name(&body.motion),
            });
        }
        let fits = |v: DVec3, most: f64| v.is_finite() && v.length() <= most;
        if !fits(twist.linear, MAX_SPEED) || !fits(twist.angular, MAX_RATE) {
            return Err(DriveError::Speed {
                name: body.name.clone(),
            });
        }
        body.twist = twist;
        Ok(())
    }
}
