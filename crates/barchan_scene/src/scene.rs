//! A checked scene.

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

/// A scene: its contents, and its output.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Name of the scene.
    pub name: String,
    /// Duration of the run [s].
    pub duration: f64,
    /// Frames per second [1/s].
    pub frame_rate: f64,
    /// Random seed.
    pub seed: u64,
    /// Acceleration of free fall [m/s²].
    pub gravity: DVec3,
    /// Periodic axes.
    pub periodic: Periodic,
    /// Solver that moves the guides.
    pub solver: &'static SolverSpec,
    /// Settings of the solver.
    pub solver_settings: Settings,
    /// Materials of guides.
    pub materials: Materials,
    /// Contact properties of each material besides friction, by number.
    pub contacts: Vec<ContactProperties>,
    /// Color of each material in images, sRGB, by number; none if not given.
    pub colors: Vec<Option<[u8; 3]>>,
    /// Guides at the start.
    pub fills: Vec<Fill>,
    /// Emitters of guides.
    pub emitters: Vec<Emitter>,
    /// Sinks of guides.
    pub sinks: Vec<Sink>,
    /// Rigid bodies, parents before their children.
    pub bodies: Vec<BodyPlan>,
    /// Joints of the bodies.
    pub joints: Vec<JointPlan>,
    /// Controls of a driver.
    pub controls: Vec<Control>,
    /// Cameras.
    pub cameras: Vec<Camera>,
    /// Grains, if any.
    pub refine: Option<Refine>,
    /// Output.
    pub output: Output,
    /// Checksums of the meshes, images and points that the scene names, by their names in it.
    pub files: BTreeMap<String, String>,
    pub(crate) written: Written,
}

/// Guides that are there at the start.
#[derive(Clone, Debug)]
pub struct Fill {
    /// Material of the guides.
    pub material: MaterialId,
    /// Source of the guides.
    pub source: FillSource,
    /// Initial velocity [m/s].
    pub velocity: DVec3,
    /// Set if they never move.
    pub is_fixed: bool,
    /// Time of settling before time 0 [s].
    pub settle: f64,
    /// Clump that each guide is, for solvers with clumps.
    pub clump: Option<Arc<Clump>>,
    /// True if clumps are packed until they touch, not only as far as their bounding balls.
    pub is_tight: bool,
    /// Position in the scene file.
    pub place: String,
}

/// Source of a fill's guides.
#[derive(Clone, Debug)]
pub enum FillSource {
    /// A shape is filled.
    Shape {
        /// Shape, in the world.
        shape: Arc<dyn Shape>,
        /// Packing of the guides.
        packing: Packing,
        /// Radii of the guides.
        radii: Radii,
        /// Volume [m³] if it is known exactly.
        volume: Option<f64>,
    },
    /// Positions from a file.
    Points(Particles),
}

/// A body to be.
#[derive(Clone, Debug)]
pub struct BodyPlan {
    /// Name of the body.
    pub name: String,
    /// Its solid.
    pub shape: PlacedShape,
    /// Kind of motion; parents by their index in [`Scene::bodies`].
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
    /// Velocity of the center of mass at first [m/s].
    pub velocity: DVec3,
    /// Angular velocity at first [rad/s].
    pub angular_velocity: DVec3,
    /// Color in images, sRGB, if given.
    pub color: Option<[u8; 3]>,
    /// Part of the light that it holds back in pictures [-]: 1 is solid, less is glass.
    pub opacity: f64,
    /// Position in the scene file.
    pub place: String,
}

/// A joint to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointPlan {
    /// The two bodies, by their place in [`Scene::bodies`].
    pub bodies: [usize; 2],
    /// Degrees of freedom that it leaves.
    pub kind: JointType,
    /// Points at which it holds the bodies.
    pub holds: JointPlace,
    /// Cut from this time on [s].
    pub cut: f64,
}

/// Degrees of freedom that a joint leaves.
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

/// Points at which a joint holds its bodies.
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

    /// Returns the word in scene files.
    pub fn name(self) -> &'static str {
        LEVERS[self as usize]
    }
}

/// A control of a driver: moves a body in its parent's frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Control {
    /// By which lever.
    pub lever: Lever,
    /// The body, by its place in [`Scene::bodies`].
    pub body: usize,
    /// Kind of movement.
    pub movement: Movement,
    /// Largest speed [m/s, rad/s].
    pub speed: f64,
    /// Least and greatest angle of a turn [rad].
    pub range: Option<[f64; 2]>,
}

/// Movement of a body by a lever.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Movement {
    /// Along an axis of the body's own frame, of unit length.
    Move {
        /// Direction.
        along: DVec3,
    },
    /// About an axis of the body's own frame, of unit length.
    Turn {
        /// Axis of rotation.
        axis: DVec3,
    },
}

/// A camera.
#[derive(Clone, Debug, PartialEq)]
pub struct Camera {
    /// Name of the camera.
    pub name: String,
    /// Up direction of the image [-].
    pub up: DVec3,
    /// Views over time, at least one, in the order of their times.
    pub keys: Vec<CameraKey>,
}

/// A camera's view at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraKey {
    /// When [s].
    pub time: f64,
    /// Position [m].
    pub position: DVec3,
    /// Point that it looks at [m].
    pub target: DVec3,
    /// Vertical field of view [rad].
    pub fov: f64,
    /// Interpolation to the next key.
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
    /// Radii of the grains.
    pub radii: Radii,
    /// Packing in fills; that of the fill's guides if none is given.
    pub packing: Option<Packing>,
    /// Settings of seeding and motion.
    pub settings: Settings,
}

/// Output of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// True if guides are stored.
    pub guides: bool,
    /// True if grains are stored.
    pub grains: bool,
    /// True if bodies are stored.
    pub bodies: bool,
    /// True if contacts are stored.
    pub contacts: bool,
    /// True if fields are stored.
    pub fields: bool,
    /// Edge of the cells of fields [m], if it is given.
    pub field_cell: Option<f64>,
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
            contacts: false,
            fields: false,
            field_cell: None,
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

    /// Returns the time of settling before time 0 [s], the longest of all fills.
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
