//! Valid scenes that are probably not intended: each is a warning.

use std::sync::Arc;

use barchan_geometry::shapes::{Cuboid, Transformed};
use barchan_geometry::{Aabb, Shape};
use barchan_world::{Motion, Pose};
use glam::{DQuat, DVec3};

use super::Check;
use super::sources::OVERLAP;
use crate::room;
use crate::scene::{BodyPlan, FillSource, Scene};

/// Density [kg/m³] below which no granular material lies: probably g/cm³.
const LIGHTEST: f64 = 10.0;
/// Times at which scripted bodies may be ground.
const MOMENTS: u32 = 16;
/// Points along a fall, until it is given up.
const FALL_STEPS: usize = 4000;

impl Check<'_, '_> {
    /// Warns of what is likely not meant.
    pub(super) fn doubts(&self, scene: &Scene) {
        self.doubt_densities();
        if scene.gravity.z > 0.5 * scene.gravity.length() {
            let help = "z is up: gravity = [0, 0, -9.81] points downwards";
            self.warn(self.fields.place("gravity"), "gravity points upwards", help);
        }
        self.doubt_grains(scene);
        self.fills_in_bodies(scene);
        self.doubt_ground(scene);
    }

    fn doubt_densities(&self) {
        let named = self.fields.named("materials").unwrap_or_default().iter();
        let materials = named.filter_map(|(_, item)| item.table());
        let bodies = self.fields.tables("body");
        let tables = materials
            .flat_map(|table| [(table, "density"), (table, "grain_density")])
            .chain(bodies.map(|table| (table, "density")));
        for (table, key) in tables {
            if let (Some(span), Some(density)) = (table.written(key), table.number(key))
                && density < LIGHTEST
            {
                let message = format!("`{key}` of {density} kg/m³ is implausibly low");
                let help = format!("{density} g/cm³ are {} kg/m³", crate::reader::bound(1e3 * density));
                self.warn(span, message, &help);
            }
        }
    }

    fn doubt_grains(&self, scene: &Scene) {
        let (Some(table), Some(refine), Some(guide)) =
            (self.fields.table("refine"), &scene.refine, scene.smallest_radius())
        else {
            return;
        };
        let grain = refine.radii.max();
        if grain > guide {
            let message = format!("grains of {grain} m are larger than guides of {guide} m");
            self.warn(table.place("radius"), message, "a third of the guides' radius is usual");
        }
    }

    /// Warns of fills whose guides would start inside a body.
    fn fills_in_bodies(&self, scene: &Scene) {
        let start = -scene.settle();
        let is_there = |body: &&BodyPlan| body.from <= start && start < body.until;
        let bodies: Vec<(&BodyPlan, Arc<dyn Shape>)> = scene
            .bodies
            .iter()
            .enumerate()
            .filter(|(_, body)| is_there(body))
            .filter_map(|(k, body)| Some((body, placed(&scene.bodies, k, start)?)))
            .collect();
        let fills = scene.fills.iter().zip(self.fields.tables("fill"));
        // A rough base may lie in what it covers.
        for (fill, table) in fills.filter(|(fill, _)| !fill.is_fixed) {
            for (body, solid) in &bodies {
                let (is_inside, key) = match &fill.source {
                    FillSource::Shape { shape, radii, .. } => (
                        room::is_overlap_found(&**shape, &**solid, OVERLAP * radii.min()),
                        "shape",
                    ),
                    FillSource::Points(points) => {
                        let mut all = points.positions.iter().zip(&points.radii);
                        (all.any(|(&p, r)| solid.distance(p) < (1.0 - OVERLAP) * r), "from")
                    }
                };
                if is_inside {
                    let message = format!("guides of this fill start inside body `{}`", body.name);
                    let help = "move one of them, or subtract the body's shape from the fill's";
                    self.warn(table.place(key), message, help);
                }
            }
        }
    }

    /// Warns of guides below which there is nothing.
    fn doubt_ground(&self, scene: &Scene) {
        let Some(down) = scene.gravity.try_normalize() else {
            return;
        };
        let ground = Ground::new(scene, down);
        let fills = scene.fills.iter().zip(self.fields.tables("fill"));
        let fills = fills.filter(|(fill, _)| !fill.is_fixed).map(|(fill, table)| {
            let starts = match &fill.source {
                FillSource::Shape { shape, .. } => probes(&**shape),
                FillSource::Points(points) => {
                    let step = points.len().div_ceil(9);
                    points.positions.iter().step_by(step).copied().collect()
                }
            };
            (starts, fill.velocity, table)
        });
        let emitters = scene.emitters.iter().zip(self.fields.tables("emitter"));
        let emitters = emitters.map(|(emitter, table)| (probes(&*emitter.shape), emitter.velocity, table));
        for (starts, velocity, table) in fills.chain(emitters) {
            if !starts.iter().any(|&start| ground.may_catch(start, velocity)) {
                let message = format!("nothing is below this {}: its guides fall for ever", table.spec.name);
                let help = "add a `[[body]]`, such as shape = { half_space = { normal = [0, 0, 1] } }";
                self.warn(table.span.clone(), message, help);
            }
        }
    }
}

/// An obstacle that may stop a falling guide.
struct Ground {
    solids: Vec<Arc<dyn Shape>>,
    gravity: DVec3,
    /// Direction of gravity.
    down: DVec3,
    /// Shortest part of a fall [m].
    finest: f64,
    /// A guide that has fallen out of this box meets nothing any more.
    bounds: Aabb,
}

impl Ground {
    fn new(scene: &Scene, down: DVec3) -> Self {
        let mut solids: Vec<Arc<dyn Shape>> = scene.sinks.iter().map(|sink| sink.shape.clone()).collect();
        for (k, body) in scene.bodies.iter().enumerate().filter(|(_, body)| body.until > 0.0) {
            let is_scripted = matches!(body.motion, Motion::Scripted { .. });
            let moments = if is_scripted { MOMENTS } else { 1 };
            let time = |n: u32| scene.duration * f64::from(n) / f64::from(MOMENTS);
            solids.extend((0..moments).filter_map(|n| placed(&scene.bodies, k, time(n))));
        }
        for fill in scene.fills.iter().filter(|fill| fill.is_fixed) {
            match &fill.source {
                FillSource::Shape { shape, .. } => solids.push(shape.clone()),
                FillSource::Points(points) => {
                    let bounds = Aabb::of_points(points.positions.iter().copied());
                    let around = Cuboid::new(bounds.size().max(DVec3::splat(1e-6)));
                    let placed = around
                        .map(|around| Transformed::new(Arc::new(around), bounds.center(), DQuat::IDENTITY, DVec3::ONE));
                    if let Ok(Ok(placed)) = placed {
                        solids.push(Arc::new(placed));
                    }
                }
            }
        }
        let radius = scene.smallest_radius().unwrap_or(1e-3);
        Self {
            gravity: scene.gravity,
            down,
            finest: radius,
            bounds: solids.iter().fold(Aabb::EMPTY, |all, one| all.union(&one.bounds())),
            solids,
        }
    }

    /// Returns whether a guide that starts at `p` [m] with `velocity` [m/s] meets something, or may do.
    fn may_catch(&self, mut p: DVec3, mut velocity: DVec3) -> bool {
        for _ in 0..FALL_STEPS {
            let near = self
                .solids
                .iter()
                .map(|solid| solid.distance(p))
                .fold(f64::INFINITY, f64::min);
            if near < self.finest {
                return true;
            }
            let is_falling = velocity.dot(self.down) >= 0.0;
            if near.is_infinite() || is_falling && self.is_below_all(p) {
                return false;
            }
            // The time in which no part of the way is longer than `near`: |v| t + g t²/2 ≤ near.
            let (speed, g) = (velocity.length(), self.gravity.length());
            let time = ((speed * speed + 2.0 * g * near).sqrt() - speed) / g;
            p += velocity * time + 0.5 * self.gravity * time * time;
            velocity += self.gravity * time;
        }
        true
    }

    /// Returns whether the fall leads away from all that has bounds, and nothing lacks them along it.
    fn is_below_all(&self, p: DVec3) -> bool {
        let down = self.down;
        let corner = DVec3::select(down.cmpge(DVec3::ZERO), self.bounds.max, self.bounds.min);
        let depth = |q: DVec3| {
            // Zero times an infinite coordinate is nothing.
            let parts = (q * down).to_array();
            parts.into_iter().filter(|x| !x.is_nan()).sum::<f64>()
        };
        depth(p) > depth(corner) + self.finest
    }
}

/// Positions inside a bounded `shape`, or else the middle of its bounds.
fn probes(shape: &dyn Shape) -> Vec<DVec3> {
    let bounds = shape.bounds();
    let corner = |k: u32| DVec3::new(f64::from(k % 3), f64::from(k / 3 % 3), f64::from(k / 9)) - 1.0;
    let all = (0..27).map(|k| bounds.center() + 0.4 * bounds.size() * corner(k));
    let inside: Vec<DVec3> = all.filter(|&p| shape.distance(p) < 0.0).collect();
    match inside.is_empty() {
        true => vec![bounds.center()],
        false => inside,
    }
}

/// The solid of body `k` as it stands in the world at `time` [s].
fn placed(bodies: &[BodyPlan], k: usize, time: f64) -> Option<Arc<dyn Shape>> {
    let whole = bodies[k].shape.whole.clone();
    match pose(bodies, k, time) {
        None => Some(whole),
        Some(pose) => match Transformed::new(whole, pose.position, pose.rotation, DVec3::ONE) {
            Ok(shape) => Some(Arc::new(shape)),
            Err(_) => None,
        },
    }
}

/// Returns the pose at `time` [s] of a scripted body by its keys and those of its parents; none for other bodies.
fn pose(bodies: &[BodyPlan], k: usize, time: f64) -> Option<Pose> {
    let Motion::Scripted { parent, keys } = &bodies[k].motion else {
        return None;
    };
    let own = keys.pose(time);
    let outer = (*parent).map(|parent| {
        pose(bodies, parent, time).unwrap_or(Pose {
            position: bodies[parent].shape.at,
            rotation: bodies[parent].shape.rotation,
        })
    });
    Some(outer.map_or(own, |outer| outer.then(own)))
}
