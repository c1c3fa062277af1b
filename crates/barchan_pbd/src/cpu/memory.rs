//! Impulses outlive searches, sorts, and the program.

use barchan_world::{Archive, ArchiveError};
use glam::{Vec3, Vec4};
use rayon::prelude::*;

use super::CHUNK;
use super::guides::Chunk;
use super::pairs::{LANES, Pairs};
use super::walls::Wall;

/// A guide that was not there before.
pub(crate) const NEW: u32 = u32::MAX;

impl Pairs {
    /// Takes over the impulses of `before`, in which guide `i` had the number `old[i]`.
    pub(crate) fn remember(&mut self, before: &Self, old: &[u32]) {
        let guides = before.first.len().saturating_sub(1) as u32;
        let Self { bases, impulse, .. } = self;
        impulse
            .par_chunks_mut(64 * LANES)
            .zip(bases.par_chunks(64))
            .for_each(|(impulse, bases)| {
                for (base, impulse) in bases.iter().zip(impulse.as_chunks_mut::<LANES>().0) {
                    for (l, impulse) in impulse.iter_mut().enumerate() {
                        let (i, j) = (old[base.i[l] as usize], old[base.j[l] as usize]);
                        if base.reach[l] > 0.0 && i < guides && j < guides {
                            let (low, high) = (i.min(j), i.max(j));
                            let row = before.first[low as usize] as usize..before.first[low as usize + 1] as usize;
                            let start = row.start;
                            let same = before.others[row].iter().position(|&j| j == high);
                            *impulse =
                                same.map_or(Vec4::ZERO, |p| before.impulse[start + p]) * if i < j { 1.0 } else { -1.0 };
                        }
                    }
                }
            });
    }

    /// Stores the impulses, a row a guide.
    pub(crate) fn save(&self, archive: &mut Archive) {
        let (mut ends, mut others, mut impulses) = (Vec::new(), Vec::new(), Vec::new());
        for row in self.first.windows(2) {
            for p in (row[0] as usize..row[1] as usize).filter(|&p| self.impulse[p] != Vec4::ZERO) {
                others.push(self.others[p]);
                impulses.push(self.impulse[p].to_array());
            }
            ends.push(others.len() as u32);
        }
        archive.put("pbd.pairs.ends", &ends);
        archive.put("pbd.pairs.others", &others);
        archive.put("pbd.pairs.impulses", &impulses);
    }

    /// Takes back the impulses: pairs without geometry, to remember from.
    pub(crate) fn load(archive: &Archive) -> Result<Self, ArchiveError> {
        let ends: Vec<u32> = archive.get("pbd.pairs.ends")?;
        let others: Vec<u32> = archive.get("pbd.pairs.others")?;
        let impulses: Vec<[f32; 4]> = archive.get("pbd.pairs.impulses")?;
        let ascending = ends.windows(2).all(|e| e[0] <= e[1]);
        if !ascending || ends.last().map_or(0, |&e| e as usize) != others.len() || others.len() != impulses.len() {
            return Err(ArchiveError::Ragged {
                prefix: "pbd.pairs".to_owned(),
            });
        }
        Ok(Self {
            first: std::iter::once(0).chain(ends).collect(),
            others,
            impulse: impulses.into_iter().map(Vec4::from_array).collect(),
            ..Self::default()
        })
    }
}

/// Stores the impulses of contacts with bodies.
pub(crate) fn save_walls(chunks: &[Chunk], archive: &mut Archive) {
    let walls = || chunks.iter().flat_map(|c| &c.walls);
    let places: Vec<[u32; 2]> = walls().map(|w| [w.guide, w.body]).collect();
    let vectors: Vec<[f32; 6]> = walls()
        .map(|w| {
            let (n, p) = (w.normal, w.impulse);
            [n.x, n.y, n.z, p.x, p.y, p.z]
        })
        .collect();
    archive.put("pbd.walls.places", &places);
    archive.put("pbd.walls.vectors", &vectors);
}

/// Takes back the impulses of contacts with bodies of `guides` guides: walls without geometry, to remember from.
pub(crate) fn load_walls(guides: usize, archive: &Archive) -> Result<Vec<Chunk>, ArchiveError> {
    let places: Vec<[u32; 2]> = archive.get("pbd.walls.places")?;
    let vectors: Vec<[f32; 6]> = archive.get("pbd.walls.vectors")?;
    let ascending = places.windows(2).all(|p| p[0][0] <= p[1][0]);
    let inside = places.last().is_none_or(|p| (p[0] as usize) < guides);
    if places.len() != vectors.len() || !ascending || !inside {
        return Err(ArchiveError::Ragged {
            prefix: "pbd.walls".to_owned(),
        });
    }
    let mut all = places.iter().zip(&vectors).peekable();
    let chunks = (0..guides.div_ceil(CHUNK)).map(|c| {
        let mut chunk = Chunk::default();
        chunk.first.push(0);
        for i in c * CHUNK..guides.min((c + 1) * CHUNK) {
            while let Some((place, v)) = all.next_if(|(place, _)| place[0] as usize == i) {
                chunk.walls.push(Wall::remembered(
                    *place,
                    Vec3::from_slice(&v[..3]),
                    Vec3::from_slice(&v[3..]),
                ));
            }
            chunk.first.push(chunk.walls.len() as u32);
        }
        chunk
    });
    Ok(chunks.collect())
}
