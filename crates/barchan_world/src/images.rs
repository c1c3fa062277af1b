//! Periodic images of bodies and guides.

use glam::{DMat3, DVec3};

use crate::{Body, World};

/// A body longer than a periodic range, of the range [-], has no image along it.
const WHOLE: f64 = 1.001;

impl World {
    /// Returns the number of positions of each body [-]: its own, and those of its images along each periodic axis.
    pub fn places_of_bodies(&self) -> usize {
        self.periodic
            .iter()
            .map(|range| if range.is_some() { 3 } else { 1 })
            .product()
    }

    /// Returns the shifts [m] from a body to each of its [positions](Self::places_of_bodies): first by whole periods
    /// into the periodic ranges, then to its images. None for images out of reach.
    ///
    /// Along axes on which a body is longer than the range, it has no images.
    pub fn shifts_of_body(&self, body: &Body) -> impl Iterator<Item = Option<DVec3>> {
        let axes = [0, 1, 2].map(|axis| self.shifts_along(axis, body));
        (0..self.places_of_bodies()).map(move |place| {
            let mut rest = place;
            let mut shift = DVec3::ZERO;
            for (axis, shifts) in axes.iter().enumerate() {
                let number = if self.periodic[axis].is_some() { 3 } else { 1 };
                shift[axis] = shifts[rest % number]?;
                rest /= number;
            }
            Some(shift)
        })
    }

    /// Brings dynamic bodies that left a periodic range back into it, unless joints hold them.
    pub fn wrap_bodies(&mut self) {
        if self.places_of_bodies() == 1 {
            return;
        }
        for k in 0..self.bodies.len() {
            let is_held = self.joints.iter().any(|joint| joint.bodies.contains(&k));
            if self.bodies[k].is_dynamic() && !is_held {
                let home = self.shifts_of_body(&self.bodies[k]).next().flatten();
                self.bodies[k].pose.position += home.unwrap_or_default();
            }
        }
    }

    /// Brings guides that left a periodic range back into it.
    pub fn wrap_guides(&mut self) {
        for axis in 0..3 {
            let Some([low, high]) = self.periodic[axis] else {
                continue;
            };
            for i in 0..self.guides.len() {
                let place = self.place(i)[axis];
                if !(low..high).contains(&place) {
                    let image = low + (place - low).rem_euclid(high - low) - self.origin[axis];
                    self.guides.position[i][axis] = image as f32;
                    self.guides.offset[i][axis] = (image - f64::from(image as f32)) as f32;
                }
            }
        }
    }

    /// Returns `place` [m], moved into the periodic ranges.
    pub fn wrapped(&self, mut place: DVec3) -> DVec3 {
        for (axis, range) in self.periodic.iter().enumerate() {
            if let Some([low, high]) = range
                && !(*low..*high).contains(&place[axis])
            {
                place[axis] = low + (place[axis] - low).rem_euclid(high - low);
            }
        }
        place
    }

    /// Returns the whole periods [m] that move `place` [m] into the periodic ranges, as
    /// [`wrap_guides`](Self::wrap_guides) moves a guide there.
    pub fn shift_into_ranges(&self, place: DVec3) -> DVec3 {
        let mut shift = self.wrapped(place) - place;
        for (axis, range) in self.periodic.iter().enumerate() {
            // Off by rounding.
            shift[axis] = range.map_or(0.0, |[low, high]| (high - low) * (shift[axis] / (high - low)).round());
        }
        shift
    }

    /// Returns the shortest of the vectors to the images of a point, one of which is `way` [m].
    pub fn shortest_way(&self, mut way: DVec3) -> DVec3 {
        for (axis, range) in self.periodic.iter().enumerate() {
            if let Some([low, high]) = range {
                way[axis] -= (high - low) * (way[axis] / (high - low)).round();
            }
        }
        way
    }

    /// Returns the image of `place` [m] nearest to `other` [m].
    pub fn nearest_image(&self, mut place: DVec3, other: DVec3) -> DVec3 {
        for (axis, range) in self.periodic.iter().enumerate() {
            if let Some([low, high]) = range {
                let period = high - low;
                place[axis] += period * ((other[axis] - place[axis]) / period).round();
            }
        }
        place
    }

    fn shifts_along(&self, axis: usize, body: &Body) -> [Option<f64>; 3] {
        let here = [Some(0.0), None, None];
        let Some([low, high]) = self.periodic[axis] else {
            return here;
        };
        let bounds = body.shape.bounds();
        if !bounds.is_finite() || bounds.is_empty() {
            return here;
        }
        let turn = DMat3::from_quat(body.pose.rotation);
        let middle = body.pose.point(bounds.center())[axis];
        let half = 0.5 * turn.row(axis).abs().dot(bounds.size());
        let period = high - low;
        if 2.0 * half > WHOLE * period {
            return here;
        }
        let home = -((middle - low) / period).floor();
        [0.0, 1.0, -1.0].map(|aside| {
            let shift = (home + aside) * period;
            // Guides are brought back into their range once a frame, and may leave it by half a period meanwhile.
            let reach = half + 0.5 * period;
            let is_near = middle + shift + reach > low && middle + shift - reach < high;
            (aside == 0.0 || is_near).then_some(shift)
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::Arc;

    use barchan_geometry::shapes::{Cuboid, HalfSpace};
    use barchan_geometry::{MassProperties, Shape, TriMesh};
    use glam::DQuat;

    use super::*;
    use crate::{Boundary, Friction, Materials, Motion, Pose, Twist, Wrench};

    /// A fixed body of density 1 kg/m³ at `x` [m].
    pub(crate) fn body(shape: impl Shape + 'static, x: f64) -> Body {
        let shape = Arc::new(shape);
        Body {
            name: "body".to_owned(),
            boundary: Boundary::Exact(shape.clone()),
            shape,
            surface: Arc::new(TriMesh::default()),
            motion: Motion::Fixed,
            friction: Friction {
                r#static: 0.0,
                kinetic: 0.0,
            },
            restitution: 0.0,
            density: 1.0,
            mass_properties: MassProperties {
                volume: 1.0,
                center: DVec3::ZERO,
                inertia: DMat3::IDENTITY,
            },
            from: f64::NEG_INFINITY,
            until: f64::INFINITY,
            pose: Pose {
                position: DVec3::X * x,
                rotation: DQuat::IDENTITY,
            },
            twist: Twist::default(),
            wrench: Wrench::default(),
            peak: crate::Peak::default(),
        }
    }

    fn shifts(body: &Body) -> Vec<Option<f64>> {
        let mut world = World::new(DVec3::ZERO, Materials::default(), 1);
        world.periodic[0] = Some([1.0, 3.0]);
        let shifts: Vec<_> = world.shifts_of_body(body).collect();
        assert_eq!(shifts.len(), world.places_of_bodies());
        shifts.into_iter().map(|s| s.map(|s| s.x)).collect()
    }

    #[test]
    fn a_body_is_seen_in_its_range_and_beside_it_unless_it_is_longer() {
        let cube = |x: f64| body(Cuboid::new(DVec3::splat(0.4)).unwrap(), x);
        assert_eq!(shifts(&cube(2.9)), [Some(0.0), None, Some(-2.0)]);
        assert_eq!(shifts(&cube(3.1)), [Some(-2.0), Some(0.0), None]);
        assert_eq!(shifts(&cube(-4.9)), [Some(6.0), Some(8.0), None]);
        let long = |length: f64| body(Cuboid::new(DVec3::new(length, 1.0, 1.0)).unwrap(), 2.0);
        assert_eq!(shifts(&long(2.0)), [Some(0.0), Some(2.0), Some(-2.0)]);
        assert_eq!(shifts(&long(2.1)), [Some(0.0), None, None]);
        let mut turned = long(2.1);
        turned.pose.rotation = DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2);
        assert_ne!(shifts(&turned)[1..], [None, None]);
        assert_eq!(
            shifts(&body(HalfSpace::new(DVec3::Z, 0.0).unwrap(), 9.0)),
            [Some(0.0), None, None]
        );
    }

    #[test]
    fn dynamic_bodies_without_joints_are_brought_back() {
        let mut world = World::new(DVec3::ZERO, Materials::default(), 1);
        world.periodic[0] = Some([1.0, 3.0]);
        let mut cube = body(Cuboid::new(DVec3::splat(0.4)).unwrap(), 8.5);
        let fixed = cube.clone();
        cube.motion = Motion::Dynamic;
        world.bodies = vec![fixed, cube.clone(), cube.clone(), cube];
        world.joints = vec![crate::Joint::new([0, 3], crate::JointKind::Ball, [DVec3::ZERO; 2])];
        world.wrap_bodies();
        let places: Vec<f64> = world.bodies.iter().map(|body| body.pose.position.x).collect();
        assert_eq!(places, [8.5, 2.5, 2.5, 8.5]);
        assert_eq!(world.nearest_image(DVec3::X * 2.9, DVec3::X * 1.1).x, 2.9 - 2.0);
    }

    #[test]
    fn three_periodic_axes_give_every_combination_of_shifts() {
        let mut world = World::new(DVec3::ZERO, Materials::default(), 1);
        world.periodic = [Some([0.0, 1.0]); 3];
        let mut cube = body(Cuboid::new(DVec3::ONE).unwrap(), 0.5);
        cube.pose.position = DVec3::splat(0.5);
        let mut shifts: Vec<_> = world
            .shifts_of_body(&cube)
            .map(|shift| shift.unwrap().to_array().map(|x| x as i32))
            .collect();
        assert_eq!(shifts[0], [0; 3], "itself first");
        shifts.sort_unstable();
        shifts.dedup();
        assert_eq!(shifts.len(), 27);
    }
}
