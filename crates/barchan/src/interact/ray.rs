//! Ray casting against guides and bodies.

use barchan_world::{Body, BodyId, World};
use glam::DVec3;

/// Largest number of sphere-tracing steps per body.
const MAX_MARCHES: u32 = 200;

/// A half-line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ray {
    /// Start [m].
    pub origin: DVec3,
    /// Direction of unit length [-].
    pub direction: DVec3,
}

impl Ray {
    /// Returns the point at `distance` [m].
    pub fn at(&self, distance: f64) -> DVec3 {
        self.origin + distance * self.direction
    }

    /// Returns the intersection with the plane through `point` [m] with that normal, if there is one.
    pub fn on_plane(&self, point: DVec3, normal: DVec3) -> Option<DVec3> {
        let slope = self.direction.dot(normal);
        let distance = (point - self.origin).dot(normal) / slope;
        (slope.abs() > 1e-6 && distance > 0.0 && distance.is_finite()).then(|| self.at(distance))
    }
}

/// Object that a ray hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Struck {
    /// A guide.
    Guide,
    /// A body.
    Body(BodyId),
}

/// Intersection of a ray with an object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The point [m].
    pub point: DVec3,
    /// Distance from the ray's origin [m].
    pub distance: f64,
    /// The object.
    pub what: Struck,
}

/// Returns the first hit of `ray`: a guide, or a body for which `opaque` returns true.
pub fn strike(world: &World, ray: &Ray, opaque: impl Fn(BodyId) -> bool) -> Option<Hit> {
    let hit = |distance: f64, what| Hit {
        point: ray.at(distance),
        distance,
        what,
    };
    let guides = (0..world.guides.len()).filter_map(|i| {
        let distance = hit_ball(ray, world.place(i), f64::from(world.guides.radius[i]))?;
        Some(hit(distance, Struck::Guide))
    });
    let present = |k: &BodyId| world.bodies[*k].is_present(world.time) && opaque(*k);
    let bodies = (0..world.bodies.len())
        .filter(present)
        .filter_map(|k| Some(hit(hit_body(ray, &world.bodies[k])?, Struck::Body(k))));
    guides.chain(bodies).min_by(|a, b| a.distance.total_cmp(&b.distance))
}

/// Returns the distance [m] at which a ray enters a ball.
fn hit_ball(ray: &Ray, center: DVec3, radius: f64) -> Option<f64> {
    let offset = center - ray.origin;
    let along = offset.dot(ray.direction);
    let inside = radius * radius - (offset - along * ray.direction).length_squared();
    let distance = along - inside.max(0.0).sqrt();
    (inside >= 0.0 && distance > 0.0).then_some(distance)
}

/// Returns the distance [m] at which a ray enters a body, by sphere tracing.
fn hit_body(ray: &Ray, body: &Body) -> Option<f64> {
    let local = Ray {
        origin: body.pose.local(ray.origin),
        direction: body.pose.rotation.inverse() * ray.direction,
    };
    let bounds = body.shape.bounds();
    let size = if bounds.is_finite() {
        bounds.size().length()
    } else {
        1.0
    };
    let mut distance = 0.0;
    for _ in 0..MAX_MARCHES {
        let gap = body.shape.distance(local.at(distance));
        if gap < 1e-4 * size {
            return (distance > 0.0).then_some(distance);
        }
        distance += gap;
        let far = bounds.is_finite() && distance > (bounds.center() - local.origin).length() + size;
        if far || !distance.is_finite() || distance > 1e6 {
            return None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Document, parse_scene};

    fn world() -> World {
        let text = r#"
            duration = 1
            [materials.sand]
            density = 1600
            [[fill]]
            material = "sand"
            radius = 0.1
            packing = "lattice"
            shape = { box = { size = [0.3, 0.3, 0.3] }, at = [0, 0, 0.15] }
            [[body]]
            name = "ground"
            shape = { half_space = { normal = [0, 0, 1] } }
            [[body]]
            name = "ball"
            motion = "dynamic"
            density = 1000
            shape = { sphere = { radius = 0.25 }, at = [2, 0, 1] }
        "#;
        let (scene, _) = parse_scene(&Document::new("scene", text)).unwrap();
        let mut world = scene.build().unwrap();
        world.time = 0.0;
        world
    }

    fn down(x: f64) -> Ray {
        Ray {
            origin: DVec3::new(x, 0.0, 5.0),
            direction: -DVec3::Z,
        }
    }

    #[test]
    fn a_ray_meets_balls_bodies_and_the_ground_where_they_are() {
        let world = world();
        let ball = strike(&world, &down(2.0), |_| true).unwrap();
        assert_eq!(ball.what, Struck::Body(1));
        assert!((ball.point.z - 1.25).abs() < 1e-3, "{ball:?}");
        let ground = strike(&world, &down(1.0), |_| true).unwrap();
        assert_eq!(ground.what, Struck::Body(0));
        assert!(ground.point.z.abs() < 1e-3, "{ground:?}");
        // Straight down onto the center of the highest guide.
        let highest = (0..world.guides.len()).max_by(|&i, &j| world.place(i).z.total_cmp(&world.place(j).z));
        let center = world.place(highest.unwrap());
        let onto = Ray {
            origin: center + 3.0 * DVec3::Z,
            direction: -DVec3::Z,
        };
        let sand = strike(&world, &onto, |_| true).unwrap();
        assert_eq!(sand.what, Struck::Guide);
        assert!((sand.point.z - center.z - 0.1).abs() < 1e-6, "{sand:?}, {center}");
    }

    #[test]
    fn a_ray_goes_through_what_is_not_opaque_and_misses_what_is_not_in_its_way() {
        let world = world();
        let behind = strike(&world, &down(2.0), |k| k != 1).unwrap();
        assert_eq!(behind.what, Struck::Body(0));
        let up = Ray {
            origin: DVec3::new(0.0, 0.0, 5.0),
            direction: DVec3::Z,
        };
        assert_eq!(strike(&world, &up, |_| true), None);
        assert_eq!(up.on_plane(DVec3::ZERO, DVec3::Z), None);
        assert_eq!(down(0.5).on_plane(DVec3::Z, DVec3::Z), Some(DVec3::new(0.5, 0.0, 1.0)));
    }
}
