//! Colliders: the shapes with which bodies touch each other.
//!
//! The rule, first match: a half-space, ball, cuboid, cylinder or capsule whose distance the shape has; else the hull
//! of the surface if it fills that hull; else, for dynamic bodies, the surface's convex pieces, and for all others the
//! surface's triangles themselves.

use barchan_geometry::mesh::mass_properties;
use barchan_geometry::random::Stream;
use barchan_geometry::shapes::{Capsule, Cuboid, Cylinder, Sphere};
use barchan_geometry::{Aabb, Shape, TriMesh};
use barchan_world::Body;
use glam::{DQuat, DVec3};
use rapier3d_f64::math::Pose as Frame;
use rapier3d_f64::parry::transformation::try_convex_hull;
use rapier3d_f64::parry::transformation::vhacd::{VHACD, VHACDParameters};
use rapier3d_f64::prelude::{SharedShape, TriMeshFlags};

use crate::BodiesError;

/// A surface that fills this share of its hull [-] is taken for the hull.
const CONVEX_SHARE: f64 = 0.97;

/// Directions in which a hull's farthest points are kept: contacts cost the more the more points there are.
const DIRECTIONS: u32 = 128;

/// Places at which a shape is compared with a known one.
const PROBES: u64 = 64;

/// Builds the collider of `body`, and its pose in the body's frame.
pub(crate) fn build(body: &Body) -> Result<(Frame, SharedShape), BodiesError> {
    if let Some(known) = half_space(&*body.shape).or_else(|| primitive(&*body.shape, &body.surface)) {
        return Ok(known);
    }
    let refuse = |reason: String| BodiesError::Surface {
        body: body.name.clone(),
        reason,
    };
    let TriMesh { vertices, triangles } = &*body.surface;
    body.surface.check().map_err(|error| refuse(error.to_string()))?;
    if body.is_dynamic() && mass_properties(&body.surface).volume <= 0.0 {
        return Err(refuse("it encloses no volume".to_owned()));
    }
    let shape = if is_convex(&body.surface, body.mass_properties.volume) {
        hull(vertices)
    } else if body.is_dynamic() {
        let pieces = VHACD::decompose(&VHACDParameters::default(), vertices, triangles, true);
        let hulls = pieces.compute_exact_convex_hulls(vertices, triangles);
        let parts: Vec<_> = hulls
            .iter()
            .filter_map(|(points, _)| Some((Frame::IDENTITY, hull(points)?)))
            .collect();
        (!parts.is_empty()).then(|| SharedShape::compound(parts))
    } else {
        let flags = TriMeshFlags::FIX_INTERNAL_EDGES;
        let mesh = SharedShape::trimesh_with_flags(vertices.clone(), triangles.clone(), flags);
        Some(mesh.map_err(|error| refuse(error.to_string()))?)
    };
    Ok((Frame::IDENTITY, shape.ok_or_else(|| refuse("it is flat".to_owned()))?))
}

/// The half-space that `shape` is, if it is one.
fn half_space(shape: &dyn Shape) -> Option<(Frame, SharedShape)> {
    if shape.bounds().is_finite() {
        return None;
    }
    let (at_origin, normal) = (shape.distance(DVec3::ZERO), shape.normal(DVec3::ZERO));
    let around = Aabb::new(DVec3::ZERO, DVec3::ZERO).grown(1.0 + at_origin.abs());
    let same = probes(around).all(|p| {
        let distance = at_origin + normal.dot(p);
        (shape.distance(p) - distance).abs() <= 1e-9 * around.size().x
    });
    same.then(|| {
        let on_plane = -at_origin * normal;
        (Frame::from_translation(on_plane), SharedShape::halfspace(normal))
    })
}

/// The ball, cuboid, upright cylinder or upright capsule that `shape`, whose surface is given, is, if it is one.
fn primitive(shape: &dyn Shape, surface: &TriMesh) -> Option<(Frame, SharedShape)> {
    let bounds = shape.bounds();
    if bounds.is_empty() || !bounds.is_finite() {
        return None;
    }
    let (size, center) = (bounds.size(), bounds.center());
    let radius = 0.5 * size.x;
    let is = |known: &dyn Shape| {
        let around = bounds.grown(0.5 * size.max_element());
        // Few probes fall into a narrow hole, but its walls are part of the surface.
        probes(around)
            .chain(centroids(surface))
            .all(|p| (shape.distance(p) - known.distance(p - center)).abs() <= 1e-9 * around.size().max_element())
    };
    // Rapier's cylinders and capsules stand along y.
    let upright = DQuat::from_rotation_arc(DVec3::Y, DVec3::Z);
    let at = |rotation: DQuat, shape: SharedShape| Some((Frame::from_parts(center, rotation), shape));
    if Sphere::new(radius).is_ok_and(|sphere| is(&sphere)) {
        at(DQuat::IDENTITY, SharedShape::ball(radius))
    } else if Cuboid::new(size).is_ok_and(|cuboid| is(&cuboid)) {
        at(
            DQuat::IDENTITY,
            SharedShape::cuboid(0.5 * size.x, 0.5 * size.y, 0.5 * size.z),
        )
    } else if Cylinder::new(radius, size.z).is_ok_and(|cylinder| is(&cylinder)) {
        at(upright, SharedShape::cylinder(0.5 * size.z, radius))
    } else if Capsule::new(radius, size.z).is_ok_and(|capsule| is(&capsule)) {
        at(upright, SharedShape::capsule_y(0.5 * size.z - radius, radius))
    } else {
        None
    }
}

/// Centroids of the triangles of a surface.
fn centroids(surface: &TriMesh) -> impl Iterator<Item = DVec3> {
    let corner = |i: u32| surface.vertices.get(i as usize).copied();
    let corners = surface.triangles.iter().map(move |t| t.map(corner));
    corners.filter_map(|[a, b, c]| Some((a? + b? + c?) / 3.0))
}

/// Places spread over a box.
fn probes(bounds: Aabb) -> impl Iterator<Item = DVec3> {
    (0..PROBES).map(move |k| bounds.min + Stream::new(0, k).unit_cube() * bounds.size())
}

/// Returns true if a closed surface fills its hull. `solid` is the volume [m³] of the body, which is less than that of
/// the surface if shells overlap, and zero for an unbounded body.
fn is_convex(surface: &TriMesh, solid: f64) -> bool {
    let Ok((vertices, triangles)) = try_convex_hull(&surface.vertices) else {
        return false;
    };
    let hull = mass_properties(&TriMesh { vertices, triangles }).volume;
    let enclosed = mass_properties(surface).volume;
    let overlaps = solid > 0.0 && solid < CONVEX_SHARE * enclosed;
    (if overlaps { solid } else { enclosed }) >= CONVEX_SHARE * hull
}

/// The hull of the points that are farthest in some direction.
fn hull(points: &[DVec3]) -> Option<SharedShape> {
    let golden = std::f64::consts::PI * (3.0 - 5f64.sqrt());
    let mut farthest: Vec<usize> = (0..DIRECTIONS)
        .map(|k| {
            let z = 1.0 - (2.0 * f64::from(k) + 1.0) / f64::from(DIRECTIONS);
            let (sin, cos) = (golden * f64::from(k)).sin_cos();
            let direction = DVec3::new(cos, sin, 0.0) * (1.0 - z * z).sqrt() + z * DVec3::Z;
            let height = |i: &usize| points[*i].dot(direction);
            (0..points.len())
                .max_by(|a, b| height(a).total_cmp(&height(b)))
                .unwrap_or(0)
        })
        .collect();
    farthest.sort_unstable();
    farthest.dedup();
    let kept: Vec<DVec3> = farthest.iter().filter_map(|&i| points.get(i).copied()).collect();
    SharedShape::convex_hull(&kept)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use barchan_geometry::mesh::primitives;
    use barchan_geometry::shapes::{Cone, HalfSpace, Subtract, Torus, Transformed};
    use rapier3d_f64::prelude::ShapeType;

    use super::*;

    fn moved(shape: impl Shape + 'static) -> Transformed {
        Transformed::new(Arc::new(shape), DVec3::new(1.0, 2.0, 3.0), DQuat::IDENTITY, DVec3::ONE).unwrap()
    }

    #[test]
    fn simple_solids_are_recognised_by_their_distance_and_keep_their_place_and_size() {
        let bounds = |shape: &dyn Shape| {
            let (frame, found) = primitive(shape, &TriMesh::default()).unwrap();
            let found_bounds = found.compute_aabb(&frame);
            assert!(found_bounds.mins.abs_diff_eq(shape.bounds().min, 1e-12), "{shape:?}");
            assert!(found_bounds.maxs.abs_diff_eq(shape.bounds().max, 1e-12), "{shape:?}");
            found.shape_type()
        };
        assert_eq!(bounds(&moved(Sphere::new(0.3).unwrap())), ShapeType::Ball);
        assert_eq!(
            bounds(&moved(Cuboid::new(DVec3::new(0.1, 0.2, 0.3)).unwrap())),
            ShapeType::Cuboid
        );
        assert_eq!(bounds(&moved(Cylinder::new(0.1, 0.4).unwrap())), ShapeType::Cylinder);
        assert_eq!(bounds(&moved(Capsule::new(0.1, 0.4).unwrap())), ShapeType::Capsule);
        assert!(primitive(&Torus::new(0.5, 0.1).unwrap(), &TriMesh::default()).is_none());
        assert!(primitive(&Cone::new(0.2, 0.1, 0.3).unwrap(), &TriMesh::default()).is_none());
        assert!(primitive(&Cuboid::rounded(DVec3::ONE, 0.1).unwrap(), &TriMesh::default()).is_none());
        let (frame, plane) = half_space(&HalfSpace::new(DVec3::new(0.0, 3.0, 4.0), 2.0).unwrap()).unwrap();
        assert_eq!(plane.shape_type(), ShapeType::HalfSpace);
        assert!(frame.translation.abs_diff_eq(DVec3::new(0.0, 1.2, 1.6), 1e-12));
    }

    #[test]
    fn a_box_with_a_narrow_hole_is_no_box() {
        let (outer, inner) = (DVec3::new(0.4, 0.4, 1.4), DVec3::new(0.02, 0.02, 2.0));
        let parts: Vec<Arc<dyn Shape>> = vec![
            Arc::new(Cuboid::new(outer).unwrap()),
            Arc::new(Cuboid::new(inner).unwrap()),
        ];
        let tube = Subtract::new(parts, 0.0).unwrap();
        let hole = primitives::cuboid(inner.with_z(outer.z));
        assert!(primitive(&tube, &hole).is_none());
    }

    #[test]
    fn balls_and_boxes_fill_their_hulls_and_rings_do_not() {
        let fills = |surface: &TriMesh| is_convex(surface, mass_properties(surface).volume);
        assert!(fills(&primitives::icosphere(1.0, 3)));
        assert!(fills(&primitives::cuboid(DVec3::new(1.0, 2.0, 0.1))));
        assert!(!fills(&primitives::torus(1.0, 0.3, 32, 16)));
    }

    #[test]
    fn shells_that_overlap_do_not_make_up_for_what_is_missing_in_the_hull() {
        // A cross of three bars, each given three times: 1.11 of the hull in all, 0.29 without the overlaps.
        let mut cross = TriMesh::default();
        let mut vertices = 0;
        for axis in [DVec3::X, DVec3::Y, DVec3::Z].into_iter().cycle().take(9) {
            let bar = primitives::cuboid(DVec3::splat(0.3) + 0.7 * axis);
            cross.vertices.extend(&bar.vertices);
            cross
                .triangles
                .extend(bar.triangles.iter().map(|t| t.map(|v| v + vertices)));
            vertices = cross.vertices.len() as u32;
        }
        let solid = 3.0 * 0.09 - 2.0 * 0.027;
        assert!(!is_convex(&cross, solid));
    }

    #[test]
    fn a_hull_of_few_points_keeps_corners_and_most_of_a_ball() {
        let ball = primitives::icosphere(1.0, 4);
        let kept = hull(&ball.vertices).unwrap().mass_properties(1.0).mass();
        let whole = mass_properties(&ball).volume;
        assert!((0.93..=1.0).contains(&(kept / whole)), "{kept} of {whole}");
        let size = DVec3::new(1.0, 2.0, 0.1);
        let kept = hull(&primitives::cuboid(size).vertices)
            .unwrap()
            .mass_properties(1.0)
            .mass();
        assert!((kept - size.element_product()).abs() < 1e-12, "{kept}");
    }
}
