//! A step, stage by stage, after Algorithm 1 of [Sommer22].

use barchan_bodies::Dynamics;
use barchan_world::{
    AdvanceError, AdvanceReport, Archive, ArchiveError, Friction, Guides, SETTLED_FRACTION, Solver, Stopwatch, World,
};
use glam::{Vec3, Vec4};

use crate::cpu::contacts::Store;
use crate::cpu::guides::{self, Columns};
use crate::cpu::rules::Rules;
use crate::cpu::scene::StepScene;
use crate::cpu::seen::SeenBodies;
use crate::cpu::sleep::Sleep;
use crate::frame::{FrameFacts, LastFrame, Sorter};
use crate::laws::depth;
use crate::settings::SettingsError;
use crate::{PbdSettings, Rigid};

/// Volume that a piece of a body takes, of its radius cubed [-]: a sphere in a dense packing.
const PIECE: f64 = 4.0 / 3.0 * std::f64::consts::PI / SETTLED_FRACTION;

/// The PBD solver.
pub struct PbdSolver {
    pub(crate) settings: PbdSettings,
    motion: Dynamics,
    pub(crate) columns: Columns,
    pub(crate) store: Store,
    pub(crate) sleep: Sleep,
    pub(crate) bodies: SeenBodies,
    /// Friction of each two materials, a row per material.
    pub(crate) friction: Vec<Friction>,
    pub(crate) frame: FrameFacts,
    pub(crate) last: LastFrame,
    pub(crate) sorter: Sorter,
    pub(crate) clock: Stopwatch,
}

/// One step of a frame.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    /// Its length [s].
    pub length: f64,
    rules: Rules,
    /// Steps before and after it in the frame [-].
    before: u32,
    left: u32,
    /// Passes over contacts, and of the stabilization [-].
    passes: u32,
    stabilization: u32,
}

impl PbdSolver {
    /// Creates a solver for any world, whose bodies `motion` moves.
    pub fn new(settings: PbdSettings, motion: Dynamics) -> Result<Self, SettingsError> {
        settings.check()?;
        Ok(Self {
            settings,
            motion,
            columns: Columns::default(),
            store: Store::default(),
            sleep: Sleep::default(),
            bodies: SeenBodies::default(),
            friction: Vec::new(),
            frame: FrameFacts::default(),
            last: LastFrame::default(),
            sorter: Sorter::default(),
            clock: Stopwatch::default(),
        })
    }

    /// Returns the displacement of each guide over the last frame [m], in the world's order.
    pub fn frame_displacement(&self) -> &[Vec3] {
        self.store.displacement()
    }

    /// All steps of a frame of `duration` [s]. Returns their number.
    fn steps(&mut self, world: &mut World, duration: f64) -> Result<u32, AdvanceError> {
        let (start, steps) = (world.time, self.plan(world, duration)?);
        let length = duration / f64::from(steps);
        self.rub(world, length);
        self.scale_impulses(length);
        let recovery = depth::recovery((length / self.frame.fall_time) as f32, self.last.layers);
        for k in 0..steps {
            world.time = start + duration * f64::from(k) / f64::from(steps);
            let step = Step {
                length,
                rules: Rules::new(&self.settings, recovery),
                before: k,
                left: steps - 1 - k,
                passes: self.settings.iterations.saturating_mul(self.diligence()),
                stabilization: self.settings.stabilization.saturating_mul(self.diligence()),
            };
            self.step(world, step)?;
        }
        world.time = start + duration;
        Ok(steps)
    }

    /// Converts remembered impulses to steps of `step` [s]: in terms of positions, they go with its square.
    fn scale_impulses(&mut self, step: f64) {
        if self.last.step > 0.0 && self.last.step != step && self.settings.remembers() {
            self.store.scale_impulses((step / self.last.step).powi(2) as f32);
        }
        self.last.step = step;
    }

    /// One step: the stages of Algorithm 1 of [Sommer22], with sleep, mass splitting and a warm start besides.
    fn step(&mut self, world: &mut World, step: Step) -> Result<(), AdvanceError> {
        self.place_bodies(world, step);
        self.predict(world, step)?;
        let searched = self.search(world, step)?;
        if step.before == 0 {
            self.fall_asleep(world, step, searched);
        }
        self.find_contacts(world, step);
        self.weigh(world, step);
        for pass in 0..step.stabilization.max(1) {
            self.stabilize(world, step, pass);
        }
        self.shift_gaps(world, step);
        for pass in 1..=step.passes {
            self.solve(world, step, pass == step.passes);
        }
        self.find_velocities(world, step);
        self.move_guides(world);
        self.remember();
        self.move_bodies(world, step)
    }

    /// Places bodies at the start and the end of the step [m]: scripted ones as prescribed, dynamic ones as without guides.
    fn place_bodies(&mut self, world: &World, step: Step) {
        self.clock.enter("predict");
        let in_pieces = self.settings.rigid == Rigid::ShapeMatching;
        let pieces = in_pieces.then(|| f64::from(self.frame.largest).powi(3) * PIECE);
        self.bodies.place(world, step.length, pieces);
    }

    /// Predicts velocities v + Δt g [m/s] and displacements Δt v [m] of guides that are awake.
    fn predict(&mut self, world: &mut World, step: Step) -> Result<(), AdvanceError> {
        let is_finite = guides::predict(
            &mut world.guides.velocity,
            &mut self.columns,
            &self.sleep.asleep,
            world.gravity.as_vec3(),
            step.length as f32,
        );
        match is_finite {
            true => Ok(()),
            false => Err(self.not_finite(world)),
        }
    }

    /// Finds neighbors of predicted positions, guides and bodies, where those of the last search do not hold. Returns whether all guides were
    /// searched for.
    fn search(&mut self, world: &World, step: Step) -> Result<bool, AdvanceError> {
        let (scene, columns, store, clock) = self.split(world, step);
        store.update(&scene, &columns.free, step.left, clock)
    }

    /// Finds the contacts of the step, planes with a gap [m] at its start and at its end.
    fn find_contacts(&mut self, world: &World, step: Step) {
        self.clock.enter("contacts");
        let (scene, columns, store, _) = self.split(world, step);
        store.contacts(&scene, &columns.free);
    }

    /// Shares the inverse mass of each guide [1/kg] among its contacts ([Sommer22] section 3.3, or split by mass), and starts from the
    /// impulses of the last step [kg m].
    fn weigh(&mut self, world: &World, step: Step) {
        let (scene, columns, store, _) = self.split(world, step);
        scene.weigh(columns, store);
        if self.bodies.has_dynamic() {
            self.push_bodies();
        }
    }

    /// One pass of the stabilization: moves guides out of inherited overlaps [m], [Sommer22] eq. (2) at the start of the step, without giving
    /// them speed. The first pass gives contacts their stiffness [kg].
    fn stabilize(&mut self, world: &World, step: Step, pass: u32) {
        self.clock.enter("stabilise");
        let (scene, columns, store, _) = self.split(world, step);
        scene.push(columns, store, pass == 0);
    }

    /// Corrects gaps [m] by what the stabilization moved guides, where impulses undo inherited overlaps too.
    fn shift_gaps(&mut self, world: &World, step: Step) {
        if step.stabilization == 0 {
            self.columns.pushed.fill(Vec4::ZERO);
        } else if step.rules.left == 0.0 {
            let (scene, columns, store, _) = self.split(world, step);
            scene.shift_gaps(columns, store);
        }
    }

    /// One pass over all contacts: impulses [kg m] of contact, [Sommer22] eq. (2), and friction, eq. (4) or Coulomb's law, all at once.
    fn solve(&mut self, world: &World, step: Step, is_last: bool) {
        self.clock.enter("solve");
        let loads = is_last || self.bodies.has_dynamic();
        let (scene, columns, store, _) = self.split(world, step);
        scene.solve(columns, store, loads);
        if loads {
            self.push_bodies();
        }
    }

    /// Moves dynamic bodies by the impulses of guides on them.
    fn push_bodies(&mut self) {
        self.bodies.give(self.store.loads(), self.settings.calm_relaxation());
    }

    /// Turns displacements [m] into velocities Δx/Δt [m/s]. Those of the stabilization give no velocity; guides at rest that hardly move stay,
    /// after [Macklin14].
    fn find_velocities(&mut self, world: &mut World, step: Step) {
        self.clock.enter("finish");
        let ways = [self.settings.velocity_clamp, self.still_way(world, step.length)];
        let Guides { velocity, radius, .. } = &mut world.guides;
        guides::finish(velocity, radius, &mut self.columns, ways, step.length as f32);
    }

    /// Moves guides by their displacements [m].
    fn move_guides(&mut self, world: &mut World) {
        self.store.advance(&mut world.guides, &self.columns.moved);
    }

    /// Leaves impulses [kg m] for the warm start of the next step.
    fn remember(&mut self) {
        if self.settings.remembers() {
            self.store.remember();
        }
    }

    /// Moves bodies: as prescribed, or by gravity and the impulses of guides [N s].
    fn move_bodies(&mut self, world: &mut World, step: Step) -> Result<(), AdvanceError> {
        self.clock.enter("bodies");
        self.bodies.advance(&mut self.motion, world, step.length)
    }

    /// Splits the solver into what passes over guides see, and what they change.
    fn split<'a>(
        &'a mut self,
        world: &'a World,
        step: Step,
    ) -> (StepScene<'a>, &'a mut Columns, &'a mut Store, &'a mut Stopwatch) {
        let asleep = &self.sleep.asleep;
        let scene = StepScene::new(world, &self.settings, step.rules, &self.bodies, &self.friction, asleep);
        (scene, &mut self.columns, &mut self.store, &mut self.clock)
    }
}

impl Solver for PbdSolver {
    fn name(&self) -> &'static str {
        crate::SPEC.name
    }

    fn advance(&mut self, world: &mut World, duration: f64) -> Result<AdvanceReport, AdvanceError> {
        if let Some(report) = self.sleep_through(world, duration) {
            return Ok(report);
        }
        self.begin_frame(world, duration)?;
        let steps = self.steps(world, duration)?;
        self.end_frame(world, duration, steps)
    }

    fn save(&self, archive: &mut Archive) {
        archive.put("pbd.last_step", &[self.last.step]);
        archive.put("pbd.last_overlap", &[self.last.overlap]);
        archive.put("pbd.layers", &[self.last.layers]);
        self.sleep.save(archive);
        self.store.save(archive);
        self.motion.save(archive);
    }

    fn load(&mut self, world: &World, archive: &Archive) -> Result<(), ArchiveError> {
        let is_fit = |number: f64| (0.0..1e9).contains(&number);
        let store = Store::load(world, archive)?;
        let sleep = Sleep::load(store.len(), archive)?;
        let last = LastFrame {
            step: archive.get_one_fit("pbd.last_step", |step| is_fit(*step))?,
            layers: archive.get_one_fit("pbd.layers", |layers: &f32| is_fit(f64::from(*layers)))?,
            overlap: archive.get_one_fit("pbd.last_overlap", |overlap: &f32| overlap.is_finite())?,
        };
        self.motion.load(world, archive)?;
        (self.store, self.sleep, self.last) = (store, sleep, last);
        Ok(())
    }
}
