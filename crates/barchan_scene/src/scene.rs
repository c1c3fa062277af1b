//! A scene that was read and checked.

use std::collections::BTreeMap;
use std::sync::Arc;

use barchan_geometry::Shape;
use barchan_geometry::clump::Clump;
use barchan_geometry::sample::{Packing, Particles, Radii};
use barchan_world::spec::{Facts, Settings, SolverSpec};
use barchan_world::{ContactProperties, Ease, Emitter, Friction, MaterialId, Materials, Motion, Periodic, Sink};
use glam::DVec3;

use crate::reader::Reader;
use crate::shapes::PlacedShape;
use crate::tables::LEVERS;
use crate::written::Written;
use crate::{Diagnostic, Diagnostics, Document, check, overrides};

/// What is there, and what is to be done with it.
#[derive(Clone, Debug)]
pub struct Scene {
    /// What it is called.
    pub name: String,
    /// How long it runs [s].
    pub duration: f64,
    /// Frames in a second [1/s].
    pub frame_rate: f64,
    /// Decides what is random.
    pub seed: u64,
    /// Acceleration of free fall [m/s²].
    pub gravity: DVec3,
    /// Axes that close upon themselves.
    pub periodic: Periodic,
    /// Solver that moves the guides.
    pub solver: &'static SolverSpec,
    /// Its settings.
    pub solver_settings: Settings,
    /// What guides are made of.
    pub materials: Materials,
    /// What contact laws know of each material besides friction, by number.
    pub contacts: Vec<ContactProperties>,
    /// Colour of each material in pictures, sRGB, by number; none where nothing was said.
    pub colors: Vec<Option<[u8; 3]>>,
    /// Guides that are there at the start.
    pub fills: Vec<Fill>,
    /// Where guides appear.
    pub emitters: Vec<Emitter>,
    /// Where guides vanish.
    pub sinks: Vec<Sink>,
    /// Rigid objects, parents before their children.
    pub bodies: Vec<BodyPlan>,
    /// Their connections.
    pub joints: Vec<JointPlan>,
    /// What a driver moves.
    pub controls: Vec<Control>,
    /// Where to look from.
    pub cameras: Vec<Camera>,
    /// Grains, if there are to be any.
    pub refine: Option<Refine>,
    /// What is kept.
    pub output: Output,
    /// Checksums of the meshes, images and points that the scene names, by their names in it.
    pub files: BTreeMap<String, String>,
    pub(crate) written: Written,
}

/// Guides that are there at the start.
#[derive(Clone, Debug)]
pub struct Fill {
    /// What they are made of.
    pub material: MaterialId,
    /// Where they are.
    pub source: FillSource,
    /// How fast at first [m/s].
    pub velocity: DVec3,
    /// Set if they never move.
    pub is_fixed: bool,
    /// How long they settle before time 0 [s].
    pub settle: f64,
    /// The rigid group of spheres that each is, for solvers that know it.
    pub clump: Option<Arc<Clump>>,
    /// Whether clumps are packed until they touch, instead of apart as the balls around them.
    pub is_tight: bool,
    /// Where the scene says so.
    pub place: String,
}

/// Where the guides of a fill come from.
#[derive(Clone, Debug)]
pub enum FillSource {
    /// A shape is filled.
    Shape {
        /// Which, in the world.
        shape: Arc<dyn Shape>,
        /// How they lie.
        packing: Packing,
        /// How large they are.
        radii: Radii,
        /// Volume [m³] if it is known exactly.
        volume: Option<f64>,
    },
    /// A file said where each is.
    Points(Particles),
}

/// A body to be.
#[derive(Clone, Debug)]
pub struct BodyPlan {
    /// What it is called.
    pub name: String,
    /// Its solid.
    pub shape: PlacedShape,
    /// What decides where it is; parents by their place in [`Scene::bodies`].
    pub motion: Motion,
    /// Density [kg/m³].
    pub density: f64,
    /// Friction of its surface.
    pub friction: Friction,
    /// Speed after over speed before an impact with another body [-].
    pub restitution: f64,
    /// There from this time on [s].
    pub from: f64,
    /// Gone from this time on [s].
    pub until: f64,
    /// Velocity of the centre of mass at first [m/s].
    pub velocity: DVec3,
    /// Angular velocity at first [rad/s].
    pub angular_velocity: DVec3,
    /// Colour in pictures, sRGB, if it was said.
    pub color: Option<[u8; 3]>,
    /// Part of the light that it holds back in pictures [-]: 1 is solid, less is glass.
    pub opacity: f64,
    /// Where the scene says so.
    pub place: String,
}

/// A joint to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointPlan {
    /// The two bodies, by their place in [`Scene::bodies`].
    pub bodies: [usize; 2],
    /// What it leaves free.
    pub kind: JointType,
    /// Where it holds them.
    pub holds: JointPlace,
    /// Cut from this time on [s].
    pub cut: f64,
}

/// What a joint leaves free.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointType {
    /// Turning about an axis, given in the world at the start [-].
    Hinge {
        /// Unit length.
        axis: DVec3,
    },
    /// Turning about a point.
    Ball,
    /// Anything within a distance [m]; that of the anchors at the start if none is given.
    Rope {
        /// Longest distance.
        length: Option<f64>,
    },
    /// Nothing.
    Fixed,
}

/// Where a joint holds its bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointPlace {
    /// At this point of the world at the start [m].
    World(DVec3),
    /// At this point of each body's frame [m].
    Frames([DVec3; 2]),
}

/// A lever of a machine, by what it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lever {
    /// Forwards.
    Drive,
    /// To the left.
    Steer,
    /// The upper part, to the left.
    Swing,
    /// Up.
    Boom,
    /// Out.
    Stick,
    /// In: the bucket curls.
    Bucket,
}

impl Lever {
    /// Every lever.
    pub const ALL: [Self; 6] = [
        Self::Drive,
        Self::Steer,
        Self::Swing,
        Self::Boom,
        Self::Stick,
        Self::Bucket,
    ];

    /// What scene files call it.
    pub fn name(self) -> &'static str {
        LEVERS[self as usize]
    }
}

/// What a driver moves: a body in its parent's frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Control {
    /// By which lever.
    pub lever: Lever,
    /// The body, by its place in [`Scene::bodies`].
    pub body: usize,
    /// How.
    pub movement: Movement,
    /// How fast [m/s, rad/s].
    pub speed: f64,
    /// Least and greatest angle of a turn [rad].
    pub range: Option<[f64; 2]>,
}

/// How a lever moves a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Movement {
    /// Along an axis of the body's own frame, of unit length.
    Move {
        /// Which way.
        along: DVec3,
    },
    /// About an axis of the body's own frame, of unit length.
    Turn {
        /// Which axis.
        axis: DVec3,
    },
}

/// Where to look from.
#[derive(Clone, Debug, PartialEq)]
pub struct Camera {
    /// What it is called.
    pub name: String,
    /// Which way is up in the picture [-].
    pub up: DVec3,
    /// Views over time, at least one, in the order of their times.
    pub keys: Vec<CameraKey>,
}

/// A camera's view at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraKey {
    /// When [s].
    pub time: f64,
    /// Where it is [m].
    pub position: DVec3,
    /// What it looks at [m].
    pub target: DVec3,
    /// Vertical field of view [rad].
    pub fov: f64,
    /// How it goes on from here.
    pub ease: Ease,
}

impl Camera {
    /// The view at `time` [s]; that of the first key before it, and of the last after it.
    pub fn at(&self, time: f64) -> CameraKey {
        let after = self.keys.partition_point(|key| key.time <= time);
        let last = self.keys[after.saturating_sub(1)];
        let next = self.keys.get(after).copied().unwrap_or(last);
        if next.time <= last.time || time <= last.time {
            return CameraKey { time, ..last };
        }
        let s = (time - last.time) / (next.time - last.time);
        let s = match last.ease {
            Ease::Linear => s,
            // Keys of cameras have no splines.
            Ease::Smooth | Ease::Spline => s * s * (3.0 - 2.0 * s),
        };
        CameraKey {
            time,
            position: last.position.lerp(next.position, s),
            target: last.target.lerp(next.target, s),
            fov: last.fov + s * (next.fov - last.fov),
            ease: last.ease,
        }
    }
}

/// Grains.
#[derive(Clone, Debug, PartialEq)]
pub struct Refine {
    /// How large they are.
    pub radii: Radii,
    /// How they lie in fills; as the guides of each fill if none is given.
    pub packing: Option<Packing>,
    /// How they are seeded and moved.
    pub settings: Settings,
}

/// What is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Whether guides are.
    pub guides: bool,
    /// Whether grains are.
    pub grains: bool,
    /// Whether bodies are.
    pub bodies: bool,
    /// Grains are kept in every n-th frame.
    pub grains_every: u64,
    /// Positions in 16 bits a coordinate.
    pub compact: bool,
    /// Set if the frames of settling are written, to a cache of their own.
    pub settling: bool,
}

impl Default for Output {
    fn default() -> Self {
        Self {
            guides: true,
            grains: true,
            bodies: true,
            grains_every: 1,
            compact: false,
            settling: false,
        }
    }
}

impl Scene {
    /// Properties of the solver with the settings of this scene.
    pub fn facts(&self) -> Facts {
        (self.solver.facts)(&self.solver_settings)
    }

    /// Most frames of a run, and of settling before it: ten million are two days at 60 frames per second.
    pub const MOST_FRAMES: u64 = 10_000_000;

    /// How long guides settle before time 0 [s]: as the fill that needs longest.
    pub fn settle(&self) -> f64 {
        self.fills.iter().map(|fill| fill.settle).fold(0.0, f64::max)
    }

    /// Number of frames after the first, which shows time 0.
    pub fn frames(&self) -> u64 {
        // Just above a whole number is that number: 0.1 s of 60 frames a second are six.
        (self.duration * self.frame_rate - 1e-6).ceil().max(1.0) as u64
    }

    /// The smallest and the largest radius [m] of each fill and emitter, and its material.
    pub(crate) fn radii(&self) -> impl Iterator<Item = ([f64; 2], MaterialId)> {
        let fills = self.fills.iter().map(|fill| (fill.source.radii(), fill.material));
        let emitters = self.emitters.iter().map(|emitter| {
            let radii = &emitter.radii;
            ([radii.min(), radii.max()], emitter.material)
        });
        fills.chain(emitters)
    }

    /// Radius of the smallest guide there can be [m]; none without guides.
    pub fn smallest_radius(&self) -> Option<f64> {
        self.radii().map(|(radii, _)| radii[0]).reduce(f64::min)
    }

    /// Radius of the ball around the longest clump, of its guide's radius [-]; 1 where all are spheres.
    pub(crate) fn largest_extent(&self) -> f64 {
        let extents = self.fills.iter().filter_map(|fill| fill.clump.as_ref());
        extents.map(|clump| clump.extent()).fold(1.0, f64::max)
    }

    /// Radius of the largest guide there can be [m]; none without guides.
    pub fn largest_radius(&self) -> Option<f64> {
        self.radii().map(|(radii, _)| radii[1]).reduce(f64::max)
    }
}

impl FillSource {
    /// The number of points, none of a shape.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Shape { .. } => 0,
            Self::Points(particles) => particles.len(),
        }
    }

    /// The smallest and the largest radius [m].
    fn radii(&self) -> [f64; 2] {
        match self {
            Self::Shape { radii, .. } => [radii.min(), radii.max()],
            Self::Points(particles) => {
                let radii = || particles.radii.iter().copied();
                [radii().fold(f64::INFINITY, f64::min), radii().fold(0.0, f64::max)]
            }
        }
    }
}

/// Reads a scene for any of `solvers`, with what its overrides say, and warns of what is likely not meant; or finds everything that is
/// wrong. The first solver is the one of scenes that choose none.
///
/// # Panics
/// If there are no solvers.
pub fn parse_scene_with(
    document: &Document,
    solvers: &[&'static SolverSpec],
) -> Result<(Scene, Vec<Diagnostic>), Diagnostics> {
    assert!(!solvers.is_empty(), "a scene needs a solver");
    let reader = Reader::new(document).with_solvers(solvers);
    let scene = reader.parse().and_then(|mut value| {
        overrides::apply(&reader, &mut value);
        check::scene(&reader, &value)
    });
    let warnings = reader.finish()?;
    let scene = scene.expect("a scene that could not be read has noted an error");
    Ok((scene, warnings))
}
