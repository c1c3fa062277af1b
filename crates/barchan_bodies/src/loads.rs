//! Loads of guides on bodies, from chunks of guides to the motion of bodies.

use std::ops::AddAssign;

use barchan_world::{AdvanceError, Archive, ArchiveError, JointLoad, Peak, World, Wrench};
use glam::DVec3;

use crate::Dynamics;

/// Adds up the loads of chunks of guides on each of `count` bodies, in the order of the chunks.
pub fn sum_loads<'a, T>(sums: &mut Vec<T>, count: usize, chunks: impl IntoIterator<Item = &'a [T]>)
where
    T: Copy + Default + AddAssign + 'a,
{
    sums.clear();
    sums.resize(count, T::default());
    for chunk in chunks {
        for (sum, load) in sums.iter_mut().zip(chunk) {
            *sum += *load;
        }
    }
}

/// Impulses of guides on bodies: those that have not moved them yet, and the sum over a frame [N s, N m s]. Impulses of joints, too.
#[derive(Clone, Debug, Default)]
pub struct Impulses {
    owed: Vec<Wrench>,
    given: Vec<Wrench>,
    /// Those given up to the previous step of the frame.
    before: Vec<Wrench>,
    peaks: Vec<Peak>,
    /// Impulse of each joint over the frame so far.
    joints: Vec<JointLoad>,
}

impl Impulses {
    /// Starts a frame. Impulses that have not moved a body yet are kept.
    pub fn begin_frame(&mut self, world: &World) {
        self.owed.resize(world.bodies.len(), Wrench::default());
        self.given.clear();
        self.given.resize(world.bodies.len(), Wrench::default());
        self.before.clone_from(&self.given);
        self.peaks.clear();
        self.peaks.resize(world.bodies.len(), Peak::default());
        self.joints.clear();
        self.joints.resize(world.joints.len(), JointLoad::default());
    }

    /// Adds `loads`, one per body, times `factor`: the time [s] for forces.
    pub fn add(&mut self, loads: impl IntoIterator<Item = Wrench>, factor: f64) {
        for ((owed, given), load) in self.owed.iter_mut().zip(&mut self.given).zip(loads) {
            *owed += load * factor;
            *given += load * factor;
        }
    }

    /// Moves the world's bodies by `dt` [s] with the impulses since their last motion.
    pub fn step(&mut self, dynamics: &mut Dynamics, world: &mut World, dt: f64) -> Result<(), AdvanceError> {
        dynamics.step(world, &self.owed, dt)?;
        self.owed.fill(Wrench::default());
        for ((peak, given), before) in self.peaks.iter_mut().zip(&self.given).zip(&mut self.before) {
            peak.force = peak.force.max((given.force - before.force).length() / dt);
            peak.torque = peak.torque.max((given.torque - before.torque).length() / dt);
            *before = *given;
        }
        for (sum, joint) in self.joints.iter_mut().zip(&world.joints) {
            sum.wrench += joint.load.wrench * dt;
            sum.motor += joint.load.motor * dt;
        }
        Ok(())
    }

    /// Adds the impulses since the last motion to the velocity of free bodies; those of held bodies are kept for the next frame.
    pub fn push(&mut self, dynamics: &Dynamics, world: &mut World) {
        dynamics.push(world, &mut self.owed);
    }

    /// Sets the mean and the largest force [N] and torque [N m] of guides on each body over a frame of `duration` [s], and the mean load
    /// of each joint.
    pub fn end_frame(&self, world: &mut World, duration: f64) {
        for ((body, given), peak) in world.bodies.iter_mut().zip(&self.given).zip(&self.peaks) {
            body.wrench = *given * (1.0 / duration);
            body.peak = *peak;
        }
        for (joint, sum) in world.joints.iter_mut().zip(&self.joints) {
            joint.load = JointLoad {
                wrench: sum.wrench * (1.0 / duration),
                motor: sum.motor / duration,
            };
        }
    }

    /// Stores the impulses that have not moved a body yet as `name`.
    pub fn save(&self, name: &str, archive: &mut Archive) {
        let numbers = self.owed.iter().flat_map(|owed| [owed.force, owed.torque]);
        archive.put(name, &numbers.flat_map(|v| v.to_array()).collect::<Vec<f64>>());
    }

    /// Restores what [`save`](Self::save) stored.
    pub fn load(name: &str, archive: &Archive) -> Result<Self, ArchiveError> {
        let owed: Vec<[f64; 6]> = archive.get_f64s(name)?;
        let wrench = |v: &[f64; 6]| Wrench {
            force: DVec3::from_slice(&v[..3]),
            torque: DVec3::from_slice(&v[3..]),
        };
        Ok(Self {
            owed: owed.iter().map(wrench).collect(),
            ..Self::default()
        })
    }
}
