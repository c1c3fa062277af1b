//! Passes over chunks of guides: contacts with guides and bodies are placed, weighed and solved, and the sums move the guides.

use barchan_world::{Friction, Guides};
use glam::{DVec3, Vec3, Vec4};
use rayon::prelude::*;

use super::CHUNK;
use super::bodies::{BodyStep, Load};
use super::contacts::candidates::{Candidates, PairFriction};
use super::guides::Columns;
use super::contacts::halo::Imports;
use super::contacts::near::Near;
use super::rows::{self, Pass, Placing, Rows};
use super::rules::{Rules, SLACK};
use super::surface::Surface;
use super::walls::{Due, Toucher, Wall, Walls, walls_of};
use crate::Splitting;
use crate::laws::mass::Weight;

/// The contacts of all guides in a step, chunk by chunk.
#[derive(Debug, Default)]
pub(crate) struct Contacts {
    pub rows: Vec<Rows>,
    pub walls: Vec<Walls>,
    /// What the guides of each chunk give each body.
    pub loads: Vec<Vec<Load>>,
}

impl Contacts {
    /// Room for `chunks` chunks. Those beyond are spare: empty, with their memory kept.
    pub(crate) fn resize(&mut self, chunks: usize) {
        let most = chunks.max(self.rows.len());
        self.rows.resize_with(most, Rows::default);
        self.walls.resize_with(most, Walls::default);
        self.loads.resize_with(most, Vec::new);
        self.rows[chunks..].iter_mut().for_each(Rows::clear);
        self.walls[chunks..].iter_mut().for_each(Walls::clear);
        self.loads[chunks..].iter_mut().for_each(Vec::clear);
    }
}

/// What a pass sees of the rest.
pub(crate) struct Scene<'a> {
    pub guides: &'a Guides,
    pub origin: DVec3,
    pub bodies: &'a [BodyStep],
    /// How far each body goes in this step at most [m].
    pub travels: &'a [f32],
    pub surfaces: &'a [Surface],
    /// Friction of each material on each body, a row a body.
    pub friction: &'a [Friction],
    pub pair_friction: PairFriction<'a>,
    pub materials: usize,
    pub splitting: Splitting,
    pub keeps_momentum: bool,
    pub rules: Rules,
    /// Who sleeps.
    pub asleep: &'a [bool],
}

/// The candidates of all chunks, and who has sums for whom.
#[derive(Clone, Copy)]
pub(crate) struct Chunks<'a> {
    pub candidates: &'a [Candidates],
    pub imports: &'a Imports,
}

/// Where guides are since the search, how far they go in this step if nothing is in the way, and how far they went in the last [m].
#[derive(Clone, Copy)]
struct Going<'a> {
    at: &'a [Vec4],
    free: &'a [Vec4],
    gone: &'a [f32],
}

/// What was before: the walls of the last step, those of guide `i` under number `old[i]`.
#[derive(Clone, Copy)]
pub(crate) struct Before<'a> {
    pub walls: &'a [Walls],
    pub old: &'a [u32],
}

impl Scene<'_> {
    /// Where guide `i` is, `at` [m] from where it was at the search.
    pub(crate) fn place(&self, i: usize, at: Vec4) -> DVec3 {
        let Guides { position, offset, .. } = self.guides;
        self.origin + position[i].as_dvec3() + offset[i].as_dvec3() + at.truncate().as_dvec3()
    }

    /// Momentum that guide `i` really gets, of an impulse [-]: 1 unless masses are scaled or corrections averaged. A
    /// sleeper's contacts carry what they did.
    fn momentum_factor(&self, i: usize, weight: Weight) -> f32 {
        if self.keeps_momentum || self.asleep[i] {
            1.0
        } else {
            weight.response * self.guides.mass[i]
        }
    }

    /// Finds all contacts and makes them planes, weighs guides by their number, and starts from the remembered impulses.
    pub(crate) fn contact(
        &self,
        columns: &mut Columns,
        contacts: &mut Contacts,
        chunks: Chunks<'_>,
        near: &mut [Vec<Near>],
        before: Before<'_>,
    ) {
        let Columns {
            at,
            free,
            moved,
            inverse_mass,
            weight,
            share,
            gone,
            ..
        } = columns;
        let asleep = self.asleep;
        let (at, free, inverse_mass, gone) = (&at[..], &free[..], &inverse_mass[..], &gone[..]);
        let placing = Placing {
            at,
            free,
            asleep,
            friction: self.pair_friction,
            rules: self.rules,
        };
        let used = self.guides.len().div_ceil(CHUNK);
        let found = contacts.rows[..used].par_iter_mut().zip(contacts.walls.par_iter_mut());
        let candidates = chunks.candidates.par_iter().zip(near.par_iter_mut());
        found
            .zip(candidates)
            .enumerate()
            // One by one: chunks at bodies take far longer than others.
            .with_max_len(1)
            .for_each(|(c, ((rows, walls), (candidates, near)))| {
                rows::place(rows, c, candidates, placing);
                self.touch_all(c, Going { at, free, gone }, near, before, walls);
            });
        let (rows, walls) = (&contacts.rows, &contacts.walls);
        let weights = weight.par_chunks_mut(CHUNK).zip(share.par_chunks_mut(CHUNK));
        let columns = moved.par_chunks_mut(CHUNK).zip(weights);
        columns
            .zip(contacts.loads.par_iter_mut())
            .enumerate()
            .for_each(|(c, ((moved, (weight, share)), loads))| {
                chunks.imports.total(c, rows, moved);
                for (k, moved) in moved.iter_mut().enumerate() {
                    let i = c * CHUNK + k;
                    if asleep[i] {
                        (*moved, weight[k], share[k]) = (Vec4::ZERO, Weight::default(), 0.0);
                        continue;
                    }
                    let own = walls[c].of(k);
                    let given = *moved;
                    let number = given.w + own.len() as f32;
                    weight[k] = self.splitting.weight(inverse_mass[i], number, self.rules.relaxation);
                    share[k] = weight[k].share;
                    let remembered: Vec3 = own.iter().map(|w| w.impulse).sum();
                    *moved = free[i] + ((given.truncate() + remembered) * weight[k].response).extend(0.0);
                }
                self.sum_loads(c, &walls[c], weight, loads);
            });
    }

    /// Finds the contacts of chunk `c` with bodies.
    fn touch_all(&self, c: usize, going: Going<'_>, near: &mut Vec<Near>, before: Before<'_>, walls: &mut Walls) {
        walls.clear();
        let mut due = std::mem::take(&mut walls.due);
        // As many as there can be before the next search, so that no step has to make room.
        due.clear();
        due.reserve(near.capacity());
        self.find_due(going, near, &mut due);
        let mut left = due.iter().peekable();
        for i in c * CHUNK..self.guides.len().min((c + 1) * CHUNK) {
            if self.asleep[i] {
                let before = walls_of(before.walls, before.old[i]).iter();
                walls.all.extend(before.map(|wall| wall.asleep(i as u32)));
                walls.first.push(walls.all.len() as u32);
                continue;
            }
            while let Some(due) = left.next_if(|due| near[due.near as usize].guide as usize == i) {
                let walls_before = if self.rules.remembers {
                    walls_of(before.walls, before.old[i])
                } else {
                    &[]
                };
                let near = &mut near[due.near as usize];
                near.clear = self.touch(i, near.body as usize, due, going, walls_before, &mut walls.all);
            }
            walls.first.push(walls.all.len() as u32);
        }
        walls.due = due;
    }

    /// Finds which of the guides that are `near` a body may touch it in this step. Fields lie far apart in memory, so they are told ahead
    /// where they will be asked.
    fn find_due(&self, going: Going<'_>, near: &mut [Near], due: &mut Vec<Due>) {
        for (number, near) in (0..).zip(near) {
            let (i, b) = (near.guide as usize, near.body as usize);
            if self.asleep[i] {
                continue;
            }
            near.clear -= going.gone[i] + self.travels[b];
            let felt = (1.0 + 2.0 * SLACK) * self.guides.radius[i] + going.free[i].length();
            if near.clear > felt {
                continue;
            }
            let place = self.place(i, going.at[i]);
            let from = self.bodies[b].local_from(place);
            let to = self.bodies[b].local_to(place + going.free[i].truncate().as_dvec3());
            self.surfaces[b].prefetch(to);
            due.push(Due { near: number, from, to });
        }
    }

    /// Adds the planes of body `b` that guide `i` may touch in this step. Gives what its centre is surely away from the body at
    /// the start of the step [m].
    fn touch(&self, i: usize, b: usize, due: &Due, going: Going<'_>, before: &[Wall], walls: &mut Vec<Wall>) -> f32 {
        let free = going.free[i];
        let body = &self.bodies[b];
        let radius = self.guides.radius[i];
        let toucher = Toucher {
            guide: i as u32,
            radius,
            free: free.truncate(),
            friction: self.friction[b * self.materials + usize::from(self.guides.material[i])],
        };
        let slack = f64::from(2.0 * SLACK * radius);
        let then = self.surfaces[b].touches(due.from, due.to, f64::from(radius), slack, |touch| {
            let mut wall = Wall::new(&touch, &toucher, b as u32, body, self.rules);
            wall.remember(before);
            self.add(wall, walls);
        });
        // That is where the guide and the body would be at the end of the step, without each other.
        then as f32 - free.length() - self.travels[b]
    }

    /// Adds a wall of a guide, unless another place of the same body shows the same face: of two the nearer one counts.
    fn add(&self, wall: Wall, walls: &mut Vec<Wall>) {
        let of = |wall: &Wall| self.bodies[wall.body as usize].of;
        let last = walls.iter_mut().rev().take_while(|w| w.guide == wall.guide);
        let twin = match of(&wall) == wall.body {
            true => None,
            false => last.filter(|w| of(w) == of(&wall)).find(|w| w.is_face_of(&wall)),
        };
        match twin {
            Some(twin) => twin.keep_nearer(wall),
            None => walls.push(wall),
        }
    }

    /// A pass over the contacts between guides, whose sums are left in `rows`.
    fn run(&self, rows: &mut [Rows], chunks: Chunks<'_>, pass: Pass<'_>) {
        let used = self.guides.len().div_ceil(CHUNK);
        let rows = rows[..used]
            .par_iter_mut()
            .zip(chunks.candidates.par_iter())
            .enumerate();
        rows.for_each(|(c, (rows, candidates))| rows::run(rows, c, &candidates.halo, pass));
    }

    /// Gives contacts their stiffness, then one pass of the stabilisation: the sum of what pushes each guide.
    pub(crate) fn push(&self, columns: &mut Columns, contacts: &mut Contacts, chunks: Chunks<'_>, is_first: bool) {
        let Columns {
            pushed,
            next,
            weight,
            share,
            ..
        } = columns;
        let (weight, before) = (&*weight, &*pushed);
        let pass = match is_first {
            true => Pass::Stiffen(share),
            false => Pass::Push(before),
        };
        self.run(&mut contacts.rows, chunks, pass);
        let rows = &contacts.rows;
        let walls = next.par_chunks_mut(CHUNK).zip(contacts.walls.par_iter_mut());
        walls.enumerate().for_each(|(c, (next, walls))| {
            chunks.imports.total(c, rows, next);
            // Wall after wall, then all guides: whether a guide has walls is a branch that nobody can foresee.
            for wall in &mut walls.all {
                let i = wall.guide as usize;
                if weight[i].response > 0.0 {
                    wall.stabilise(before[i].truncate(), weight[i]);
                    next[i - c * CHUNK] += (wall.normal * wall.push).extend(0.0);
                }
            }
            for (next, weight) in next.iter_mut().zip(&weight[c * CHUNK..]) {
                *next = match weight.response > 0.0 {
                    true => *next * weight.response,
                    false => Vec4::ZERO,
                };
            }
        });
        std::mem::swap(pushed, next);
    }

    /// Lets the gaps know how the stabilisation moved guides.
    pub(crate) fn shift_gaps(&self, columns: &Columns, contacts: &mut Contacts, chunks: Chunks<'_>) {
        let pushed = &columns.pushed;
        self.run(&mut contacts.rows, chunks, Pass::Shift(pushed));
        for wall in contacts.walls.iter_mut().flat_map(|walls| &mut walls.all) {
            wall.shift(pushed[wall.guide as usize].truncate());
        }
    }

    /// One pass over all contacts, then the sum of all impulses on each guide. `loads`: and on each body.
    pub(crate) fn solve(&self, columns: &mut Columns, contacts: &mut Contacts, chunks: Chunks<'_>, loads: bool) {
        let Columns {
            moved,
            next,
            free,
            weight,
            ..
        } = columns;
        let (free, weight, before) = (&*free, &*weight, &*moved);
        self.run(&mut contacts.rows, chunks, Pass::Solve(before, self.rules.friction));
        let rows = &contacts.rows;
        let bodies = contacts.walls.par_iter_mut().zip(contacts.loads.par_iter_mut());
        next.par_chunks_mut(CHUNK)
            .zip(bodies)
            .enumerate()
            .for_each(|(c, (next, (walls, of_bodies)))| {
                chunks.imports.total(c, rows, next);
                for wall in &mut walls.all {
                    let i = wall.guide as usize;
                    if weight[i].response > 0.0 {
                        let body = &self.bodies[wall.body as usize];
                        wall.solve(before[i].truncate(), weight[i], body, self.rules);
                        next[i - c * CHUNK] += wall.impulse.extend(0.0);
                    }
                }
                let (free, weight) = (&free[c * CHUNK..], &weight[c * CHUNK..]);
                for ((next, free), weight) in next.iter_mut().zip(free).zip(weight) {
                    *next = match weight.response > 0.0 {
                        true => *free + *next * weight.response,
                        false => Vec4::ZERO,
                    };
                }
                if loads {
                    self.sum_loads(c, walls, weight, of_bodies);
                }
            });
        std::mem::swap(moved, next);
    }

    /// Sums what the walls of chunk `c` give bodies, each times the momentum that its guide really gets.
    fn sum_loads(&self, c: usize, walls: &Walls, weight: &[Weight], loads: &mut Vec<Load>) {
        loads.clear();
        loads.resize(self.bodies.len(), Load::default());
        for wall in &walls.all {
            let i = wall.guide as usize;
            wall.load(
                self.momentum_factor(i, weight[i - c * CHUNK]),
                &mut loads[wall.body as usize],
            );
        }
    }
}
