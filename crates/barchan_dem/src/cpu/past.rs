//! Contact histories across searches, sorts of spheres, and checkpoints.

use barchan_world::{Archive, ArchiveError, NEW_ROW};
use bytemuck::{Pod, Zeroable};

use super::block::History;
use super::contacts::Chunk;
use super::walls::Touch;

/// The memory of all contacts, each pair once, under the lower of its spheres' numbers.
#[derive(Debug, Default)]
pub(crate) struct Past {
    /// Pairs of sphere `i` begin at `first[i]`.
    first: Vec<u32>,
    other: Vec<u32>,
    history: Vec<History>,
    /// Of rolling; empty where nothing resists it.
    rolled: Vec<History>,
    /// Contacts with bodies of sphere `i` begin at `first_wall[i]`.
    first_wall: Vec<u32>,
    walls: Vec<Wall>,
}

/// History of a contact with a body.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Wall {
    pub body: u32,
    /// Outward normal of the body at the contact [-].
    pub normal: [f32; 3],
    pub history: History,
    pub rolled: History,
}

impl Past {
    /// Adds what the contacts of `chunk` remember, which follows those that were added.
    pub(crate) fn add(&mut self, chunk: &Chunk) {
        if self.first.is_empty() {
            self.first.push(0);
            self.first_wall.push(0);
        }
        let mut remembered = chunk.pairs.remembered(chunk.start).peekable();
        let mut touches = chunk.touches.iter().peekable();
        for k in 0..chunk.len {
            while let Some((_, other, history, rolled)) = remembered.next_if(|pair| pair.0 == k) {
                self.other.push(other);
                self.history.push(history);
                self.rolled.extend(rolled);
            }
            while let Some(touch) = touches.next_if(|touch| touch.sphere as usize == k) {
                self.walls.push(touch.memory());
            }
            self.first.push(self.other.len() as u32);
            self.first_wall.push(self.walls.len() as u32);
        }
    }

    /// Returns the histories of sliding and rolling between spheres `a` and `b`, with the springs as seen from `a`;
    /// empty if there are none.
    pub(crate) fn pair(&self, a: u32, b: u32) -> (History, History) {
        const NOTHING: (History, History) = ([0.0; 4], [0.0; 4]);
        let (low, high) = (a.min(b), a.max(b));
        if high == NEW_ROW || low as usize + 1 >= self.first.len() {
            return NOTHING;
        }
        let row = self.first[low as usize] as usize..self.first[low as usize + 1] as usize;
        let Some(c) = self.other[row.clone()].iter().position(|&j| j == high) else {
            return NOTHING;
        };
        let seen = |[x, y, z, w]: History| match a < b {
            true => [x, y, z, w],
            false => [-x, -y, -z, w],
        };
        let rolled = self.rolled.get(row.start + c).copied().unwrap_or_default();
        (seen(self.history[row.start + c]), seen(rolled))
    }

    /// Returns the contacts of sphere `a` with bodies.
    fn walls(&self, a: u32) -> &[Wall] {
        if a == NEW_ROW || a as usize + 1 >= self.first_wall.len() {
            return &[];
        }
        &self.walls[self.first_wall[a as usize] as usize..self.first_wall[a as usize + 1] as usize]
    }

    /// Gives chunks what their spheres remember of bodies; sphere `i` has number `old[i]` here, or its own where there is none.
    pub(crate) fn restore_walls(&self, chunks: &mut [Chunk], old: &[u32]) {
        for chunk in chunks {
            chunk.touches.clear();
            for k in 0..chunk.len {
                let own = chunk.start + k;
                let walls = self.walls(old.get(own).copied().unwrap_or(own as u32)).iter();
                chunk.touches.extend(walls.map(|wall| Touch::of_memory(k as u32, wall)));
            }
        }
    }

    pub(crate) fn save(&self, archive: &mut Archive) {
        archive.put("dem.pairs.first", &self.first);
        archive.put("dem.pairs.other", &self.other);
        archive.put("dem.pairs.history", &self.history);
        archive.put("dem.pairs.rolled", &self.rolled);
        archive.put("dem.walls.first", &self.first_wall);
        archive.put("dem.walls", &self.walls);
    }

    /// Takes back what was saved for `count` spheres and `bodies` bodies.
    pub(crate) fn load(archive: &Archive, count: usize, bodies: usize) -> Result<Self, ArchiveError> {
        let past = Self {
            first: archive.get("dem.pairs.first")?,
            other: archive.get_fit("dem.pairs.other", |&other: &u32| (other as usize) < count)?,
            history: archive.get_f32s("dem.pairs.history")?,
            rolled: archive.get_f32s("dem.pairs.rolled")?,
            first_wall: archive.get("dem.walls.first")?,
            walls: archive.get_fit("dem.walls", |wall: &Wall| {
                let numbers = wall.normal.iter().chain(&wall.history).chain(&wall.rolled);
                (wall.body as usize) < bodies && numbers.into_iter().all(|x| (x * x).is_finite())
            })?,
        };
        let fits = |first: &[u32], len: usize| {
            let ascends = first.windows(2).all(|pair| pair[0] <= pair[1]);
            let ends = first.last().is_some_and(|&end| end as usize == len);
            first.is_empty() && len == 0 || first.len() == count + 1 && ascends && ends
        };
        let whole = fits(&past.first, past.other.len()) && past.other.len() == past.history.len();
        if !whole || !fits(&past.first_wall, past.walls.len()) {
            return Err(ArchiveError::Unfit {
                name: "dem.pairs".to_owned(),
                found: format!("{} pairs and {} walls", past.other.len(), past.walls.len()),
            });
        }
        Ok(past)
    }
}
