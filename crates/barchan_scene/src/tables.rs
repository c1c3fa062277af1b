//! Every key of a scene file.

use barchan_world::spec::Kind::{
    self, Between, Color, Count, Direction, Flag, List, Named, NumberOr, Pair, Range, Shape, Table, Text, Turn, Vector,
    Word,
};
use barchan_world::spec::Need::{self, Optional, Required};
use barchan_world::spec::quantities::{
    DENSITY, FRICTION as COEFFICIENT, INTERVAL, LENGTH, MODULUS, POSITION, RADIUS, SPAN, SPAN_OR_ZERO, STEP, TIME,
    VELOCITY,
};
use barchan_world::spec::{Field, TableSpec, field};

const fn plain(name: &'static str, fields: &'static [Field]) -> TableSpec {
    TableSpec {
        name,
        fields,
        exclusive: &[],
    }
}

/// Packings of guides in a fill, with the names of [`Packing::ALL`](barchan_geometry::sample::Packing::ALL).
pub(crate) const PACKINGS: &[&str] = &["dense", "random", "lattice"];
/// Kinds of motion of a body.
pub(crate) const MOTIONS: &[&str] = &["fixed", "scripted", "driven", "dynamic"];
/// Kinds of joints.
pub(crate) const JOINTS: &[&str] = &["hinge", "ball", "rope", "fixed"];
/// Words for the motion of cameras from key to key.
pub(crate) const EASES: &[&str] = &["linear", "smooth"];
/// The same for bodies.
pub(crate) const BODY_EASES: &[&str] = &["linear", "smooth", "spline"];
/// Built-in clumps.
pub(crate) const CLUMPS: &[&str] = &["tetrahedron", "cube"];
/// Levers of a machine, in the order of [`Lever::ALL`](crate::Lever::ALL).
pub(crate) const LEVERS: &[&str] = &["drive", "steer", "swing", "boom", "stick", "bucket"];
/// Contents of a cache.
pub(crate) const CACHED: &[&str] = &["guides", "grains", "bodies", "contacts", "fields"];

/// A whole scene.
#[rustfmt::skip]
pub const SCENE: TableSpec = plain("the scene", &[
    field("name",       Text,               Need::Word("scene"),              "what the scene is called"),
    field("duration",   SPAN,               Required,                         "how long it runs [s]"),
    field("frame_rate", Between(0.01, 1e6), Need::Number(60.0),               "frames in a second [1/s]"),
    field("seed",       Count(0, i64::MAX as u64), Need::Count(1),            "decides what is random"),
    field("gravity",    Vector(-1e6, 1e6),  Need::Vector([0.0, 0.0, -9.81]),  "acceleration of free fall [m/s²]"),
    field("periodic",   Table(&PERIODIC),   Optional,                         "axes that close upon themselves"),
    field("solver",     Kind::Solver,       Optional,                         "what moves the guides"),
    field("materials",  Named(&MATERIAL),   Optional,                         "what guides are made of, by name"),
    field("pair",       List(&Table(&PAIR)),    Optional, "how two materials, or a material and a body, meet, where it does not follow from both"),
    field("clumps",     Named(&CLUMP),          Optional, "rigid groups of spheres, by name"),
    field("fill",       List(&Table(&FILL)),    Optional, "guides that are there at the start"),
    field("emitter",    List(&Table(&EMITTER)), Optional, "shapes in which guides appear"),
    field("sink",       List(&Table(&SINK)),    Optional, "shapes in which guides vanish"),
    field("body",       List(&Table(&BODY)),    Optional, "rigid objects"),
    field("joint",      List(&Table(&JOINT)),   Optional, "connections of two bodies"),
    field("control",    List(&Table(&CONTROL)), Optional, "what a driver moves in the window"),
    field("camera",     List(&Table(&CAMERA)),  Optional, "where to look from"),
    field("refine",     Table(&REFINE),     Optional,                         "grains"),
    field("output",     Table(&OUTPUT),     Optional,                         "what is kept"),
]);

/// Key of the chosen solver's name.
pub(crate) const SOLVER_KIND: &str = "kind";

/// The table `[solver]`; each solver's table of settings stands in it under the solver's name.
#[rustfmt::skip]
pub(crate) const SOLVER: TableSpec = plain("solver", &[
    field(SOLVER_KIND, Text, Optional, "what moves the guides"),
]);

#[rustfmt::skip]
const PERIODIC: TableSpec = plain("periodic", &[
    field("x", INTERVAL, Optional, "[low, high] of the x axis [m]"),
    field("y", INTERVAL, Optional, "[low, high] of the y axis [m]"),
    field("z", INTERVAL, Optional, "[low, high] of the z axis [m]"),
]);

#[rustfmt::skip]
const FRICTION: TableSpec = plain("friction", &[
    field("static",  COEFFICIENT, Required, "holds up to this share of the normal force [-]"),
    field("kinetic", COEFFICIENT, Required, "slides with this share of the normal force [-], at most the static one"),
]);

#[rustfmt::skip]
const MATERIAL: TableSpec = TableSpec {
    name: "a material",
    fields: &[
        field("density",          DENSITY,                           Required, "bulk density of the settled material [kg/m³]"),
        field("grain_density",    DENSITY,                           Optional, "density of the grains themselves [kg/m³]; density / 0.6 by default"),
        field("friction",         NumberOr(&COEFFICIENT, &FRICTION), Optional, "internal friction [-], the tangent of the slope of a poured heap, and friction against bodies; a number or { static, kinetic }. Where guides are particles that of contacts if rolling_friction is given, and of clumps"),
        field("angle_of_repose",  Between(1.0, 60.0),                Optional, "slope of a poured heap [deg], instead of friction; 38 by default"),
        field("wall_friction",    NumberOr(&COEFFICIENT, &FRICTION), Optional, "Coulomb friction against bodies [-], a number or { static, kinetic }; the tangent of angle_of_repose by default, { static = 0.35, kinetic = 0.3 } without one"),
        field("restitution",      Between(0.0, 1.0),                 Optional, "speed after over speed before an impact [-]"),
        field("youngs_modulus",   MODULUS,                           Optional, "of the grains [Pa]"),
        field("poisson_ratio",    Between(-0.99, 0.5),               Optional, "of the grains [-]"),
        field("rolling_friction", COEFFICIENT,                       Optional, "resistance to rolling [-]"),
        field("cohesion",         Between(0.0, 1e9),                 Optional, "how much the grains stick to each other [Pa], when they are wet"),
        field("wetness",          Between(0.0, 1.0),                 Optional, "part of all the water that it can hold, at first [-], 1 by default"),
        field("viscosity",        Between(0.0, 10.0),                Optional, "artificial viscosity [-], which calms sand"),
        field("wet_viscosity",    Between(0.0, 10.0),                Optional, "the same of the wet material [-]; as the dry one by default"),
        field("liquid",           Between(0.0, 0.5),                 Optional, "liquid on the grains, of their own volume [-]: bridges of it hold them together"),
        field("surface_tension",  Between(1e-6, 1e2),                Optional, "of that liquid [N/m]; 0.072, that of water, by default"),
        field("contact_angle",    Between(0.0, 90.0),                Optional, "at which that liquid meets the grains [deg]; 0 by default"),
        field("color",            Color,                             Optional, "in pictures: \"#rrggbb\" or \"#rgb\"; that of quartz sand by default"),
    ],
    exclusive: &[["friction", "angle_of_repose"], ["friction", "wall_friction"]],
};

#[rustfmt::skip]
const PAIR: TableSpec = TableSpec {
    name: "pair",
    fields: &[
        field("materials",        Pair(&Text),                       Optional, "the names of two materials"),
        field("material",         Text,                              Optional, "the name of one that meets a body, instead"),
        field("body",             Text,                              Optional, "the name of that body"),
        field("friction",         NumberOr(&COEFFICIENT, &FRICTION), Optional, "of one on the other [-]; of two materials as that of a material"),
        field("restitution",      Between(0.0, 1.0),                 Optional, "speed after over speed before an impact of the material on the body [-]"),
        field("rolling_friction", COEFFICIENT,                       Optional, "resistance to rolling of the material on the body [-]"),
    ],
    exclusive: &[["materials", "material"], ["materials", "body"]],
};

#[rustfmt::skip]
const RADII: TableSpec = TableSpec {
    name: "radius",
    fields: &[
        field("min",     RADIUS,                     Optional, "smallest radius [m]; all up to `max` are equally frequent"),
        field("max",     RADIUS,                     Optional, "largest radius [m]"),
        field("list",    List(&RADIUS),              Optional, "radii [m]"),
        field("weights", List(&Between(0.0, 1e9)),   Optional, "how frequent each of the list is [-]"),
    ],
    exclusive: &[["min", "list"], ["max", "list"]],
};

#[rustfmt::skip]
const FILL: TableSpec = TableSpec {
    name: "fill",
    fields: &[
        field("material", Text,                        Required,              "the name of a material"),
        field("radius",   NumberOr(&RADIUS, &RADII),   Optional,              "of the guides [m]: a number, { min, max } or { list, weights }"),
        field("packing",  Word(PACKINGS),              Need::Word("dense"),   "how the guides lie"),
        field("shape",    Shape,                       Optional,              "what is filled"),
        field("from",     Text,                        Optional,              "a file of points (ply, csv, xyz), instead of a shape"),
        field("velocity", VELOCITY,                    Need::Vector([0.0; 3]), "at time 0 [m/s]; guides settle from rest"),
        field("settle",   SPAN_OR_ZERO,                Need::Number(0.0),     "time to settle before time 0 [s]; the longest of all fills counts"),
        field("fixed",    Flag,                        Need::Flag(false),     "whether the guides never move: a rough base"),
        field("clump",    Text,                        Optional,              "rigid group of spheres that each guide is: tetrahedron, cube, or one of clumps; the radius is that of the sphere of equal volume"),
    ],
    exclusive: &[["shape", "from"]],
};

#[rustfmt::skip]
const CLUMP: TableSpec = TableSpec {
    name: "a clump",
    fields: &[
        field("spheres",       List(&Table(&MEMBER)), Optional, "what it is made of; only their proportions count"),
        field("shape",         Shape,                 Optional, "a solid or a mesh whose surface spheres cover, instead"),
        field("sphere_radius", LENGTH,                Optional, "of those spheres, in the shape's own lengths [m]; by its volume if not given"),
    ],
    exclusive: &[["spheres", "shape"], ["spheres", "sphere_radius"]],
};

#[rustfmt::skip]
const MEMBER: TableSpec = plain("a sphere of a clump", &[
    field("at",     POSITION, Need::Vector([0.0; 3]), "where it is [m]"),
    field("radius", LENGTH,   Required,               "its radius [m]"),
]);

#[rustfmt::skip]
const EMITTER: TableSpec = plain("emitter", &[
    field("material", Text,                        Required,              "the name of a material"),
    field("radius",   NumberOr(&RADIUS, &RADII),   Required,              "of the guides [m]: a number, { min, max } or { list, weights }"),
    field("shape",    Shape,                       Required,              "where the guides appear"),
    field("rate",     Between(1e-12, 1e9),         Required,              "how much [kg/s]"),
    field("velocity", VELOCITY,                    Need::Vector([0.0; 3]), "at first [m/s]"),
    field("start",    SPAN_OR_ZERO,                Need::Number(0.0),     "from when [s]"),
    field("end",      SPAN,                        Optional,              "until when [s]; the end of the run by default"),
]);

#[rustfmt::skip]
const SINK: TableSpec = plain("sink", &[
    field("shape", Shape, Required, "where guides vanish"),
]);

#[rustfmt::skip]
const BODY: TableSpec = plain("body", &[
    field("name",             Text,                              Required,              "what it is called"),
    field("shape",            Shape,                             Required,              "its solid"),
    field("motion",           Word(MOTIONS),                     Need::Word("fixed"),   "what decides where it is"),
    field("density",          DENSITY,                           Optional,              "of a dynamic body [kg/m³]"),
    field("friction",         NumberOr(&COEFFICIENT, &FRICTION), Optional,              "of its surface [-]; { static = 0.35, kinetic = 0.3 } by default"),
    field("restitution",      Between(0.0, 1.0),                 Need::Number(0.0),     "speed after over speed before an impact with another body [-]; of two the larger one counts"),
    field("parent",           Text,                              Optional,              "the body in whose frame the keys of a scripted body are given"),
    field("keys",             List(&Table(&KEY)),                Optional,              "where a scripted body is over time"),
    field("ease",             Word(BODY_EASES),                  Need::Word("linear"),  "how it goes from key to key, unless a key says otherwise: at a constant rate, from rest to rest, or through the keys without a jump of its velocity"),
    field("from",             TIME,                              Optional,              "it is there from this time on [s]"),
    field("until",            TIME,                              Optional,              "it is gone from this time on [s]; 0 for what only holds a settling fill"),
    field("velocity",         VELOCITY,                          Optional,              "of a dynamic body's centre of mass at first [m/s]"),
    field("angular_velocity", Vector(-1e7, 1e7),                 Optional,              "of a dynamic body at first [deg/s]"),
    field("color",            Color,                             Optional,              "in pictures: \"#rrggbb\" or \"#rgb\"; one of several by default"),
    field("opacity",          Between(0.0, 1.0),                 Need::Number(1.0),     "in pictures: the part of the light that it holds back [-]; glass has 0.2"),
]);

#[rustfmt::skip]
const KEY: TableSpec = plain("key", &[
    field("time",   TIME,        Required, "when [s]"),
    field("at",     POSITION,    Optional, "where the body's frame is [m]; as in the key before by default"),
    field("rotate", Turn,        Optional, "how it is turned [deg]: [x, y, z] or { axis, angle }, from the previous key through the whole difference of the angles; as in the key before by default"),
    field("ease",   Word(BODY_EASES), Optional, "how it goes on from here"),
]);

#[rustfmt::skip]
const JOINT: TableSpec = TableSpec {
    name: "joint",
    fields: &[
        field("bodies",  Pair(&Text),    Required, "the names of the two bodies"),
        field("kind",    Word(JOINTS),   Required, "what it leaves free"),
        field("at",      POSITION,       Optional, "where it holds both bodies at time 0, in the world [m]"),
        field("anchors", Pair(&POSITION), Optional, "where it holds each body, in that body's frame [m]"),
        field("axis",    Direction,      Optional, "of a hinge at time 0, in the world"),
        field("length",  LENGTH,         Optional, "of a rope [m]; the distance of the anchors by default"),
        field("cut",     TIME,           Optional, "cut from this time on [s]"),
    ],
    exclusive: &[["at", "anchors"]],
};

#[rustfmt::skip]
const CONTROL: TableSpec = TableSpec {
    name: "control",
    fields: &[
        field("lever", Word(LEVERS), Required, "what moves it: drive forwards, steer and swing to the left, boom up, stick out, bucket in"),
        field("body",  Text,         Required, "the name of a scripted body; those whose parent it is go with it"),
        field("move",  Direction,    Optional, "which way it goes, in its own frame"),
        field("turn",  Direction,    Optional, "the axis that it turns about, in its own frame"),
        field("speed", Between(1e-9, 1e6), Required, "at most [m/s] or [deg/s]"),
        field("range", Range(-1e6, 1e6), Optional, "least and greatest angle of a turn in the parent's frame [deg]"),
    ],
    exclusive: &[["move", "turn"], ["move", "range"]],
};

#[rustfmt::skip]
const CAMERA: TableSpec = plain("camera", &[
    field("name",     Text,                      Need::Word("main"),            "what it is called"),
    field("position", POSITION,                  Required,                      "where it is [m]"),
    field("target",   POSITION,                  Required,                      "what it looks at [m]"),
    field("up",       Direction,                 Need::Vector([0.0, 0.0, 1.0]), "which way is up in the picture"),
    field("fov",      Between(1.0, 170.0),       Need::Number(40.0),            "vertical field of view [deg]"),
    field("keys",     List(&Table(&CAMERA_KEY)), Optional,                      "where it is over time"),
]);

#[rustfmt::skip]
const CAMERA_KEY: TableSpec = plain("key", &[
    field("time",     TIME,                Required, "when [s]"),
    field("position", POSITION,            Optional, "where it is [m]; as before by default"),
    field("target",   POSITION,            Optional, "what it looks at [m]; as before by default"),
    field("fov",      Between(1.0, 170.0), Optional, "vertical field of view [deg]; as before by default"),
    field("ease",     Word(EASES),         Need::Word("smooth"), "how it goes on from here"),
]);

#[rustfmt::skip]
const REFINE: TableSpec = plain("refine", &[
    field("radius",    NumberOr(&RADIUS, &RADII),                 Required,                 "of the grains [m]: a number, { min, max } or { list, weights }"),
    field("mode",      Word(&["gated", "ihmsen", "alduan"]),      Need::Word("gated"),      "what moves grains where guides are sparse; gated rests, the others are as published"),
    field("step",      STEP,                                      Need::Number(1.0 / 60.0), "longest step of the grains [s]; a frame is cut into equal ones"),
    field("seeding",   Word(&["volume", "support"]),              Need::Word("volume"),     "where grains start: fills are sampled again, or points about each guide"),
    field("packing",   Word(PACKINGS),                            Optional,                 "how grains lie in fills; as the guides by default"),
    field("per_guide", Count(1, 1_000_000),                       Optional,                 "grains about each guide that is seeded so; as many as fill its space by default"),
    field("spread",    Flag,                                      Need::Flag(true),         "whether flowing grains spread where they are too many; in mode gated"),
    field("repel",     Flag,                                      Need::Flag(false),        "whether flowing grains push each other apart, in a pass of its own"),
]);

#[rustfmt::skip]
const OUTPUT: TableSpec = plain("output", &[
    field("cache",        List(&Word(CACHED)),   Optional,          "what the cache keeps; guides, grains and bodies by default. Solver dem also has contacts and fields"),
    field("field_cell",   LENGTH,                Optional,          "edge of the cells of fields [m]; eight radii of the largest guide by default"),
    field("grains_every", Count(1, 1_000_000),   Need::Count(1),    "grains are kept in every n-th frame"),
    field("compact",      Flag,                  Need::Flag(false), "positions in 16 bits a coordinate"),
    field("settling",     Flag,                  Need::Flag(false), "whether the frames in which fills settle are kept, too: in the folder `settling` of the cache"),
]);
