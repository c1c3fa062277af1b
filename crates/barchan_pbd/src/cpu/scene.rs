//! Passes over chunks of guides: contacts with guides and bodies are placed, weighted and solved, and the sums move the
//! guides.

use barchan_world::{Friction, Guides, World};
use glam::{DVec3, Vec3, Vec4};
use rayon::prelude::*;

use super::CHUNK;
use super::bodies::Load;
use super::contacts::Store;
use super::contacts::candidates::PairFriction;
use super::contacts::margins::Margins;
use super::contacts::memory::Memory;
use super::contacts::near::Near;
use super::guides::Columns;
use super::rows::{self, Pass, Rows};
use super::rules::{Rules, SLACK};
use super::seen::SeenBodies;
use super::walls::{ChunkWalls, Due, Toucher, Wall, walls_of};
use crate::laws::mass::Weight;
use crate::{PbdSettings, Splitting};

/// The contacts of all guides in a step, chunk by chunk.
#[derive(Debug, Default)]
pub(crate) struct Contacts {
    pub rows: Vec<Rows>,
    pub walls: Vec<ChunkWalls>,
    /// Load of each chunk's guides on each body.
    pub loads: Vec<Vec<Load>>,
}

impl Contacts {
    /// Room for `chunks` chunks. Those beyond are spare: empty, with their memory kept.
    pub(crate) fn resize(&mut self, chunks: usize) {
        let most = chunks.max(self.rows.len());
        self.rows.resize_with(most, Rows::default);
        self.walls.resize_with(most, ChunkWalls::default);
        self.loads.resize_with(most, Vec::new);
        self.rows[chunks..].iter_mut().for_each(Rows::clear);
        self.walls[chunks..].iter_mut().for_each(ChunkWalls::clear);
        self.loads[chunks..].iter_mut().for_each(Vec::clear);
    }
}

/// The rest of the world as a pass sees it.
pub(crate) struct StepScene<'a> {
    pub world: &'a World,
    pub bodies: &'a SeenBodies,
    pub pair_friction: PairFriction<'a>,
    splitting: Splitting,
    keeps_momentum: bool,
    pub rules: Rules,
    /// Guides that sleep.
    pub asleep: &'a [bool],
}

/// Guides before a step: where they are since the search, how far they go in this step if nothing is in the way, and how far they went in
/// the last [m].
#[derive(Clone, Copy)]
pub(crate) struct Going<'a> {
    pub margins: &'a Margins,
    pub free: &'a [Vec4],
    pub gone: &'a [f32],
}

impl<'a> StepScene<'a> {
    /// Returns what passes with these `rules` see of `world`, with the friction of each two materials.
    pub(crate) fn new(
        world: &'a World,
        settings: &PbdSettings,
        rules: Rules,
        bodies: &'a SeenBodies,
        friction: &'a [Friction],
        asleep: &'a [bool],
    ) -> Self {
        Self {
            world,
            bodies,
            pair_friction: PairFriction {
                of: &world.guides.material,
                table: friction,
                materials: world.materials.all.len(),
            },
            splitting: settings.splitting,
            keeps_momentum: settings.keeps_momentum(),
            rules,
            asleep,
        }
    }

    /// Position of guide `i` [m] when its displacement since the search is `at` [m].
    pub(crate) fn place(&self, margins: &Margins, i: usize, at: Vec4) -> DVec3 {
        let [position, offset] = margins.base[i];
        self.world.origin + position.as_dvec3() + offset.as_dvec3() + at.truncate().as_dvec3()
    }

    /// Momentum that guide `i` really gets, of an impulse [-]: 1 unless masses are scaled or corrections averaged. A
    /// sleeper's contacts carry what they did.
    fn momentum_factor(&self, i: usize, weight: Weight) -> f32 {
        if self.keeps_momentum || self.asleep[i] {
            1.0
        } else {
            weight.response * self.world.guides.mass[i]
        }
    }

    /// Weighs guides by the number of their contacts, and starts from the impulses that contacts remember.
    pub(crate) fn weigh(&self, columns: &mut Columns, store: &mut Store) {
        let Columns {
            free,
            moved,
            inverse_mass,
            weight,
            share,
            ..
        } = columns;
        let (asleep, free, inverse_mass) = (self.asleep, &free[..], &inverse_mass[..]);
        let (imports, contacts) = (&store.imports, &mut store.contacts);
        let (rows, walls) = (&contacts.rows, &contacts.walls);
        let weights = weight.par_chunks_mut(CHUNK).zip(share.par_chunks_mut(CHUNK));
        let columns = moved.par_chunks_mut(CHUNK).zip(weights);
        columns
            .zip(contacts.loads.par_iter_mut())
            .enumerate()
            .for_each(|(c, ((moved, (weight, share)), loads))| {
                imports.total(c, rows, moved);
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
    pub(crate) fn touch_all(
        &self,
        c: usize,
        going: Going<'_>,
        near: &mut Vec<Near>,
        before: &Memory,
        walls: &mut ChunkWalls,
    ) {
        walls.clear();
        let mut due = std::mem::take(&mut walls.due);
        // As many as there can be before the next search, so that no step has to make room.
        due.clear();
        due.reserve(near.capacity());
        self.find_due(going, near, &mut due);
        let mut left = due.iter().peekable();
        for i in c * CHUNK..self.world.guides.len().min((c + 1) * CHUNK) {
            if self.asleep[i] {
                let before = walls_of(&before.walls, before.old[i]).iter();
                walls.all.extend(before.map(|wall| wall.asleep(i as u32)));
                walls.first.push(walls.all.len() as u32);
                continue;
            }
            while let Some(due) = left.next_if(|due| near[due.near as usize].guide as usize == i) {
                let walls_before = if self.rules.remembers {
                    walls_of(&before.walls, before.old[i])
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

    /// Finds which of the guides that are `near` a body may touch it in this step. Fields lie far apart in memory, so the parts that
    /// will be read are prefetched.
    fn find_due(&self, going: Going<'_>, near: &mut [Near], due: &mut Vec<Due>) {
        for (number, near) in (0..).zip(near) {
            let (i, b) = (near.guide as usize, near.body as usize);
            if self.asleep[i] {
                continue;
            }
            near.clear -= going.gone[i] + self.bodies.travels[b];
            let felt = (1.0 + 2.0 * SLACK) * self.world.guides.radius[i] + going.free[i].length();
            if near.clear > felt {
                continue;
            }
            let place = self.place(going.margins, i, going.margins.at[i]);
            let from = self.bodies.steps[b].step.from.local(place);
            let to = self.bodies.steps[b]
                .step
                .to
                .local(place + going.free[i].truncate().as_dvec3());
            self.bodies.surfaces[b].prefetch(to);
            due.push(Due { near: number, from, to });
        }
    }

    /// Adds the planes of body `b` that guide `i` may touch in this step. Gives what its center is surely away from the body at
    /// the start of the step [m].
    fn touch(&self, i: usize, b: usize, due: &Due, going: Going<'_>, before: &[Wall], walls: &mut Vec<Wall>) -> f32 {
        let free = going.free[i];
        let body = &self.bodies.steps[b];
        let Guides { radius, material, .. } = &self.world.guides;
        let radius = radius[i];
        let toucher = Toucher {
            guide: i as u32,
            radius,
            free: free.truncate(),
            friction: self.bodies.friction[b * self.pair_friction.materials + usize::from(material[i])],
        };
        let slack = f64::from(2.0 * SLACK * radius);
        let then = self.bodies.surfaces[b].touches(due.from, due.to, f64::from(radius), slack, |touch| {
            let mut wall = Wall::new(&touch, &toucher, b as u32, body, self.rules);
            wall.remember(before);
            self.add(wall, walls);
        });
        // That is where the guide and the body would be at the end of the step, without each other.
        then as f32 - free.length() - self.bodies.travels[b]
    }

    /// Adds a wall of a guide, unless another place of the same body shows the same face: of two the nearer one counts.
    fn add(&self, wall: Wall, walls: &mut Vec<Wall>) {
        let of = |wall: &Wall| self.bodies.steps[wall.body as usize].step.of;
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
    fn run(&self, store: &mut Store, pass: Pass<'_>) {
        let used = self.world.guides.len().div_ceil(CHUNK);
        let rows = store.contacts.rows[..used].par_iter_mut();
        let rows = rows.zip(store.candidates.par_iter()).enumerate();
        rows.for_each(|(c, (rows, candidates))| rows::run(rows, c, &candidates.halo, pass));
    }

    /// Gives contacts their stiffness, then one pass of the stabilization: the sum of what pushes each guide.
    pub(crate) fn push(&self, columns: &mut Columns, store: &mut Store, is_first: bool) {
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
        self.run(store, pass);
        let (imports, contacts) = (&store.imports, &mut store.contacts);
        let rows = &contacts.rows;
        let walls = next.par_chunks_mut(CHUNK).zip(contacts.walls.par_iter_mut());
        walls.enumerate().for_each(|(c, (next, walls))| {
            imports.total(c, rows, next);
            // Wall after wall, then all guides: a branch on whether a guide has walls would be unpredictable.
            for wall in &mut walls.all {
                let i = wall.guide as usize;
                if weight[i].response > 0.0 {
                    wall.stabilize(before[i].truncate(), weight[i]);
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

    /// Updates the gaps by the displacements of the stabilization.
    pub(crate) fn shift_gaps(&self, columns: &Columns, store: &mut Store) {
        let pushed = &columns.pushed;
        self.run(store, Pass::Shift(pushed));
        for wall in store.contacts.walls.iter_mut().flat_map(|walls| &mut walls.all) {
            wall.shift(pushed[wall.guide as usize].truncate());
        }
    }

    /// One pass over all contacts, then the sum of all impulses on each guide. `loads`: and on each body.
    pub(crate) fn solve(&self, columns: &mut Columns, store: &mut Store, loads: bool) {
        let Columns {
            moved,
            next,
            free,
            weight,
            ..
        } = columns;
        let (free, weight, before) = (&*free, &*weight, &*moved);
        self.run(store, Pass::Solve(before, self.rules.friction));
        let (imports, contacts) = (&store.imports, &mut store.contacts);
        let rows = &contacts.rows;
        let bodies = contacts.walls.par_iter_mut().zip(contacts.loads.par_iter_mut());
        next.par_chunks_mut(CHUNK)
            .zip(bodies)
            .enumerate()
            .for_each(|(c, (next, (walls, of_bodies)))| {
                imports.total(c, rows, next);
                for wall in &mut walls.all {
                    let i = wall.guide as usize;
                    if weight[i].response > 0.0 {
                        let body = &self.bodies.steps[wall.body as usize];
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
    fn sum_loads(&self, c: usize, walls: &ChunkWalls, weight: &[Weight], loads: &mut Vec<Load>) {
        loads.clear();
        loads.resize(self.bodies.steps.len(), Load::default());
        for wall in &walls.all {
            let i = wall.guide as usize;
            wall.load(
                self.momentum_factor(i, weight[i - c * CHUNK]),
                &mut loads[wall.body as usize],
            );
        }
    }
}
