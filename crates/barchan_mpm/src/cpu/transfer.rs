//! Transfers between guides and nodes, [Hu18] with the affine velocities of [Jiang15].

use glam::{Vec3, Vec4, Vec4Swizzles};

use super::lattice::Lattice;
use super::particles::Particle;
use super::walls::{SIDES, TOUCH, WallBlock};
use super::{Node, PATCH, patch_index};
use crate::laws::spline::{INVERSE_MOMENT, weights};

/// Patches of one block: nodes in front of walls, and behind those of each side.
pub(crate) type Patches = [[Node; PATCH]; 1 + SIDES];

/// Lowest node of a guide in the patch of its block, its position from there in cells, and the weights of the nodes.
struct Stencil {
    low: [usize; 3],
    cell: Vec3,
    weights: [Vec3; 3],
}

impl Stencil {
    #[inline(always)]
    fn of(particle: &Particle, per_spacing: Vec3) -> Self {
        let at = particle.local * per_spacing;
        let base = (at - 0.5).floor();
        let cell = at - base;
        // Guides are at most a margin of one cell outside of their block.
        Self {
            low: base.to_array().map(|x| (x + 1.0).clamp(0.0, 5.0) as usize),
            cell,
            weights: weights(cell),
        }
    }
}

/// Mass and momentum of a guide as they vary from node to node: value at its base node, and change along each axis.
struct Carried {
    base: Node,
    along: [Node; 3],
}

impl Carried {
    /// m (v + C x) + Δt f(x): the force of the stress is -V τ D⁻¹ x, [Hu18] eq. (18).
    #[inline(always)]
    fn by(particle: &Particle, cell: Vec3, spacing: Vec3, step: f32) -> Self {
        let [xx, yy, zz, yz, zx, xy] = particle.past.stress;
        let stress = [Vec3::new(xx, xy, zx), Vec3::new(xy, yy, yz), Vec3::new(zx, yz, zz)];
        let push = -step * particle.volume * INVERSE_MOMENT;
        let along = [0, 1, 2].map(|a| {
            let affine = particle.mass * spacing[a] * particle.past.gradient[a];
            (affine + push / spacing[a] * stress[a]).extend(0.0)
        });
        let middle = (particle.mass * particle.velocity).extend(particle.mass);
        Self {
            base: middle - cell.x * along[0] - cell.y * along[1] - cell.z * along[2],
            along,
        }
    }
}

/// Adds mass and momentum of `particles` to the nodes of their patch.
pub(crate) fn scatter(particles: &[Particle], patch: &mut [Node; PATCH], lattice: &Lattice, step: f32) {
    patch.fill(Vec4::ZERO);
    let (spacing, per_spacing) = (lattice.spacing, 1.0 / lattice.spacing);
    for particle in particles {
        let Stencil { low, cell, weights } = Stencil::of(particle, per_spacing);
        let carried = Carried::by(particle, cell, spacing, step);
        let mut at_x = carried.base;
        for x in 0..3 {
            let mut at_y = at_x;
            for y in 0..3 {
                let weight = weights[x].x * weights[y].y;
                let first = patch_index(low[0] + x, low[1] + y, low[2]);
                let row: &mut [Node] = &mut patch[first..first + 3];
                row[0] += weight * weights[0].z * at_y;
                row[1] += weight * weights[1].z * (at_y + carried.along[2]);
                row[2] += weight * weights[2].z * (at_y + 2.0 * carried.along[2]);
                at_y += carried.along[1];
            }
            at_x += carried.along[0];
        }
    }
}

/// The same near walls: what belongs behind them goes to the nodes of their side.
pub(crate) fn scatter_near_walls(
    particles: &[Particle],
    patch: &mut [Node; PATCH],
    walls: &mut WallBlock,
    lattice: &Lattice,
    step: f32,
) {
    patch.fill(Vec4::ZERO);
    let (spacing, per_spacing) = (lattice.spacing, 1.0 / lattice.spacing);
    let touch = TOUCH * spacing.max_element();
    for (k, particle) in particles.iter().enumerate() {
        let planes = walls.planes(k);
        let stencil = Stencil::of(particle, per_spacing);
        let carried = Carried::by(particle, stencil.cell, spacing, step);
        visit(&stencil, |index, node, weight| {
            let value =
                carried.base + node.x * carried.along[0] + node.y * carried.along[1] + node.z * carried.along[2];
            let found = walls.behind(planes.clone(), (node - stencil.cell) * spacing, touch);
            match found.map(|(side, plane)| (side, *plane)) {
                None => patch[index] += weight * value,
                Some((side, plane)) => {
                    let side = &mut walls.sides[side];
                    side.nodes[index] += weight * value;
                    side.lean[index] += weight * particle.mass * plane.normal.extend(plane.friction);
                    side.owner[index] = side.owner[index].min(plane.body);
                }
            }
        });
    }
}

/// Visits the 27 nodes of a stencil: index in the patch, position from the lowest in cells, and weight.
#[inline(always)]
fn visit(stencil: &Stencil, mut each: impl FnMut(usize, Vec3, f32)) {
    let Stencil { low, weights, .. } = stencil;
    for x in 0..3 {
        for y in 0..3 {
            for z in 0..3 {
                let node = Vec3::new(x as f32, y as f32, z as f32);
                let index = patch_index(low[0] + x, low[1] + y, low[2] + z);
                each(index, node, weights[x].x * weights[y].y * weights[z].z);
            }
        }
    }
}

/// Sums of the velocities around a guide, with the mass as fourth component.
#[derive(Default)]
struct Taken {
    sum: Node,
    along: [Node; 3],
}

impl Taken {
    /// Velocity, its derivatives D⁻¹ Σ w v x, and the density around the guide, Σ w m over the volume of a cell.
    #[inline(always)]
    fn give(self, particle: &mut Particle, cell: Vec3, spacing: Vec3) {
        particle.velocity = self.sum.xyz();
        for a in 0..3 {
            let derivative = self.along[a] - cell[a] * self.sum;
            particle.past.gradient[a] = INVERSE_MOMENT / spacing[a] * derivative.xyz();
        }
        let settled = particle.mass / particle.volume;
        particle.past.density = self.sum.w / (spacing.element_product() * settled);
    }
}

/// Takes velocities and their derivatives from the nodes of the patch.
pub(crate) fn gather(particles: &mut [Particle], patch: &[Node; PATCH], lattice: &Lattice) {
    let (spacing, per_spacing) = (lattice.spacing, 1.0 / lattice.spacing);
    for particle in particles {
        let Stencil { low, cell, weights } = Stencil::of(particle, per_spacing);
        let mut taken = Taken::default();
        for x in 0..3 {
            let (mut sum, mut along_y, mut along_z) = (Vec4::ZERO, Vec4::ZERO, Vec4::ZERO);
            for y in 0..3 {
                let first = patch_index(low[0] + x, low[1] + y, low[2]);
                let row = &patch[first..first + 3];
                let (middle, last) = (weights[1].z * row[1], weights[2].z * row[2]);
                let own = weights[y].y * (weights[0].z * row[0] + middle + last);
                sum += own;
                along_y += y as f32 * own;
                along_z += weights[y].y * (middle + 2.0 * last);
            }
            let weight = weights[x].x;
            taken.sum += weight * sum;
            taken.along[0] += weight * x as f32 * sum;
            taken.along[1] += weight * along_y;
            taken.along[2] += weight * along_z;
        }
        taken.give(particle, cell, spacing);
    }
}

/// The same near walls: nodes behind a wall are those of its side.
pub(crate) fn gather_near_walls(particles: &mut [Particle], patches: &Patches, walls: &WallBlock, lattice: &Lattice) {
    let (spacing, per_spacing) = (lattice.spacing, 1.0 / lattice.spacing);
    let touch = TOUCH * spacing.max_element();
    for (k, particle) in particles.iter_mut().enumerate() {
        let planes = walls.planes(k);
        let stencil = Stencil::of(particle, per_spacing);
        let mut taken = Taken::default();
        visit(&stencil, |index, node, weight| {
            let found = walls.behind(planes.clone(), (node - stencil.cell) * spacing, touch);
            let value = weight * patches[found.map_or(0, |(side, _)| 1 + side)][index];
            taken.sum += value;
            for a in 0..3 {
                taken.along[a] += node[a] * value;
            }
        });
        taken.give(particle, stencil.cell, spacing);
    }
}
