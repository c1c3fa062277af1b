//! Spheres that may touch a body before the next search.

use glam::DVec3;

use super::contacts::Chunk;
use super::rows::Row;
use super::surface::{ContactSurface, Placed};

/// A sphere near a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Near {
    /// Number of the sphere in its chunk.
    pub sphere: u32,
    pub body: u32,
    /// Lower bound of the distance of its center from the body [m].
    pub clear: f32,
}

/// Finds the spheres of a chunk that may touch a body, as far as each may go; bodies may go `margin` [m].
pub(crate) fn find(
    chunk: &mut Chunk,
    rows: &[Row],
    origin: DVec3,
    margin: f64,
    surfaces: &[ContactSurface],
    bodies: &[Placed],
) {
    chunk.near.clear();
    for k in 0..chunk.len {
        let row = &rows[chunk.start + k];
        if row.is_fixed() {
            continue;
        }
        let place = origin + row.place();
        let reach = row.radius() + f64::from(row.left) + margin;
        for (b, (surface, body)) in surfaces.iter().zip(bodies).enumerate() {
            if !body.is_present || body.at.clearance(place) > reach {
                continue;
            }
            let clear = surface.clearance(body.at.local(place));
            if clear <= reach {
                chunk.near.push(Near {
                    sphere: k as u32,
                    body: b as u32,
                    clear: clear as f32,
                });
            }
        }
    }
}
