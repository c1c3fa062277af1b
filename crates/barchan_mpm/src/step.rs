//! A step, stage by stage, [Hu18] Algorithm 1.

use barchan_bodies::{Dynamics, Impulses, Mobility};
use barchan_world::{
    AdvanceError, AdvanceReport, Archive, ArchiveError, BodyDistance, Column, Friction, Solver, Stopwatch, World,
    Wrench,
};
use glam::{DVec3, Vec3, Vec4};
use rayon::prelude::*;

use crate::MpmSettings;
use crate::cpu::blocks::{Blocks, NONE};
use crate::cpu::bodies::{Burden, SeenBody};
use crate::cpu::lattice::{Lattice, of_key};
use crate::cpu::nodes::{self, Behind, WallNodes};
use crate::cpu::particles::{Particle, Pasts};
use crate::cpu::respond::respond;
use crate::cpu::transfer::{self, Patches};
use crate::cpu::walls::{SIDES, Scene, WallBlock};
use crate::cpu::{NODES, Node, PATCH};
use crate::frame::Sorting;
use crate::laws::Law;
use crate::settings::SettingsError;

/// The MPM solver.
pub struct MpmSolver {
    pub(crate) settings: MpmSettings,
    pub(crate) motion: Dynamics,
    /// State of guides between frames.
    pub(crate) pasts: Pasts,
    pub(crate) particles: Vec<Particle>,
    pub(crate) laws: Vec<Law>,
    /// Spacing of nodes [m], once there are guides.
    pub(crate) spacing: Option<f64>,
    pub(crate) lattice: Lattice,
    pub(crate) blocks: Blocks,
    patches: Vec<[Node; PATCH]>,
    grid: Vec<[Node; NODES]>,
    /// Blocks near walls; those beyond the count are spare.
    pub(crate) walls: Vec<WallBlock>,
    pub(crate) wall_count: usize,
    wall_of: Vec<u32>,
    wall_nodes: Vec<WallNodes>,
    wall_node_count: usize,
    wall_nodes_of: Vec<u32>,
    near: Vec<u32>,
    pub(crate) distances: Vec<BodyDistance>,
    pub(crate) frictions: Vec<Friction>,
    pub(crate) bodies: Vec<SeenBody>,
    /// Largest distance of each body's points from its center [m].
    pub(crate) extents: Vec<f64>,
    /// Acceleration of each body by all but guides in the last step [m/s²].
    pub(crate) accelerations: Vec<DVec3>,
    burdens: Vec<Burden>,
    loads: Vec<Wrench>,
    pub(crate) impulses: Impulses,
    pub(crate) sorting: Sorting,
    pub(crate) clock: Stopwatch,
}

impl MpmSolver {
    /// Creates a solver for any world, whose bodies `motion` moves.
    pub fn new(settings: MpmSettings, motion: Dynamics) -> Result<Self, SettingsError> {
        settings.check()?;
        Ok(Self {
            settings,
            motion,
            pasts: Pasts::default(),
            particles: Vec::new(),
            laws: Vec::new(),
            spacing: None,
            lattice: Lattice::default(),
            blocks: Blocks::default(),
            patches: Vec::new(),
            grid: Vec::new(),
            walls: Vec::new(),
            wall_count: 0,
            wall_of: Vec::new(),
            wall_nodes: Vec::new(),
            wall_node_count: 0,
            wall_nodes_of: Vec::new(),
            near: Vec::new(),
            distances: Vec::new(),
            frictions: Vec::new(),
            bodies: Vec::new(),
            extents: Vec::new(),
            accelerations: Vec::new(),
            burdens: Vec::new(),
            loads: Vec::new(),
            impulses: Impulses::default(),
            sorting: Sorting::default(),
            clock: Stopwatch::default(),
        })
    }

    /// One step of `step` [s].
    fn step(&mut self, world: &mut World, step: f64) -> Result<(), AdvanceError> {
        self.clock.enter("sort");
        if !Blocks::hold(&self.particles, &self.lattice) {
            self.blocks.sort(&mut self.particles, &self.lattice);
        }
        self.clock.enter("walls");
        self.find_walls(world);
        self.clock.enter("scatter");
        self.scatter(step as f32);
        self.clock.enter("nodes");
        let fall = (world.gravity * step).as_vec3();
        nodes::sum(&mut self.grid, &self.blocks, &self.patches, fall);
        self.hold_nodes(world, fall);
        self.clock.enter("gather");
        self.gather(step as f32);
        self.clock.enter("bodies");
        self.move_bodies(world, step)
    }

    /// Finds the blocks near bodies, and the planes near their guides.
    fn find_walls(&mut self, world: &World) {
        let scene = Scene {
            bodies: &self.bodies,
            distances: &self.distances,
            frictions: &self.frictions,
            materials: world.materials.all.len(),
            origin: world.origin,
            lattice: &self.lattice,
        };
        let bodies = world.bodies.len();
        self.wall_of.clear();
        self.wall_count = 0;
        for (b, &key) in (0..).zip(&self.blocks.keys) {
            if !scene.near(self.lattice.corner(of_key(key)), &mut self.near) {
                self.wall_of.push(NONE);
                continue;
            }
            self.wall_of.push(self.wall_count as u32);
            if self.wall_count == self.walls.len() {
                self.walls.push(WallBlock::new());
            }
            self.walls[self.wall_count].take(b, &self.near);
            self.wall_count += 1;
        }
        let (blocks, particles) = (&self.blocks, &self.particles);
        self.walls[..self.wall_count].par_iter_mut().for_each(|walls| {
            walls.loads.clear();
            walls.loads.resize(bodies, Wrench::default());
            walls.find(&particles[blocks.range(walls.block as usize)], &scene);
        });
        self.wall_nodes_of.clear();
        self.wall_node_count = 0;
        for (g, from) in (0..).zip(&self.blocks.from) {
            let wall = |&b: &u32| (b != NONE).then(|| self.wall_of[b as usize]).filter(|&w| w != NONE);
            let around = || from.iter().filter_map(wall).map(|w| &self.walls[w as usize]);
            if around().next().is_none() {
                self.wall_nodes_of.push(NONE);
                continue;
            }
            self.wall_nodes_of.push(self.wall_node_count as u32);
            if self.wall_node_count == self.wall_nodes.len() {
                self.wall_nodes.push(WallNodes::new());
            }
            self.wall_nodes[self.wall_node_count].take(g, around());
            self.wall_node_count += 1;
        }
    }

    /// Mass and momentum of guides to the nodes of their patches.
    fn scatter(&mut self, step: f32) {
        self.patches.resize(self.blocks.keys.len(), [Vec4::ZERO; PATCH]);
        let (particles, lattice) = (&*self.particles, &self.lattice);
        let each = |b: usize, patch: &mut [Node; PATCH], walls: Option<&mut WallBlock>| {
            let own = &particles[self.blocks.range(b)];
            match walls {
                None => transfer::scatter(own, patch, lattice, step),
                Some(walls) => transfer::scatter_near_walls(own, patch, walls, lattice, step),
            }
        };
        over_patches(0, &mut self.patches, &mut self.walls[..self.wall_count], &each);
    }

    /// Keeps nodes behind walls from moving into them. Dynamic bodies move on with the sand that they meet.
    fn hold_nodes(&mut self, world: &World, fall: Vec3) {
        let count = world.bodies.len();
        let scene = Scene {
            bodies: &self.bodies,
            distances: &self.distances,
            frictions: &self.frictions,
            materials: world.materials.all.len(),
            origin: world.origin,
            lattice: &self.lattice,
        };
        let behind = Behind {
            blocks: &self.blocks,
            walls: &self.walls,
            wall_of: &self.wall_of,
            scene: &scene,
            fall,
        };
        let wall_nodes = &mut self.wall_nodes[..self.wall_node_count];
        behind.sum(wall_nodes, count);
        nodes::sum_burdens(&mut self.burdens, count, wall_nodes);
        for seen in self.bodies.iter_mut().filter(|seen| seen.is_dynamic) {
            let body = &world.bodies[seen.of as usize];
            let inertia = Mobility::of(body).inverse_inertia.inverse();
            seen.twist = self.burdens[seen.of as usize].meet(body.mass(), inertia, &seen.twist);
        }
        nodes::hold(wall_nodes, &self.bodies, count);
    }

    /// Velocities of nodes to guides, which move with them, are strained and answer with a stress.
    fn gather(&mut self, step: f32) {
        let Self {
            blocks,
            lattice,
            grid,
            wall_nodes,
            wall_nodes_of,
            bodies,
            laws,
            ..
        } = self;
        let spacing = lattice.finest();
        let each = |b: usize, particles: &mut [Particle], walls: Option<&mut WallBlock>| {
            let around = &blocks.around[b];
            if let Some(walls) = walls {
                let mut patches: Patches = [[Vec4::ZERO; PATCH]; 1 + SIDES];
                nodes::read(&mut patches[0], around, grid);
                nodes::read_behind(&mut patches, around, wall_nodes, wall_nodes_of);
                transfer::gather_near_walls(particles, &patches, walls, lattice);
                for (k, particle) in particles.iter_mut().enumerate() {
                    walls.keep_out(k, particle, bodies, spacing, step);
                }
            } else {
                let mut patch = [Vec4::ZERO; PATCH];
                nodes::read(&mut patch, around, grid);
                transfer::gather(particles, &patch, lattice);
            }
            for particle in particles.iter_mut() {
                if particle.is_fixed {
                    particle.velocity = Vec3::ZERO;
                    particle.past.gradient = [Vec3::ZERO; 3];
                }
                let way = step * particle.velocity;
                particle.local += way;
                particle.moved += way;
            }
            respond(particles, laws, step);
        };
        let all = 0..blocks.keys.len();
        over_guides(
            blocks,
            all,
            &mut self.particles,
            &mut self.walls[..self.wall_count],
            &each,
        );
    }

    /// Moves bodies by their keys, or by guides and gravity.
    fn move_bodies(&mut self, world: &mut World, step: f64) -> Result<(), AdvanceError> {
        let count = world.bodies.len();
        let walls = self.walls[..self.wall_count].iter().map(|walls| &*walls.loads);
        let nodes = self.wall_nodes[..self.wall_node_count]
            .iter()
            .map(|nodes| &*nodes.loads);
        barchan_bodies::sum_loads(&mut self.loads, count, walls.chain(nodes));
        // Guides get the opposite.
        self.impulses.add(self.loads.iter().copied(), -1.0);
        for (body, acceleration) in world.bodies.iter().zip(&mut self.accelerations) {
            *acceleration = body.twist.linear;
        }
        self.impulses.step(&mut self.motion, world, step)?;
        for ((body, acceleration), load) in world.bodies.iter().zip(&mut self.accelerations).zip(&self.loads) {
            *acceleration = match body.is_dynamic() {
                true => {
                    let own = body.twist.linear - *acceleration + load.force / body.mass();
                    (own / step).clamp_length_max(world.gravity.length())
                }
                false => DVec3::ZERO,
            };
        }
        Ok(())
    }
}

/// Calls `each` with every block, its patch, and its walls if it has any.
fn over_patches(
    first: usize,
    patches: &mut [[Node; PATCH]],
    walls: &mut [WallBlock],
    each: &(impl Fn(usize, &mut [Node; PATCH], Option<&mut WallBlock>) + Sync),
) {
    if let [patch] = patches {
        return each(first, patch, walls.first_mut());
    }
    if patches.is_empty() {
        return;
    }
    let middle = patches.len() / 2;
    let (patches, others) = patches.split_at_mut(middle);
    let (walls, other_walls) = split_walls(walls, first + middle);
    rayon::join(
        || over_patches(first, patches, walls, each),
        || over_patches(first + middle, others, other_walls, each),
    );
}

/// Calls `each` with every block of `range`, its guides, and its walls if it has any.
fn over_guides(
    blocks: &Blocks,
    range: std::ops::Range<usize>,
    particles: &mut [Particle],
    walls: &mut [WallBlock],
    each: &(impl Fn(usize, &mut [Particle], Option<&mut WallBlock>) + Sync),
) {
    if range.len() == 1 {
        return each(range.start, particles, walls.first_mut());
    }
    if range.is_empty() {
        return;
    }
    let middle = range.start + range.len() / 2;
    let here = blocks.starts[middle] - blocks.starts[range.start];
    let (particles, others) = particles.split_at_mut(here as usize);
    let (walls, other_walls) = split_walls(walls, middle);
    rayon::join(
        || over_guides(blocks, range.start..middle, particles, walls, each),
        || over_guides(blocks, middle..range.end, others, other_walls, each),
    );
}

/// Splits `walls` into those of blocks before `block` and the others.
fn split_walls(walls: &mut [WallBlock], block: usize) -> (&mut [WallBlock], &mut [WallBlock]) {
    let own = walls.partition_point(|walls| (walls.block as usize) < block);
    walls.split_at_mut(own)
}

impl Solver for MpmSolver {
    fn name(&self) -> &'static str {
        crate::SPEC.name
    }

    fn advance(&mut self, world: &mut World, duration: f64) -> Result<AdvanceReport, AdvanceError> {
        self.begin_frame(world)?;
        let (start, end) = (world.time, world.time + duration);
        let mut steps = 0;
        let mut left = duration;
        let (mut parts, mut done) = (0, 0.0);
        while left > 0.0 {
            let count = self.plan(world, left, parts, done)?;
            let step = left / f64::from(count);
            self.step(world, step)?;
            steps += 1;
            (parts, done) = (parts + 1, done + step);
            if parts == self.settings.step_divisor {
                (parts, done) = (0, 0.0);
            }
            left = if count == 1 { 0.0 } else { left - step };
            world.time = end - left;
        }
        world.time = start + duration;
        self.end_frame(world, duration, steps)
    }

    fn columns(&self) -> Vec<(&'static str, Column)> {
        let rows = &self.pasts.rows;
        let pressure = |stress: &[f32; 6]| -(stress[0] + stress[1] + stress[2]) / 3.0;
        vec![
            ("density", Column::F32(rows.iter().map(|past| past.density).collect())),
            (
                "pressure",
                Column::F32(rows.iter().map(|past| pressure(&past.stress)).collect()),
            ),
            ("plastic", Column::F32(rows.iter().map(|past| past.plastic).collect())),
        ]
    }

    fn save(&self, archive: &mut Archive) {
        self.pasts.save(archive);
        archive.put("mpm.spacing", &[self.spacing.unwrap_or_default()]);
        archive.put_all("mpm.accelerations", self.accelerations.iter().map(|a| a.to_array()));
        self.motion.save(archive);
    }

    fn load(&mut self, world: &World, archive: &Archive) -> Result<(), ArchiveError> {
        self.pasts = Pasts::load(archive, world.next_id)?;
        self.load_spacing(world, archive)?;
        let accelerations: Vec<[f64; 3]> = archive.get_f64s("mpm.accelerations")?;
        self.accelerations = accelerations.into_iter().map(DVec3::from).collect();
        self.motion.load(world, archive)
    }
}
