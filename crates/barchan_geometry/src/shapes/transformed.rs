use std::sync::Arc;

use glam::{DMat3, DQuat, DVec3};

use super::error::{all_positive, finite};
use super::{ShapeError, unit};
use crate::mesh::{Face, FlatSolid, TriMesh};
use crate::{Aabb, Shape};

/// A shape scaled, then rotated, then translated. The distance is as exact as the shape's own if the scale is the same
/// along all axes; otherwise it is a lower bound, short by up to the ratio of the largest to the smallest scale.
#[derive(Clone, Debug)]
pub struct Transformed {
    shape: Arc<dyn Shape>,
    at: DVec3,
    rotation: DMat3,
    scale: DVec3,
    least_scale: f64,
}

impl Transformed {
    /// Scales `shape` by `scale` [-] along its own axes (above zero), rotates it by `rotation` and translates it by
    /// `at` [m].
    pub fn new(shape: Arc<dyn Shape>, at: DVec3, rotation: DQuat, scale: DVec3) -> Result<Self, ShapeError> {
        for component in at.to_array() {
            finite("at", component)?;
        }
        for component in rotation.to_array() {
            finite("rotate", component)?;
        }
        let length = rotation.length();
        if !(length > 0.0 && length.is_finite()) {
            return Err(ShapeError::ZeroDirection { what: "rotate" });
        }
        let scale = all_positive("scale", scale)?;
        Ok(Self {
            shape,
            at,
            rotation: snapped(DMat3::from_quat(rotation / length)),
            scale,
            least_scale: scale.min_element(),
        })
    }

    /// Translates `shape` by `at` [m].
    pub fn moved(shape: Arc<dyn Shape>, at: DVec3) -> Result<Self, ShapeError> {
        Self::new(shape, at, DQuat::IDENTITY, DVec3::ONE)
    }

    /// Transforms `p` [m] to the frame of the shape.
    fn to_shape(&self, p: DVec3) -> DVec3 {
        self.rotation.transpose() * (p - self.at) / self.scale
    }

    /// Returns the box around `own`, a box in the frame of the shape [m].
    fn around(&self, own: Aabb) -> Aabb {
        if own.is_empty() {
            return Aabb::EMPTY;
        }
        let (low, high) = (own.min * self.scale, own.max * self.scale);
        let mut bounds = Aabb::new(self.at, self.at);
        for row in 0..3 {
            for column in 0..3 {
                let factor = self.rotation.col(column)[row];
                // An infinite side seen end-on adds nothing; 0 * inf would be NaN.
                if factor != 0.0 {
                    let (a, b) = (factor * low[column], factor * high[column]);
                    bounds.min[row] += a.min(b);
                    bounds.max[row] += a.max(b);
                }
            }
        }
        bounds
    }
}

/// Removes the rounding of sines and cosines from quarter turns, so that a rotated floor stays bounded.
fn snapped(rotation: DMat3) -> DMat3 {
    let snap = |x: f64| if (x - x.round()).abs() < 1e-15 { x.round() } else { x };
    DMat3::from_cols_array(&rotation.to_cols_array().map(snap))
}

impl Shape for Transformed {
    fn distance(&self, p: DVec3) -> f64 {
        self.least_scale * self.shape.distance(self.to_shape(p))
    }

    fn normal(&self, p: DVec3) -> DVec3 {
        let slope = self.shape.normal(self.to_shape(p)) / self.scale;
        unit(self.rotation * slope).unwrap_or(DVec3::Z)
    }

    fn bounds(&self) -> Aabb {
        self.around(self.shape.bounds())
    }

    fn triangles(&self) -> Option<TriMesh> {
        let mut mesh = self.shape.triangles()?;
        for p in &mut mesh.vertices {
            *p = self.at + self.rotation * (self.scale * *p);
        }
        Some(mesh)
    }

    fn flat_solid(&self, tolerance: f64) -> Option<FlatSolid> {
        let moved = |face: Face| {
            // n·x = d for x = S⁻¹ Rᵀ (p - at).
            let slope = self.rotation * (face.normal / self.scale);
            let length = slope.length();
            Face {
                normal: slope / length,
                offset: (face.offset + slope.dot(self.at)) / length,
            }
        };
        let solid = self.shape.flat_solid(tolerance / self.scale.max_element())?;
        Some(solid.map(&moved, &|bounds| self.around(bounds)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::Cuboid;

    #[test]
    fn the_triangles_of_a_box_are_its_surface_and_a_rounded_one_has_none() {
        let turn = DQuat::from_euler(glam::EulerRot::XYZ, 0.3, -0.5, 1.1);
        let size = DVec3::new(4.8, 0.3, 0.5);
        let place =
            |cuboid: Cuboid| Transformed::new(Arc::new(cuboid), DVec3::new(1.0, -2.0, 3.0), turn, DVec3::ONE).unwrap();
        let placed = place(Cuboid::new(size).unwrap());
        let mesh = placed.triangles().unwrap();
        assert!(mesh.vertices.iter().all(|&p| placed.distance(p).abs() < 1e-12));
        let volume = crate::mesh::mass_properties(&mesh).volume;
        assert!((volume - size.element_product()).abs() < 1e-12, "{volume} m³");
        assert!(place(Cuboid::rounded(size, 0.05).unwrap()).triangles().is_none());
    }
}
