//! Tools for a running simulation: push sand, pour it, throw bodies, drop new ones.
//!
//! Bodies cannot be added to a running solver, so the toolbox puts spare bodies into the world beforehand. They are
//! absent until they are used.

use std::sync::Arc;

use barchan_bodies::Mobility;
use barchan_geometry::sample::Radii;
use barchan_geometry::shapes::{Capsule, Cuboid, Sphere, Transformed};
use barchan_geometry::{Aabb, Shape};
use barchan_scene::{BodyPlan, FillSource, PlacedShape, Scene};
use barchan_world::{BodyId, Emitter, Friction, Motion, Pose, Twist, World, Wrench};
use glam::{DMat3, DQuat, DVec3};

use super::ray::{Hit, Ray, Struck, strike};

/// Bodies that can be dropped.
pub const ITEMS: [&str; 3] = ["ball", "block", "log"];
/// Spare bodies per item; the oldest is reused.
const COPIES: usize = 6;
/// Radius of the hand relative to the size of the sand [-].
const HAND_SHARE: f64 = 0.07;
/// Smallest radius of the hand, in radii of guides [-].
const MIN_HAND_RADII: f64 = 3.0;
/// Density of dropped bodies [kg/m³].
const ITEM_DENSITY: f64 = 2500.0;
/// Time in which a grabbed point reaches the mouse [s].
const PULL_TIME: f64 = 0.08;
/// Fraction of its spin that a grabbed body keeps per second [-].
const SPIN_LEFT: f64 = 0.02;

/// Depth of a pushing hand's center below the first touched point, in radii of the hand [-].
const PUSH_DEPTH: f64 = 0.3;
/// Sine of the view angle below which a level plane is seen edge-on [-].
const EDGE_ON_SINE: f64 = 0.2;

/// Tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// A ball that pushes sand.
    Push,
    /// Pours sand below the mouse.
    Pour,
    /// Holds a dynamic body and throws it on release.
    Grab,
    /// Drops a new body below the mouse: an index into [`ITEMS`].
    Drop(usize),
}

/// A tool in use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// The tool.
    pub tool: Tool,
    /// Ray through the mouse position.
    pub ray: Ray,
}

/// Anchor of the tool while it is in use.
#[derive(Clone, Copy, Debug)]
enum Hold {
    /// Plane in which the hand moves: a point [m] and the normal.
    Plane(DVec3, DVec3),
    /// A body, with the held point in its frame [m] and the normal of the plane of motion.
    Body(BodyId, DVec3, DVec3),
    /// Nothing was hit.
    Nothing,
}

/// Tools for one simulation.
#[derive(Debug)]
pub struct Toolbox {
    hand: BodyId,
    /// Copies of each item, and the index of the next one.
    items: Vec<(Vec<BodyId>, usize)>,
    pour: Option<usize>,
    /// Radius of the hand [m].
    size: f64,
    hold: Option<Hold>,
    /// Pouring rate [kg/s].
    pub rate: f64,
}

impl Toolbox {
    /// Adds the plans of its bodies to a scene before it is built.
    pub fn pack(scene: &mut Scene) {
        let size = hand_size(scene);
        let solid = |shape: Arc<dyn Shape>| PlacedShape {
            whole: shape.clone(),
            unplaced: shape,
            at: DVec3::ZERO,
            rotation: DQuat::IDENTITY,
            mesh: None,
        };
        let plan = |name: String, shape: Arc<dyn Shape>, motion, color| BodyPlan {
            place: format!("the tool `{name}`"),
            name,
            shape: solid(shape),
            motion,
            density: ITEM_DENSITY,
            mass: None,
            center: None,
            inertia: None,
            friction: Friction {
                r#static: 0.5,
                kinetic: 0.4,
            },
            restitution: 0.0,
            from: f64::INFINITY,
            until: f64::INFINITY,
            velocity: DVec3::ZERO,
            angular_velocity: DVec3::ZERO,
            color: Some(color),
            opacity: 1.0,
        };
        let whole = "sizes are above zero";
        let hand: Arc<dyn Shape> = Arc::new(Sphere::new(size).expect(whole));
        scene
            .bodies
            .push(plan("tool: hand".to_owned(), hand, Motion::Driven, [0xC9, 0x3A, 0x2E]));
        let items: [(Arc<dyn Shape>, [u8; 3]); 3] = [
            (Arc::new(Sphere::new(1.2 * size).expect(whole)), [0x2E, 0x5E, 0x8C]),
            (
                Arc::new(Cuboid::new(DVec3::new(2.4, 1.6, 1.2) * size).expect(whole)),
                [0x6B, 0x6F, 0x75],
            ),
            (
                Arc::new(Capsule::new(0.6 * size, 4.0 * size).expect(whole)),
                [0x7A, 0x55, 0x35],
            ),
        ];
        for (name, (shape, color)) in ITEMS.iter().zip(items) {
            scene
                .bodies
                .push(plan(format!("tool: {name}"), shape, Motion::Dynamic, color));
        }
    }

    /// Creates the copies of its bodies in the world built from such a scene, and adds them to the scene.
    pub fn unpack(scene: &mut Scene, world: &mut World) -> Self {
        let first = world.bodies.len() - ITEMS.len() - 1;
        let mut items = Vec::new();
        for k in first + 1..=first + ITEMS.len() {
            let mut copies = vec![k];
            for copy in 1..COPIES {
                let name = format!("{} {}", world.bodies[k].name, copy + 1);
                copies.push(world.bodies.len());
                let (mut body, mut plan) = (world.bodies[k].clone(), scene.bodies[k].clone());
                (body.name, plan.name) = (name.clone(), name);
                world.bodies.push(body);
                scene.bodies.push(plan);
            }
            items.push((copies, 0));
        }
        let size = hand_size(scene);
        let pour = sand(scene).map(|(material, radii)| {
            world.emitters.push(Emitter {
                shape: ball(DVec3::ZERO, size),
                material,
                radii,
                rate: 0.0,
                velocity: DVec3::new(0.0, 0.0, -0.5),
                start: f64::INFINITY,
                end: f64::INFINITY,
                owed: 0.0,
            });
            world.emitters.len() - 1
        });
        Self {
            hand: first,
            items,
            pour,
            size,
            hold: None,
            // Fills the hand's ball a few times per second.
            rate: 20.0 * 1000.0 * size.powi(3),
        }
    }

    /// Returns true if a body belongs to the toolbox.
    pub fn owns(&self, body: BodyId) -> bool {
        body >= self.hand
    }

    /// Applies the tool for the next `duration` [s]; `None` releases it.
    pub fn act(&mut self, world: &mut World, touch: Option<&Touch>, duration: f64) {
        let Some(touch) = touch else {
            return self.let_go(world);
        };
        let hold = match self.hold {
            Some(hold) => hold,
            None => {
                let hold = self.begin(world, touch);
                self.hold = Some(hold);
                hold
            }
        };
        match (touch.tool, hold) {
            (Tool::Push, Hold::Plane(point, normal)) => self.push(world, touch, point, normal, duration),
            (Tool::Pour, Hold::Plane(point, normal)) => self.pour(world, touch, point, normal),
            (Tool::Grab, Hold::Body(body, local, normal)) => pull(world, body, local, normal, &touch.ray, duration),
            _ => {}
        }
    }

    /// Chooses the anchor of the tool; drops a body at once.
    fn begin(&mut self, world: &mut World, touch: &Touch) -> Hold {
        let hand = self.hand;
        let Some(hit) = strike(world, &touch.ray, |k| k != hand) else {
            return Hold::Nothing;
        };
        match touch.tool {
            Tool::Grab => match hit.what {
                Struck::Body(k) if world.bodies[k].is_dynamic() => {
                    Hold::Body(k, world.bodies[k].pose.local(hit.point), facing(&touch.ray))
                }
                _ => Hold::Nothing,
            },
            Tool::Drop(item) => {
                self.drop(world, &hit, item);
                Hold::Nothing
            }
            Tool::Push => {
                let body = &mut world.bodies[self.hand];
                // Starts in the air, on the viewer's side.
                body.pose.position = hit.point - 1.3 * self.size * touch.ray.direction;
                body.twist = Twist::default();
                (body.from, body.until) = (world.time, f64::INFINITY);
                let up = up(world);
                Hold::Plane(hit.point - PUSH_DEPTH * self.size * up, level(&touch.ray, up))
            }
            Tool::Pour => Hold::Plane(hit.point, level(&touch.ray, up(world))),
        }
    }

    fn push(&self, world: &mut World, touch: &Touch, point: DVec3, normal: DVec3, duration: f64) {
        let gravity = world.gravity.length().max(1.0);
        let body = &mut world.bodies[self.hand];
        let wanted = touch.ray.on_plane(point, normal).unwrap_or(body.pose.position);
        let displacement = wanted - body.pose.position;
        // Limited so that the sand has time to yield.
        let fastest = 2.0 * (gravity * self.size).sqrt();
        body.twist = Twist {
            linear: (displacement / duration.max(0.05)).clamp_length_max(fastest),
            angular: DVec3::ZERO,
        };
    }

    fn pour(&self, world: &mut World, touch: &Touch, point: DVec3, normal: DVec3) {
        let Some(k) = self.pour else { return };
        let target = touch.ray.on_plane(point, normal).unwrap_or(point);
        let above = target + 3.0 * self.size * up(world);
        let (time, fall) = (world.time, 0.5 * (world.gravity.length() * self.size).sqrt());
        let down = -up(world) * fall;
        let emitter = &mut world.emitters[k];
        emitter.shape = ball(above, self.size);
        (emitter.rate, emitter.velocity) = (self.rate, down);
        if emitter.start > time {
            (emitter.start, emitter.owed) = (time, 0.0);
        }
    }

    /// Drops a spare body from above the hit.
    fn drop(&mut self, world: &mut World, hit: &Hit, item: usize) {
        let Some((copies, next)) = self.items.get_mut(item) else {
            return;
        };
        let body = copies[*next % copies.len()];
        // Rotated by the golden angle each time, so that no two bodies lie alike.
        let turn = 2.4 * *next as f64;
        *next += 1;
        let position = hit.point + 5.0 * self.size * up(world);
        let time = world.time;
        let body = &mut world.bodies[body];
        body.pose = Pose {
            position,
            rotation: DQuat::from_rotation_z(turn) * DQuat::from_rotation_x(0.4),
        };
        body.twist = Twist::default();
        (body.from, body.until) = (time, f64::INFINITY);
    }

    fn let_go(&mut self, world: &mut World) {
        self.hold = None;
        let time = world.time;
        let hand = &mut world.bodies[self.hand];
        if hand.is_present(time) {
            hand.until = time;
            hand.twist = Twist::default();
        }
        if let Some(k) = self.pour {
            (world.emitters[k].start, world.emitters[k].rate) = (f64::INFINITY, 0.0);
        }
    }
}

/// Returns the normal of the plane that faces the viewer along `ray`.
fn facing(ray: &Ray) -> DVec3 {
    -ray.direction
}

/// Returns the normal of the level plane, or of the plane facing the viewer if that is seen edge-on.
fn level(ray: &Ray, up: DVec3) -> DVec3 {
    if ray.direction.dot(up).abs() > EDGE_ON_SINE {
        up
    } else {
        facing(ray)
    }
}

/// Returns the direction against gravity.
fn up(world: &World) -> DVec3 {
    (-world.gravity).normalize_or(DVec3::Z)
}

fn ball(at: DVec3, radius: f64) -> Arc<dyn Shape> {
    let ball = Arc::new(Sphere::new(radius).expect("sizes are above zero"));
    let place = Transformed::new(ball, at, DQuat::IDENTITY, DVec3::ONE);
    Arc::new(place.expect("a shift keeps every shape"))
}

/// Returns material and radii of the scene's sand.
fn sand(scene: &Scene) -> Option<(u8, Radii)> {
    let fills = scene.fills.iter().filter_map(|fill| match &fill.source {
        FillSource::Shape { radii, .. } => Some((fill.material, radii.clone())),
        FillSource::Points(_) => None,
    });
    let emitters = scene.emitters.iter().map(|e| (e.material, e.radii.clone()));
    fills.chain(emitters).next()
}

/// Returns the radius of the hand [m].
fn hand_size(scene: &Scene) -> f64 {
    let fills = scene.fills.iter().map(|fill| match &fill.source {
        FillSource::Shape { shape, .. } => shape.bounds(),
        FillSource::Points(particles) => Aabb::of_points(particles.positions.iter().copied()),
    });
    let sand = fills
        .chain(scene.emitters.iter().map(|emitter| emitter.shape.bounds()))
        .filter(Aabb::is_finite)
        .fold(Aabb::EMPTY, |all, one| all.union(&one));
    let size = if sand.is_empty() {
        1.0
    } else {
        sand.size().max_element()
    };
    (HAND_SHARE * size).max(MIN_HAND_RADII * scene.largest_radius().unwrap_or(0.0))
}

/// Sets the velocity of a held body so that its point `local` [m] moves to the intersection of `ray` with the plane of
/// motion.
fn pull(world: &mut World, body: BodyId, local: DVec3, normal: DVec3, ray: &Ray, duration: f64) {
    let gravity = world.gravity;
    let held = &mut world.bodies[body];
    let point = held.pose.point(local);
    let Some(wanted) = ray.on_plane(point, normal) else {
        return;
    };
    let mobility = Mobility::of(held);
    let goal = (wanted - point) / PULL_TIME.max(duration) - gravity * duration;
    let change = goal - held.velocity_at(point);
    let impulse = point_mobility(&mobility, point).inverse() * change;
    let arm = point - mobility.center;
    let twist = mobility.response(Wrench {
        force: impulse,
        torque: arm.cross(impulse),
    });
    held.twist.linear += twist.linear;
    held.twist.angular = (held.twist.angular + twist.angular) * SPIN_LEFT.powf(duration);
}

/// Returns the velocity change of a point per impulse at it [1/kg]: K = 1/m - [r]× I⁻¹ [r]×.
fn point_mobility(mobility: &Mobility, point: DVec3) -> DMat3 {
    let r = point - mobility.center;
    let cross = DMat3::from_cols(
        DVec3::new(0.0, r.z, -r.y),
        DVec3::new(-r.z, 0.0, r.x),
        DVec3::new(r.y, -r.x, 0.0),
    );
    DMat3::from_diagonal(DVec3::splat(mobility.inverse_mass)) - cross * mobility.inverse_inertia * cross
}

#[cfg(test)]
mod tests;
