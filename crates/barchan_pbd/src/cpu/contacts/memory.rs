//! Impulses and contact candidates that persist through searches, sorts and checkpoints.

use barchan_world::{Archive, ArchiveError, NEW_ROW, Renumbering};
use glam::Vec3;

use super::CHUNK;
use super::candidates::Candidates;
use super::margins::Margins;
use super::walls::{ChunkWalls, Wall};

/// Contacts of before, under the numbers that guides had then.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// Ids of guides in their order.
    pub ids: Vec<u32>,
    /// Candidates before the last search, and contacts with bodies of the last step.
    pub candidates: Vec<Candidates>,
    pub walls: Vec<ChunkWalls>,
    /// Guide `i` had the number `old[i]`, and guide `k` of the candidates before has the number `new[k]`.
    pub old: Vec<u32>,
    pub new: Vec<u32>,
    numbers: Renumbering,
}

impl Memory {
    /// Notes that all `n` guides have the numbers that they had.
    pub(crate) fn is_in_order(&mut self, n: usize) {
        self.old.clear();
        self.old.extend(0..n as u32);
    }

    /// Finds the numbers that the guides `ids` had.
    pub(crate) fn follow(&mut self, ids: &[u32]) {
        self.numbers.find(ids, &self.ids, &mut self.old);
        self.ids.clear();
        self.ids.extend_from_slice(ids);
    }

    /// Finds the numbers that the guides of the candidates before have now.
    pub(crate) fn find_new(&mut self) {
        let rows = self.candidates.iter().map(|chunk| chunk.first.len().saturating_sub(1));
        let remembered = rows.sum();
        self.new.clear();
        self.new.resize(remembered, NEW_ROW);
        for (i, &old) in (0..).zip(&self.old) {
            if let Some(new) = self.new.get_mut(old as usize) {
                *new = i;
            }
        }
    }
}

/// Stores what may touch before the next search, a row a guide, and the impulses of those pairs that have any.
pub(crate) fn save_pairs(all: &[Candidates], archive: &mut Archive) {
    let (mut ends, mut others, mut held, mut impulses) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let guides = all
        .iter()
        .flat_map(|chunk| chunk.first.windows(2).map(move |row| (chunk, row)));
    for (chunk, row) in guides {
        for c in row[0] as usize..row[1] as usize {
            others.push(chunk.other[c]);
            held.push(u8::from(chunk.is_held(c)));
            if chunk.is_held(c) {
                impulses.push(chunk.impulse[c].truncate().to_array());
            }
        }
        ends.push(others.len() as u32);
    }
    archive.put("pbd.pairs.ends", &ends);
    archive.put("pbd.pairs.others", &others);
    archive.put("pbd.pairs.held", &held);
    archive.put("pbd.pairs.impulses", &impulses);
}

/// Takes back what may touch of `guides` guides: candidates without geometry, to remember from or to complete.
pub(crate) fn load_pairs(guides: usize, archive: &Archive) -> Result<Vec<Candidates>, ArchiveError> {
    let ends: Vec<u32> = archive.get("pbd.pairs.ends")?;
    let others: Vec<u32> = archive.get("pbd.pairs.others")?;
    let held: Vec<u8> = archive.get("pbd.pairs.held")?;
    let some: Vec<[f32; 3]> = archive.get_f32s("pbd.pairs.impulses")?;
    let ascending = ends.windows(2).all(|e| e[0] <= e[1]) && ends.len() <= guides;
    let inside = others.iter().all(|&j| (j as usize) < guides);
    let holding = held.iter().filter(|&&held| held > 0).count();
    let fits = ends.last().map_or(0, |&e| e as usize) == others.len() && others.len() == held.len();
    if !ascending || !inside || !fits || holding != some.len() {
        return Err(ArchiveError::Ragged {
            prefix: "pbd.pairs".to_owned(),
        });
    }
    let mut some = some.into_iter();
    let mut impulse = |&held: &u8| match held {
        0 => Some([0.0; 3]),
        _ => some.next(),
    };
    let impulses: Vec<[f32; 3]> = held.iter().filter_map(&mut impulse).collect();
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let rows: Vec<_> = starts
        .zip(&ends)
        .map(|(start, &end)| start as usize..end as usize)
        .collect();
    let chunks = rows.chunks(CHUNK).map(|rows| {
        let mut chunk = Candidates::default();
        chunk.clear();
        for row in rows {
            let pairs = others[row.clone()].iter().zip(&impulses[row.clone()]);
            chunk.push_row(pairs.map(|(&j, impulse)| (j, Vec3::from_array(*impulse))));
        }
        chunk
    });
    Ok(chunks.collect())
}

/// Stores what the lists of pairs hold for: positions of guides at the search, displacements since then, and margins.
pub(crate) fn save_margins(margins: &Margins, archive: &mut Archive) {
    let base = margins.base.iter();
    let base: Vec<[f32; 6]> = base.map(|[p, o]| [p.x, p.y, p.z, o.x, o.y, o.z]).collect();
    let at: Vec<[f32; 3]> = margins.at.iter().map(|at| at.truncate().to_array()).collect();
    let middle = margins.middle.iter().zip(&margins.skin);
    let middle: Vec<[f32; 4]> = middle.map(|(m, skin)| [m.x, m.y, m.z, *skin]).collect();
    archive.put("pbd.ways.base", &base);
    archive.put("pbd.ways.at", &at);
    archive.put("pbd.ways.middle", &middle);
}

/// Restores it for `guides` guides.
pub(crate) fn load_margins(guides: usize, archive: &Archive) -> Result<Margins, ArchiveError> {
    let base: Vec<[f32; 6]> = archive.get_near("pbd.ways.base")?;
    let at: Vec<[f32; 3]> = archive.get_near("pbd.ways.at")?;
    let middle: Vec<[f32; 4]> = archive.get_near("pbd.ways.middle")?;
    if [base.len(), at.len(), middle.len()] != [guides; 3] {
        return Err(ArchiveError::Ragged {
            prefix: "pbd.ways".to_owned(),
        });
    }
    let place = |b: &[f32; 6]| [Vec3::from_slice(&b[..3]), Vec3::from_slice(&b[3..])];
    Ok(Margins {
        base: base.iter().map(place).collect(),
        at: at.iter().map(|at| Vec3::from_array(*at).extend(0.0)).collect(),
        middle: middle.iter().map(|m| Vec3::from_slice(&m[..3]).extend(0.0)).collect(),
        skin: middle.iter().map(|m| m[3]).collect(),
        ..Margins::default()
    })
}

/// Stores the impulses of contacts with bodies.
pub(crate) fn save_walls(chunks: &[ChunkWalls], archive: &mut Archive) {
    let walls = || chunks.iter().flat_map(|c| &c.all);
    let places: Vec<[u32; 2]> = walls().map(|w| [w.guide, w.body]).collect();
    let vectors: Vec<[f32; 9]> = walls()
        .map(|w| {
            let (n, p, a) = (w.normal, w.impulse, w.arm);
            [n.x, n.y, n.z, p.x, p.y, p.z, a.x, a.y, a.z]
        })
        .collect();
    archive.put("pbd.walls.places", &places);
    archive.put("pbd.walls.vectors", &vectors);
}

/// Takes back the impulses of contacts of `guides` guides with `bodies` bodies: walls without geometry, to remember from.
pub(crate) fn load_walls(guides: usize, bodies: usize, archive: &Archive) -> Result<Vec<ChunkWalls>, ArchiveError> {
    let places: Vec<[u32; 2]> = archive.get_fit("pbd.walls.places", |place: &[u32; 2]| (place[1] as usize) < bodies)?;
    let vectors: Vec<[f32; 9]> = archive.get_f32s("pbd.walls.vectors")?;
    let ascending = places.windows(2).all(|p| p[0][0] <= p[1][0]);
    let inside = places.last().is_none_or(|p| (p[0] as usize) < guides);
    if places.len() != vectors.len() || !ascending || !inside {
        return Err(ArchiveError::Ragged {
            prefix: "pbd.walls".to_owned(),
        });
    }
    let mut all = places.iter().zip(&vectors).peekable();
    let chunks = (0..guides.div_ceil(CHUNK)).map(|c| {
        let mut chunk = ChunkWalls::default();
        chunk.clear();
        for i in c * CHUNK..guides.min((c + 1) * CHUNK) {
            while let Some((place, v)) = all.next_if(|(place, _)| place[0] as usize == i) {
                chunk.all.push(Wall::remembered(
                    *place,
                    Vec3::from_slice(&v[..3]),
                    Vec3::from_slice(&v[3..6]),
                    Vec3::from_slice(&v[6..]),
                ));
            }
            chunk.first.push(chunk.all.len() as u32);
        }
        chunk
    });
    Ok(chunks.collect())
}
