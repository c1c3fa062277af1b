//! Which guides may touch which bodies before the next search.

use rayon::prelude::*;

use super::CHUNK;
use super::guides::Columns;
use super::rules::SLACK;
use super::scene::Scene;

/// A guide near a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Near {
    pub guide: u32,
    pub body: u32,
    /// Its centre is no nearer to the body than this at the start of the step [m].
    pub clear: f32,
}

impl Scene<'_> {
    /// Finds which guides may touch which bodies while guides stay within their leeway and bodies go no farther than
    /// `margin` [m].
    pub(crate) fn find_near(&self, all: &mut [Vec<Near>], columns: &Columns, margin: f32) {
        let Columns { middle, leeway, .. } = columns;
        all.par_iter_mut().enumerate().for_each(|(c, near)| {
            near.clear();
            for i in c * CHUNK..self.guides.len().min((c + 1) * CHUNK) {
                let reach = f64::from((1.0 + 2.0 * SLACK) * self.guides.radius[i] + leeway[i] + margin);
                let place = self.place(i, middle[i]);
                for (b, (body, surface)) in self.bodies.iter().zip(self.surfaces).enumerate() {
                    if !body.is_present || body.clearance(place) > reach {
                        continue;
                    }
                    let clearance = surface.clearance(body.local_from(place));
                    if clearance < reach {
                        near.push(Near {
                            guide: i as u32,
                            body: b as u32,
                            clear: clearance as f32 - middle[i].length(),
                        });
                    }
                }
            }
        });
    }
}
