//! Contact forces of eight contacts at once.
#![allow(clippy::needless_range_loop, reason = "lanes of several arrays at once")]

use super::rules::{Pairing, Rules};
use super::simd::{LANES, Lane};
use crate::laws::normal::{Coefficients, Encounter, NormalLaw};
use crate::laws::shear::{self, ShearLaw};
use crate::laws::{capillary, rolling};

/// History of a contact: its tangential spring, half a step ahead [m], and a flag: 1 if it slides, 0 if it sticks, plus
/// 2 if a liquid bridge connects the pair.
pub(crate) type History = [f32; 4];

/// Flag of a liquid bridge, added to the last number of a [`History`].
pub(crate) const BRIDGED: f64 = 2.0;

/// Eight contacts. Forces are those on the first partner; lanes that do not touch give zeros.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Block {
    /// Normal, from the first partner to the second [-].
    pub normal: [Lane; 3],
    /// Overlap [m]; not above 0 without contact.
    pub overlap: Lane,
    /// Velocity of the first relative to the second, at the contact [m/s].
    pub velocity: [Lane; 3],
    /// Relative angular velocity [rad/s].
    pub spin: [Lane; 3],
    /// Reduced mass [kg] and radius [m].
    pub mass: Lane,
    pub radius: Lane,
    pub modulus: Lane,
    pub shear_modulus: Lane,
    pub damping: Lane,
    pub ratio: Lane,
    pub r#static: Lane,
    pub kinetic: Lane,
    pub rolling: Lane,
    pub tension: Lane,
    pub suction: Lane,
    pub liquid: Lane,
    pub breaking: Lane,
    pub spring: [Lane; 3],
    pub sliding: Lane,
    /// Rolling spring [rad].
    pub rolled: [Lane; 3],
    /// Force on the first [N].
    pub force: [Lane; 3],
    /// Rolling torque on the first [N m].
    pub moment: [Lane; 3],
}

impl Block {
    pub(crate) fn new() -> Self {
        let none = [0.0; LANES];
        Self {
            normal: [none; 3],
            overlap: none,
            velocity: [none; 3],
            spin: [none; 3],
            mass: [1.0; LANES],
            radius: [1.0; LANES],
            modulus: [1.0; LANES],
            shear_modulus: [1.0; LANES],
            damping: none,
            ratio: none,
            r#static: none,
            kinetic: none,
            rolling: none,
            tension: none,
            suction: none,
            liquid: none,
            breaking: none,
            spring: [none; 3],
            sliding: none,
            rolled: [none; 3],
            force: [none; 3],
            moment: [none; 3],
        }
    }

    /// Gives lane `l` the numbers of a pairing.
    #[inline(always)]
    pub(crate) fn pair(&mut self, l: usize, pairing: &Pairing) {
        self.modulus[l] = pairing.modulus;
        self.shear_modulus[l] = pairing.shear_modulus;
        self.damping[l] = pairing.damping;
        self.ratio[l] = pairing.ratio;
        self.r#static[l] = pairing.r#static;
        self.kinetic[l] = pairing.kinetic;
        self.rolling[l] = pairing.rolling;
        self.tension[l] = pairing.tension;
        self.suction[l] = pairing.suction;
        self.liquid[l] = pairing.liquid;
        self.breaking[l] = pairing.breaking;
    }

    /// Returns true if lane `l` has a force.
    #[inline(always)]
    pub(crate) fn acts(&self, l: usize) -> bool {
        self.overlap[l] > 0.0 || self.sliding[l] >= BRIDGED
    }

    /// Stretches the springs of lane `l` by `time` [s] at the speeds they had.
    #[inline(always)]
    pub(crate) fn run_ahead(&mut self, l: usize, time: f64, [slip, spin]: &[History; 2]) {
        for axis in 0..3 {
            self.spring[axis][l] += time * f64::from(slip[axis]);
            self.rolled[axis][l] += time * f64::from(spin[axis]);
        }
    }

    /// The speeds of the springs of lane `l`: sliding [m/s] and rolling [rad/s].
    #[inline(always)]
    pub(crate) fn speeds(&self, l: usize) -> [History; 2] {
        let n = [self.normal[0][l], self.normal[1][l], self.normal[2][l]];
        let spin = flat([self.spin[0][l], self.spin[1][l], self.spin[2][l]], n);
        let touches = self.overlap[l] > 0.0;
        [self.slip(l), spin].map(|v| match touches {
            true => [v[0] as f32, v[1] as f32, v[2] as f32, 0.0],
            false => [0.0; 4],
        })
    }

    /// Takes what lane `l` remembers.
    #[inline(always)]
    pub(crate) fn recall(&mut self, l: usize, history: &History) {
        for axis in 0..3 {
            self.spring[axis][l] = f64::from(history[axis]);
        }
        self.sliding[l] = f64::from(history[3]);
    }

    /// Returns the history of lane `l`.
    #[inline(always)]
    pub(crate) fn memory(&self, l: usize) -> History {
        [
            self.spring[0][l] as f32,
            self.spring[1][l] as f32,
            self.spring[2][l] as f32,
            self.sliding[l] as f32,
        ]
    }

    /// Takes what lane `l` remembers of its rolling.
    #[inline(always)]
    pub(crate) fn recall_rolling(&mut self, l: usize, rolled: &History) {
        for axis in 0..3 {
            self.rolled[axis][l] = f64::from(rolled[axis]);
        }
    }

    /// Returns the rolling history of lane `l`.
    #[inline(always)]
    pub(crate) fn rolling_memory(&self, l: usize) -> History {
        let rolled = &self.rolled;
        [rolled[0][l] as f32, rolled[1][l] as f32, rolled[2][l] as f32, 0.0]
    }

    /// Finds the forces.
    #[inline(always)]
    pub(crate) fn solve(&mut self, rules: &Rules) {
        let mut pressing = [0.0; LANES];
        let mut stiffness = [0.0; LANES];
        macro_rules! press {
            ($law:expr) => {
                for l in 0..LANES {
                    (pressing[l], stiffness[l]) = self.press($law, l, rules);
                }
            };
        }
        // One loop for each law: a choice within would keep the compiler from doing eight at once.
        match rules.normal {
            NormalLaw::Linear => press!(NormalLaw::Linear),
            NormalLaw::HertzConstant => press!(NormalLaw::HertzConstant),
            NormalLaw::HertzTsuji => press!(NormalLaw::HertzTsuji),
            NormalLaw::HertzViscoelastic => press!(NormalLaw::HertzViscoelastic),
        }
        let mut bridged = [0.0; LANES];
        if rules.bridge > 0.0 {
            for l in 0..LANES {
                bridged[l] = if self.sliding[l] >= BRIDGED { BRIDGED } else { 0.0 };
                self.sliding[l] -= bridged[l];
            }
        }
        match rules.shear {
            ShearLaw::Spring => self.spring(rules.before, rules.after, &pressing, &stiffness),
            ShearLaw::Viscous => self.rub(ShearLaw::Viscous, rules, &pressing),
            ShearLaw::Coulomb => self.rub(ShearLaw::Coulomb, rules, &pressing),
            ShearLaw::Capped => self.rub(ShearLaw::Capped, rules, &pressing),
        }
        if rules.rolls {
            self.roll(rules.before, rules.after, &pressing, &stiffness);
        }
        if rules.bridge > 0.0 {
            self.pull(&bridged);
        }
    }

    /// Adds what bridges pull by: one forms where particles touch, and lasts until it is stretched too far.
    #[inline(always)]
    fn pull(&mut self, bridged: &Lane) {
        for l in 0..LANES {
            let (radius, gap) = (self.radius[l], -self.overlap[l]);
            let volume = capillary::volume(self.liquid[l], radius);
            let tension = self.tension[l] + self.suction[l] * radius;
            let lasts = gap < self.breaking[l] * volume.cbrt();
            let holds = tension > 0.0 && (gap < 0.0 || bridged[l] > 0.0 && lasts);
            let force = capillary::pull(tension, radius) * capillary::share(volume, radius, gap);
            for axis in 0..3 {
                self.force[axis][l] += if holds { force * self.normal[axis][l] } else { 0.0 };
            }
            self.sliding[l] += if holds { BRIDGED } else { 0.0 };
        }
    }

    fn approach(&self, l: usize) -> f64 {
        self.velocity[0][l] * self.normal[0][l]
            + self.velocity[1][l] * self.normal[1][l]
            + self.velocity[2][l] * self.normal[2][l]
    }

    /// Sliding velocity [m/s].
    #[inline(always)]
    fn slip(&self, l: usize) -> [f64; 3] {
        let approach = self.approach(l);
        std::array::from_fn(|axis| self.velocity[axis][l] - approach * self.normal[axis][l])
    }

    /// Normal force [N] and tangential stiffness [N/m].
    #[inline(always)]
    fn press(&self, law: NormalLaw, l: usize, rules: &Rules) -> (f64, f64) {
        let encounter: Encounter =
            rules.encounter(self.modulus[l], self.shear_modulus[l], self.mass[l], self.radius[l]);
        let overlap = self.overlap[l].max(0.0);
        let coefficients: Coefficients = law.coefficients(&encounter, self.damping[l]);
        let force = law.force(&coefficients, overlap, self.approach(l));
        let stiffness = law.shear_stiffness(&encounter, &coefficients, overlap);
        let touches = self.overlap[l] > 0.0;
        (if touches { force } else { 0.0 }, stiffness)
    }

    /// Tangential force of the spring, which is stretched for the times `before` and `after` the force [s]: half a step each makes it
    /// the mean of the sliding velocities at both ends of a step.
    #[inline(always)]
    fn spring(&mut self, before: f64, after: f64, pressing: &Lane, stiffness: &Lane) {
        for l in 0..LANES {
            let n = [self.normal[0][l], self.normal[1][l], self.normal[2][l]];
            let s = [self.spring[0][l], self.spring[1][l], self.spring[2][l]];
            let slip = self.slip(l);
            let touches = self.overlap[l] > 0.0;
            // Onto the tangent plane of now, as long as it was.
            let along = s[0] * n[0] + s[1] * n[1] + s[2] * n[2];
            let flat = [s[0] - along * n[0], s[1] - along * n[1], s[2] - along * n[2]];
            let was = s[0] * s[0] + s[1] * s[1] + s[2] * s[2];
            let is = flat[0] * flat[0] + flat[1] * flat[1] + flat[2] * flat[2];
            let turned = if is > 0.0 { (was / is).sqrt() } else { 1.0 };
            let damping = shear::spring_damping(self.ratio[l], stiffness[l], self.mass[l]);
            let mut stretch = [0.0; 3];
            let mut trial = [0.0; 3];
            for axis in 0..3 {
                stretch[axis] = turned * flat[axis] + before * slip[axis];
                trial[axis] = stiffness[l] * stretch[axis] + damping * slip[axis];
            }
            let size = (trial[0] * trial[0] + trial[1] * trial[1] + trial[2] * trial[2]).sqrt();
            let (share, slides) = shear::slide(
                size,
                self.sliding[l] > 0.0,
                self.r#static[l],
                self.kinetic[l],
                pressing[l],
            );
            let compliance = 1.0 / stiffness[l].max(f64::MIN_POSITIVE);
            for axis in 0..3 {
                let force = share * trial[axis];
                let cut = if slides { force * compliance } else { stretch[axis] };
                self.spring[axis][l] = if touches { cut + after * slip[axis] } else { 0.0 };
                self.force[axis][l] = if touches { -pressing[l] * n[axis] - force } else { 0.0 };
            }
            self.sliding[l] = if touches & slides { 1.0 } else { 0.0 };
        }
    }

    /// Tangential force of the laws without memory.
    #[inline(always)]
    fn rub(&mut self, law: ShearLaw, rules: &Rules, pressing: &Lane) {
        for l in 0..LANES {
            let slip = self.slip(l);
            let speed = (slip[0] * slip[0] + slip[1] * slip[1] + slip[2] * slip[2]).sqrt();
            let viscosity = rules.shear_viscosity(self.mass[l]);
            let size = shear::size(law, viscosity, self.kinetic[l], pressing[l], speed);
            let touches = self.overlap[l] > 0.0;
            let per_speed = if touches {
                size / speed.max(f64::MIN_POSITIVE)
            } else {
                0.0
            };
            for axis in 0..3 {
                self.force[axis][l] = -pressing[l] * self.normal[axis][l] - per_speed * slip[axis];
            }
            self.sliding[l] = 0.0;
        }
    }

    /// Torque of the spring of rolling, in the tangent plane, by the same rule as the tangential force.
    #[inline(always)]
    fn roll(&mut self, before: f64, after: f64, pressing: &Lane, shear_stiffness: &Lane) {
        for l in 0..LANES {
            let n = [self.normal[0][l], self.normal[1][l], self.normal[2][l]];
            let spin = flat([self.spin[0][l], self.spin[1][l], self.spin[2][l]], n);
            let was = [self.rolled[0][l], self.rolled[1][l], self.rolled[2][l]];
            let is = flat(was, n);
            let turned = if dot(is, is) > 0.0 {
                (dot(was, was) / dot(is, is)).sqrt()
            } else {
                1.0
            };
            let touches = self.overlap[l] > 0.0;
            let stiffness = rolling::stiffness(shear_stiffness[l], self.radius[l]);
            let damping = rolling::damping(self.ratio[l], stiffness, self.mass[l], self.radius[l]);
            let mut angle = [0.0; 3];
            let mut trial = [0.0; 3];
            for axis in 0..3 {
                angle[axis] = turned * is[axis] + before * spin[axis];
                trial[axis] = stiffness * angle[axis] + damping * spin[axis];
            }
            let size = dot(trial, trial).sqrt();
            let (share, gives_way) = rolling::give_way(size, self.rolling[l], self.radius[l], pressing[l]);
            let compliance = 1.0 / stiffness.max(f64::MIN_POSITIVE);
            for axis in 0..3 {
                let torque = share * trial[axis];
                let cut = if gives_way { torque * compliance } else { angle[axis] };
                self.rolled[axis][l] = if touches { cut + after * spin[axis] } else { 0.0 };
                self.moment[axis][l] = if touches { -torque } else { 0.0 };
            }
        }
    }
}

#[inline(always)]
fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Returns the part of `v` in the plane normal to `n`.
#[inline(always)]
fn flat(v: [f64; 3], n: [f64; 3]) -> [f64; 3] {
    let along = dot(v, n);
    [v[0] - along * n[0], v[1] - along * n[1], v[2] - along * n[2]]
}
