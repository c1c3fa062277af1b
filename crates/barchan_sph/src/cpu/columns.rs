//! Per-guide state of the solver, in the world's order.

use barchan_neighbors::Curve;
use barchan_world::{Guides, Renumbering, World, carry};
use glam::{Mat3, Vec3, Vec4, Vec4Swizzles};
use rayon::prelude::*;

use super::CHUNK;
use crate::Pressure;
use crate::laws::rest::Calm;
use crate::laws::stress::Sym;

/// State that persists between steps and is part of a checkpoint.
#[derive(Debug, Default)]
pub(crate) struct Past {
    /// Pressure [Pa].
    pub pressure: Vec<f32>,
    /// Frictional stress [Pa].
    pub stress: Vec<Sym>,
    /// Acceleration by wall friction [m/s²].
    pub grip: Vec<Vec4>,
    /// Wetness [-]: 0 is dry, 1 wet.
    pub wetness: Vec<f32>,
    /// Rest state, for sleeping.
    pub calm: Vec<Calm>,
}

/// Per-guide values that are recomputed every step or every frame.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    /// Position relative to a point near all guides [m].
    pub place: Vec<Vec4>,
    /// Half the kernel radius [m], volume [m³], 1/density [m³/kg] and wetness [-], packed for reads by neighbors.
    pub lump: Vec<Vec4>,
    /// True if all guides have the same size and density.
    pub are_alike: bool,
    /// Factor on the pressure of sand in front of a wall [-].
    pub mirror: f32,
    /// Volume that the guide represents [m³].
    pub volume: Vec<f32>,
    /// Half the kernel radius [m]: two guides are neighbors within the sum of theirs.
    pub half_support: Vec<f32>,
    /// 1/density of its settled material [m³/kg].
    pub inverse_density: Vec<f32>,
    /// 1/mass [1/kg].
    pub inverse_mass: Vec<f32>,
    /// √κ of the attraction [m^1.5/s]; 0 in dry sand.
    pub cohesion: Vec<f32>,
    /// α of artificial viscosity [-].
    pub viscosity: Vec<f32>,
    /// δ, density over rest density [-].
    pub compression: Vec<f32>,
    /// Σ V ∇W [1/m].
    pub lean: Vec<Vec4>,
    /// λ of the walls [-].
    pub held: Vec<f32>,
    /// ∇λ [1/m] of the walls.
    pub wall: Vec<Vec4>,
    /// Σ ∇λ·v of the walls [1/s].
    pub inflow: Vec<f32>,
    /// Σ ∇λ vᵀ [1/s] of the walls, column b for component b of v; empty unless walls strain guides.
    pub carried: Vec<Mat3>,
    /// Change of the compression per pressure [1/Pa], over Δt² [1/s²]: below 0.
    pub diagonal: Vec<f32>,
    /// Compression that the step may still add, 1 - δ with all forces but pressure [-].
    pub room: Vec<f32>,
    /// Acceleration by pressure [m/s²].
    pub push: Vec<Vec4>,
    /// Position [m], with the pressure [Pa] as fourth component.
    pub laden: Vec<Vec4>,
    /// Displacement that undoes compression [m].
    pub shift: Vec<Vec4>,
    /// Acceleration by frictional stress [m/s²].
    pub rub: Vec<Vec4>,
    /// Velocities of the step [m/s]: without and with pressure and friction.
    pub base: Vec<Vec4>,
    pub velocity: Vec<Vec4>,
    /// L = M⁻¹, which makes gradients exact for linear fields [-].
    pub exact: Vec<Sym>,
    /// D⁻¹ [Pa s]: stress for a strain rate.
    pub response: Vec<f32>,
    /// s L [Pa], less the pressure if both are solved together, as columns with one coordinate of the position as the
    /// fourth component of each.
    pub traction: Vec<[Vec4; 3]>,
    /// The next wetness [-].
    pub wetter: Vec<f32>,
    /// Distance that the guide may move before walls are searched again [m].
    pub free: Vec<f32>,
}

impl Columns {
    /// As many rows as guides, with what stays the same over a frame.
    pub(crate) fn reset(&mut self, world: &World, support: f32) {
        let Guides { mass, material, .. } = &world.guides;
        let n = mass.len();
        self.lump.clear();
        self.cohesion.clear();
        self.viscosity.clear();
        self.volume.clear();
        self.half_support.clear();
        self.inverse_density.clear();
        self.inverse_mass.clear();
        for (&mass, &material) in mass.iter().zip(material) {
            let density = world.materials.all[usize::from(material)].density as f32;
            let volume = mass / density;
            self.volume.push(volume);
            let half_support = 0.5 * support * volume.cbrt();
            self.half_support.push(half_support);
            self.inverse_density.push(1.0 / density);
            self.inverse_mass.push(1.0 / mass);
            self.cohesion.push(0.0);
            self.viscosity.push(0.0);
            self.lump.push(Vec4::new(half_support, volume, 1.0 / density, 0.0));
        }
        let first = self.lump.first().copied().unwrap_or_default();
        if world.has_fixed_guides() {
            // What never moves is not accelerated by any stress.
            let fixed = (0..n).filter(|&i| world.is_fixed(i));
            fixed.for_each(|i| self.inverse_density[i] = 0.0);
        }
        self.are_alike = self.lump.iter().all(|lump| lump.xyz() == first.xyz());
        for column in [
            &mut self.place,
            &mut self.lean,
            &mut self.wall,
            &mut self.push,
            &mut self.shift,
            &mut self.laden,
            &mut self.rub,
            &mut self.base,
            &mut self.velocity,
        ] {
            column.clear();
            column.resize(n, Vec4::ZERO);
        }
        for column in [
            &mut self.compression,
            &mut self.held,
            &mut self.inflow,
            &mut self.diagonal,
            &mut self.room,
            &mut self.response,
            &mut self.free,
            &mut self.wetter,
        ] {
            column.clear();
            column.resize(n, 0.0);
        }
        self.exact.resize(n, Sym::default());
        self.traction.resize(n, [Vec4::ZERO; 3]);
    }

    /// Places of the guides [m] from `center`, which is near them.
    pub(crate) fn locate(&mut self, guides: &Guides, center: Vec3) {
        let places = guides.position.par_iter().zip(&guides.offset);
        let own = self.place.par_iter_mut().with_min_len(CHUNK);
        own.zip(places)
            .for_each(|(place, (position, offset))| *place = ((*position - center) + *offset).extend(0.0));
    }
}

impl Past {
    /// Returns the state of so many wet guides that nothing presses yet.
    pub(crate) fn at_rest(guides: usize) -> Self {
        Self {
            pressure: vec![0.0; guides],
            stress: vec![Sym::default(); guides],
            grip: vec![Vec4::ZERO; guides],
            wetness: vec![1.0; guides],
            calm: vec![Calm::default(); guides],
        }
    }

    /// Starts a step as printed: without friction, and with half of the pressure, or none, as the way to find it wants.
    pub(crate) fn forget(&mut self, way: Pressure) {
        let kept = match way {
            Pressure::Iisph => 0.5,
            Pressure::Pcisph => 0.0,
        };
        self.pressure.iter_mut().for_each(|p| *p *= kept);
        self.stress.fill(Sym::default());
        self.grip.fill(Vec4::ZERO);
    }

    /// In the order in which guide k was number `old[k]`.
    pub(crate) fn sort(&mut self, old: &[u32], spare: &mut Self) {
        carry(&mut self.pressure, old, &mut spare.pressure);
        carry(&mut self.stress, old, &mut spare.stress);
        carry(&mut self.grip, old, &mut spare.grip);
        carry(&mut self.wetness, old, &mut spare.wetness);
        carry(&mut self.calm, old, &mut spare.calm);
    }
}

/// Memory to sort guides with.
#[derive(Debug, Default)]
pub(crate) struct Spare {
    spare: barchan_world::Spare,
    pub numbers: Renumbering,
    curve: Curve,
    pub past: Past,
}

impl Spare {
    /// Puts guides in the order of a curve through cells of `side` [m].
    pub(crate) fn sort(&mut self, guides: &mut Guides, side: f32) {
        let places = guides.position.par_iter().map(|p| p.as_dvec3());
        let order = self.curve.sort(places, f64::from(side));
        guides.gather(order, &mut self.spare);
    }
}
