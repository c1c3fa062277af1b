//! Bodies and joints of a world.

use std::sync::Arc;

use barchan_geometry::isosurface::{isosurface, sharpen};
use barchan_geometry::mass::{self, MassError};
use barchan_geometry::mesh::mass_properties;
use barchan_geometry::sample::surface::{SurfaceSettings, sample_surface};
use barchan_geometry::sdf_grid::{SdfGrid, SdfGridError};
use barchan_geometry::shapes::{Cuboid, Intersect, Transformed};
use barchan_geometry::{Aabb, MassProperties, Shape, TriMesh};
use barchan_world::spec::BodySurface;
use barchan_world::{Bodies, Body, Boundary, Joint, JointKind, Motion, Peak, Pose, Twist, World, Wrench};
use glam::{DMat3, DQuat, DVec3};

use super::{BuildStep, BuildWatch, SceneError};
use crate::scene::{BodyPlan, JointPlace, JointPlan, JointType, Scene};
use crate::shapes::{ClosedMesh, PlacedShape};

/// Relative error accepted in the mass of a dynamic body [-].
const DYNAMIC_TOLERANCE: f64 = 1e-3;
/// The same for bodies whose mass moves nothing [-].
const STILL_TOLERANCE: f64 = 2e-2;
/// Distance that flat faces may have from round ones in a surface, of its longest side [-].
const FACET_TOLERANCE: f64 = 1e-4;
/// Voxels along the longest side of a body for the first try at its surface.
const FIRST_VOXELS: f64 = 48.0;
/// Most halvings of the voxel for a surface whose volume is wrong or that is too coarse for its walls [-].
const HALVINGS: u32 = 3;
/// Fewest voxels across a wall [-]: with fewer, its two edges are not resolved.
const WALL_VOXELS: f64 = 1.4;
/// Difference of a surface's volume from that of the solid that is accepted [-].
const SURFACE_TOLERANCE: f64 = 0.03;
/// Most memory for a surface [bytes].
const SURFACE_MEMORY: usize = 1 << 30;
/// Most memory for a distance grid [bytes]; a body that needs more uses its exact distance.
const FIELD_MEMORY: usize = 256 << 20;
/// Least voxel of a distance grid, of the smallest guide's radius [-].
const FINEST: f64 = 0.125;

impl Scene {
    pub(super) fn add_bodies(&self, world: &mut World, watch: &BuildWatch) -> Result<(), SceneError> {
        let region = self.region();
        for (body, plan) in self.bodies.iter().enumerate() {
            watch(BuildStep::Bodies {
                body,
                bodies: self.bodies.len(),
            });
            let body = self.body(plan, &region, &mut world.warnings)?;
            world.bodies.push(body);
        }
        world.place_scripted_bodies(world.time);
        let poses: Vec<Pose> = (0..world.bodies.len())
            .map(|k| world.bodies.scripted_pose(k, 0.0))
            .collect();
        world.joints = self.joints.iter().map(|plan| joint(plan, &poses)).collect();
        Ok(())
    }

    /// A box [m] around everything that has an end, with room about it: what is drawn of bodies without one.
    fn region(&self) -> Aabb {
        let bodies = self
            .bodies
            .iter()
            .map(|body| body.shape.whole.bounds())
            .filter(Aabb::is_finite);
        let all = bodies.fold(self.guide_bounds(), |all, one| all.union(&one));
        match all.is_empty() {
            true => Aabb::new(DVec3::splat(-1.0), DVec3::ONE),
            false => all.grown(0.5 * all.size().length() + 10.0 * self.largest_radius().unwrap_or(0.0)),
        }
    }

    fn body(&self, plan: &BodyPlan, region: &Aabb, warnings: &mut Vec<String>) -> Result<Body, SceneError> {
        let (shape, mesh, pose) = match plan.motion {
            Motion::Scripted { .. } => (&plan.shape.whole, plan.placed_mesh(), Pose::IDENTITY),
            _ => {
                let pose = Pose {
                    position: plan.shape.at,
                    rotation: plan.shape.rotation,
                };
                (&plan.shape.unplaced, plan.shape.mesh.clone(), pose)
            }
        };
        let unbounded = !shape.bounds().is_finite();
        let visible = match unbounded {
            true => clipped(shape, region, &pose),
            false => shape.clone(),
        };
        let fail = |source| SceneError::Volume {
            place: plan.place.clone(),
            source,
        };
        let exact = match mesh {
            Some(mesh) => Some((mesh.properties, mesh.surface)),
            None => visible.triangles().map(|surface| match unbounded {
                true => (ENDLESS, surface),
                false => (mass_properties(&surface), surface),
            }),
        };
        let (mass_properties, surface) = match exact {
            Some((properties, surface)) if !surface.triangles.is_empty() => (properties, surface),
            _ => {
                let tolerance = if plan.motion == Motion::Dynamic {
                    DYNAMIC_TOLERANCE
                } else {
                    STILL_TOLERANCE
                };
                let properties = properties_of(&*visible, tolerance).map_err(fail)?;
                let surface = surface_of(&*visible, properties.volume).map_err(|source| SceneError::Surface {
                    place: plan.place.clone(),
                    body: plan.name.clone(),
                    source,
                })?;
                (if unbounded { ENDLESS } else { properties }, surface)
            }
        };
        let boundary = self.boundary(plan, shape, &visible, &surface, warnings)?;
        let (density, mass_properties) = plan.weight(mass_properties);
        Ok(Body {
            name: plan.name.clone(),
            shape: shape.clone(),
            surface: Arc::new(surface),
            boundary,
            motion: plan.motion.clone(),
            friction: plan.friction,
            restitution: plan.restitution,
            density,
            mass_properties,
            from: plan.from,
            until: plan.until,
            pose,
            twist: Twist {
                linear: plan.velocity,
                angular: plan.angular_velocity,
            },
            wrench: Wrench::default(),
            peak: Peak::default(),
        })
    }

    /// Returns the boundary of a body for guides.
    ///
    /// A distance grid has a voxel of half the smallest guide's radius, or a quarter of the solid's mean wall thickness
    /// 2V/A if that is less, but not below an eighth of the radius; its band is as wide as the solver needs. Unbounded
    /// solids, and those whose grid would not fit, are queried for their exact distance, the latter with a warning.
    fn boundary(
        &self,
        plan: &BodyPlan,
        shape: &Arc<dyn Shape>,
        visible: &Arc<dyn Shape>,
        surface: &TriMesh,
        warnings: &mut Vec<String>,
    ) -> Result<Boundary, SceneError> {
        let size = surface.bounds().size().max_element();
        let smallest = self.smallest_radius().unwrap_or(size / FIRST_VOXELS);
        let largest = self.largest_radius().unwrap_or(smallest);
        let BodySurface::Distance { band } = self.facts().bodies else {
            let settings = SurfaceSettings {
                offset: -smallest,
                seed: self.seed,
                ..SurfaceSettings::new(smallest)
            };
            let cover =
                sample_surface(surface, &**visible, &settings, &|_| {}).map_err(|source| SceneError::Cover {
                    place: plan.place.clone(),
                    body: plan.name.clone(),
                    source,
                })?;
            return Ok(Boundary::Particles {
                positions: cover.positions.iter().map(|p| p.as_vec3()).collect(),
                normals: cover.normals.iter().map(|n| n.as_vec3()).collect(),
                radius: smallest as f32,
            });
        };
        if !shape.bounds().is_finite() {
            return Ok(Boundary::Exact(shape.clone()));
        }
        let thickness = 2.0 * mass_properties(surface).volume / area(surface);
        let voxel = (0.5 * smallest).min(0.25 * thickness).max(FINEST * smallest);
        match SdfGrid::build(&**shape, voxel, band * largest, FIELD_MEMORY) {
            Ok(grid) => Ok(Boundary::Field(Arc::new(grid))),
            Err(reason @ SdfGridError::Memory { .. }) => {
                warnings.push(format!(
                    "{}: body `{}`: {reason}; its solid is asked for distances instead, which takes longer",
                    plan.place, plan.name
                ));
                Ok(Boundary::Exact(shape.clone()))
            }
            Err(source) => Err(SceneError::Field {
                place: plan.place.clone(),
                body: plan.name.clone(),
                source,
            }),
        }
    }
}

/// An unbounded body has no mass: forces never move it.
const ENDLESS: MassProperties = MassProperties {
    volume: 0.0,
    center: DVec3::ZERO,
    inertia: DMat3::ZERO,
};

impl BodyPlan {
    /// The closed mesh of the solid as written.
    fn placed_mesh(&self) -> Option<ClosedMesh> {
        let mesh = self.shape.mesh.clone()?;
        Some(mesh.transformed(DVec3::ONE, self.shape.rotation, self.shape.at))
    }
}

/// The part of `shape`, which stands in the world by `pose`, that lies in the box `region` [m] of the world.
fn clipped(shape: &Arc<dyn Shape>, region: &Aabb, pose: &Pose) -> Arc<dyn Shape> {
    let rotation = pose.rotation.inverse();
    let size = "the region has a size";
    // Grown until it reaches well into the solid.
    let away = shape.distance(pose.local(region.center())).max(0.0);
    let region = region.grown(away);
    let cuboid: Arc<dyn Shape> = Arc::new(Cuboid::new(region.size()).expect(size));
    let placed = Transformed::new(cuboid, pose.local(region.center()), rotation, DVec3::ONE).expect(size);
    let parts: Vec<Arc<dyn Shape>> = vec![shape.clone(), Arc::new(placed)];
    Arc::new(Intersect::new(parts, 0.0).expect("there are two parts"))
}

/// The surface of a shape without its outermost place, and its mass properties for a density of 1; or why it has none.
pub(crate) fn solid_of(placed: &PlacedShape) -> Result<(TriMesh, MassProperties), String> {
    if let Some(mesh) = &placed.mesh {
        return Ok((mesh.surface.clone(), mesh.properties));
    }
    let shape = &*placed.unplaced;
    if let Some(surface) = shape.triangles().filter(|surface| !surface.triangles.is_empty()) {
        let properties = mass_properties(&surface);
        return Ok((surface, properties));
    }
    let properties = properties_of(shape, DYNAMIC_TOLERANCE).map_err(|error| error.to_string())?;
    let surface = surface_of(shape, properties.volume).map_err(|error| error.to_string())?;
    Ok((surface, properties))
}

/// Mass properties to `tolerance` [-], or as near as the finest cells come to it.
fn properties_of(shape: &dyn Shape, tolerance: f64) -> Result<MassProperties, MassError> {
    match mass::of_shape(shape, tolerance) {
        Err(MassError::Unsettled { change, .. }) => mass::of_shape(shape, 2.0 * change),
        found => found,
    }
}

/// The surface of a solid of `volume` [m³]: flat faces where few are near enough to the round ones, else with voxels of 1/48 of its longest side, halved while the surface holds another volume, or while the solid's walls, 2V/A thick on average, have too few voxels for sharp rims.
fn surface_of(shape: &dyn Shape, volume: f64) -> Result<TriMesh, barchan_geometry::isosurface::IsosurfaceError> {
    let (bounds, size) = (shape.bounds(), shape.bounds().size().max_element());
    let flat = shape.flat_solid(FACET_TOLERANCE * size);
    if let Some(surface) = flat.and_then(|solid| solid.surface(&bounds)) {
        return Ok(surface);
    }
    let mut voxel = size / FIRST_VOXELS;
    let sharp = |voxel: f64| {
        let mut surface = isosurface(shape, voxel, 0.0, SURFACE_MEMORY)?;
        sharpen(&mut surface, shape);
        Ok(surface)
    };
    let mut surface = sharp(voxel)?;
    for _ in 0..HALVINGS {
        let right = (mass_properties(&surface).volume - volume).abs() <= SURFACE_TOLERANCE * volume;
        if right && WALL_VOXELS * voxel <= 2.0 * volume / area(&surface) {
            break;
        }
        voxel *= 0.5;
        surface = sharp(voxel)?;
    }
    Ok(surface)
}

fn area(mesh: &TriMesh) -> f64 {
    let twice = |t: usize| {
        let [a, b, c] = mesh.corners(t);
        (b - a).cross(c - a).length()
    };
    0.5 * (0..mesh.triangles.len()).map(twice).sum::<f64>()
}

/// A joint of bodies that stand by `poses` at time 0.
fn joint(plan: &JointPlan, poses: &[Pose]) -> Joint {
    let held = plan.bodies.map(|k| poses[k]);
    let anchors = match plan.holds {
        JointPlace::World(at) => held.map(|pose| pose.local(at)),
        JointPlace::Frames(anchors) => anchors,
    };
    let distance = held[0].point(anchors[0]).distance(held[1].point(anchors[1]));
    let into_first: DQuat = held[0].rotation.inverse();
    let kind = match plan.kind {
        JointType::Hinge { axis } => JointKind::Hinge {
            axis: into_first * axis,
        },
        JointType::Slider { axis } => JointKind::Slider {
            axis: into_first * axis,
        },
        JointType::Ball => JointKind::Ball,
        JointType::Rope { length } => JointKind::Rope {
            length: length.unwrap_or(distance),
        },
        JointType::Fixed => JointKind::Fixed,
    };
    let start = match kind {
        JointKind::Hinge { axis } => DQuat::from_axis_angle(axis, plan.start),
        _ => DQuat::IDENTITY,
    };
    Joint {
        name: plan.name.clone(),
        zero: Some(start.inverse() * into_first * held[1].rotation),
        position: plan.start,
        limits: plan.limits,
        spring: plan.spring,
        motor: plan.motor,
        until: plan.cut,
        ..Joint::new(plan.bodies, kind, anchors)
    }
}

impl BodyPlan {
    /// Returns the density [kg/m³] and the mass properties for a density of 1 kg/m³ of a body whose solid has `properties`.
    fn weight(&self, properties: MassProperties) -> (f64, MassProperties) {
        let density = self.mass.map_or(self.density, |mass| mass / properties.volume);
        let about_center = |inertia: DMat3| inertia * (1.0 / density);
        let weighed = MassProperties {
            center: self.center.unwrap_or(properties.center),
            inertia: self.inertia.map_or(properties.inertia, about_center),
            ..properties
        };
        (density, weighed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan_geometry::shapes::{Sphere, Subtract};

    #[test]
    fn the_surface_of_a_thin_walled_box_lies_on_its_rims() {
        let cuboid = |size: DVec3, z: f64| -> Arc<dyn Shape> {
            let cuboid = Arc::new(Cuboid::new(size).unwrap());
            Arc::new(Transformed::new(cuboid, DVec3::new(0.0, 0.0, z), DQuat::IDENTITY, DVec3::ONE).unwrap())
        };
        let wall = 0.1;
        let inner = cuboid(DVec3::new(3.4, 2.2, 2.0), 1.0);
        // A round dent below, so that the surface is not one of flat faces only.
        let dent = Transformed::moved(Arc::new(Sphere::new(0.08).unwrap()), DVec3::new(0.0, 0.0, -0.1)).unwrap();
        let outer = cuboid(DVec3::new(3.6, 2.4, 1.1), 0.45);
        let pool = Subtract::new(vec![outer, inner, Arc::new(dent)], 0.0).unwrap();
        let volume = 3.6 * 2.4 * 1.1 - 3.4 * 2.2 - 2.0 / 3.0 * std::f64::consts::PI * 0.08f64.powi(3);
        let surface = surface_of(&pool, volume).unwrap();
        let off = |t: usize| {
            let [a, b, c] = surface.corners(t);
            let middles = [(a + b) / 2.0, (b + c) / 2.0, (c + a) / 2.0, (a + b + c) / 3.0];
            middles.map(|p| pool.distance(p).abs()).into_iter().fold(0.0, f64::max)
        };
        let is_flat = |t: &usize| surface.corners(*t).iter().all(|p| p.distance(-0.1 * DVec3::Z) > 0.25);
        let worst = (0..surface.triangles.len())
            .filter(is_flat)
            .map(off)
            .fold(0.0, f64::max);
        // Triangles of a fraction of a voxel may be folded where rims meet.
        assert!(worst < 0.05 * wall, "{worst} m");
        let [low, high] = [DVec3::new(-1.8, -1.2, -0.1), DVec3::new(1.8, 1.2, 1.0)];
        for corner in Aabb::new(low, high).corners() {
            let nearest = surface
                .vertices
                .iter()
                .map(|v| v.distance(corner))
                .fold(f64::INFINITY, f64::min);
            assert!(nearest < 1e-9, "{nearest} m from {corner}");
        }
    }
}
