//! From the fields of a text to a scene: checks that involve several fields.

mod bodies;
mod controls;
mod doubts;
mod idle;
mod solver;
mod sources;

use std::ops::Range;

use barchan_geometry::sample::Packing;
use barchan_world::spec::{FrictionMeaning, SolverSpec};
use barchan_world::{ContactProperties, Ease, Friction, Material, MaterialId, Materials, Meeting, SETTLED_FRACTION};

use crate::Place;
use crate::fields::{Fields, look_up};
use crate::reader::{Reader, Value, bound};
use crate::scene::{BodyPlan, Camera, CameraKey, Fill, Output, Refine, Scene};
use crate::shapes::unit;
use crate::tables::SCENE;
use crate::written::Written;

/// Default slope of a material's heaps [deg].
const ANGLE: f64 = 38.0;

/// Friction of bodies, and of such a material against them [-], [Sommer22] table of parameters.
const FRICTION: Friction = Friction {
    r#static: 0.35,
    kinetic: 0.30,
};

/// Most materials there can be: their numbers are bytes.
const MATERIALS: usize = MaterialId::MAX as usize + 1;

/// Reads a scene; what is wrong with it is noted. None only if an error was noted.
pub(crate) fn scene<'d>(reader: &Reader<'d>, value: &Value<'d>) -> Option<Scene> {
    let fields = Fields::read(reader, &SCENE, value)?;
    let check = Check {
        reader,
        fields: &fields,
    };
    let (solver, solver_settings) = check.solver();
    let facts = (solver.facts)(&solver_settings);
    let (mut materials, contacts) = check.materials(solver);
    let colors = check.colors();
    let (fills, emitters, sinks) = (
        check.fills(&materials, (!facts.clumps).then_some(solver)),
        check.emitters(&materials),
        check.sinks(),
    );
    let bodies = check.bodies();
    check.meetings(&mut materials, &bodies, solver);
    let joints = check.joints(&bodies);
    let controls = check.controls(&bodies);
    let (cameras, refine) = (check.cameras(), check.refine());
    check.some_guides();
    let mut scene = Scene {
        name: fields.text("name")?.to_owned(),
        duration: fields.number("duration")?,
        frame_rate: fields.number("frame_rate")?,
        seed: fields.count("seed")?,
        gravity: fields.vector("gravity")?,
        periodic: ["x", "y", "z"].map(|axis| fields.table("periodic")?.range(axis)),
        solver,
        solver_settings,
        materials,
        contacts,
        colors,
        fills,
        emitters,
        sinks,
        bodies,
        joints,
        controls,
        cameras,
        refine,
        output: check.output(),
        files: reader.files(),
        written: Written::new(reader, &fields),
    };
    internal_friction(&mut scene);
    check.frames(&scene);
    check.periods(&scene);
    // What is wrong may be what uses the rest.
    if reader.is_good() {
        check.idle(&scene);
        check.doubts(&scene);
    }
    Some(scene)
}

/// Turns a material's `friction` μ into an internal friction: its heaps stand at atan μ, as with `angle_of_repose`, whichever solver moves it. Friction stays that of single
/// contacts where the solver takes it so.
fn internal_friction(scene: &mut Scene) {
    let meaning = scene.facts().friction;
    for (m, material) in scene.materials.all.iter_mut().enumerate() {
        let is_clumped = |fill: &Fill| usize::from(fill.material) == m && fill.clump.is_some();
        let is_of_contacts = match meaning {
            FrictionMeaning::Bulk => false,
            FrictionMeaning::Contact => true,
            FrictionMeaning::ContactOfShapes => {
                scene.contacts[m].rolling_friction.is_some() || scene.fills.iter().any(is_clumped)
            }
        };
        if is_of_contacts {
            continue;
        }
        let slope = f64::from(material.friction.r#static);
        material.angle_of_repose.get_or_insert(slope.atan());
    }
}

/// The reader, and the scene read so far.
struct Check<'r, 'd> {
    reader: &'r Reader<'d>,
    fields: &'r Fields,
}

impl Check<'_, '_> {
    fn error(&self, span: Range<usize>, message: impl Into<String>, help: &str) {
        self.reader
            .error(span, message, (!help.is_empty()).then(|| help.to_owned()));
    }

    fn warn(&self, span: Range<usize>, message: impl Into<String>, help: &str) {
        self.reader
            .warn(span, message, (!help.is_empty()).then(|| help.to_owned()));
    }

    /// A place as `scene.toml:3:1`, for those who build.
    fn place(&self, span: &Range<usize>) -> String {
        let document = self.reader.document();
        match document.place(self.reader.place(span.clone()).start) {
            Place::Text { line, column } => format!("{}:{line}:{column}", document.name),
            Place::Override(assignment) => format!("--set {assignment}"),
        }
    }

    fn materials(&self, solver: &SolverSpec) -> (Materials, Vec<ContactProperties>) {
        let mut materials = Materials::default();
        let mut contacts = Vec::new();
        for (name, item) in self.fields.named("materials").unwrap_or_default() {
            if contacts.len() == MATERIALS {
                self.error(
                    item.span.clone(),
                    format!("there may be {MATERIALS} materials, this is one more"),
                    "",
                );
                break;
            }
            // A wrong material keeps its number and name, so that no other error reports it as missing.
            let table = item.table();
            materials.all.push(self.material(name, table));
            contacts.push(table.map_or(ContactProperties::default(), |table| self.contact(table, solver)));
        }
        for pair in self.fields.tables("pair") {
            self.pair(pair, &mut materials);
        }
        (materials, contacts)
    }

    /// The color of each material, by number.
    fn colors(&self) -> Vec<Option<[u8; 3]>> {
        let named = self.fields.named("materials").unwrap_or_default().iter();
        let color = |(_, item): &(String, crate::fields::Item)| item.table()?.color("color");
        named.take(MATERIALS).map(color).collect()
    }

    fn material(&self, name: &str, table: Option<&Fields>) -> Material {
        let number = |key: &str| table.and_then(|table| table.number(key));
        let density = number("density").unwrap_or(1.0);
        let angle_of_repose = number("angle_of_repose").map(f64::to_radians);
        let given = |key: &str| table.and_then(|table| self.friction(table, key));
        let internal = given("friction");
        let friction = match angle_of_repose {
            // Coulomb: a block rests on a slope up to tan(angle) = friction.
            Some(angle) => Friction {
                r#static: angle.tan() as f32,
                kinetic: angle.tan() as f32,
            },
            None => internal.unwrap_or(FRICTION),
        };
        let friction = given("wall_friction").unwrap_or(friction);
        let angle_of_repose = angle_of_repose.or(internal.is_none().then_some(ANGLE.to_radians()));
        Material {
            name: name.to_owned(),
            density,
            particle_density: number("grain_density").unwrap_or(density / SETTLED_FRACTION),
            friction,
            angle_of_repose,
        }
    }

    fn contact(&self, table: &Fields, solver: &SolverSpec) -> ContactProperties {
        let number = |key: &str| {
            let value = table.number(key)?;
            if !solver.reads(key) {
                self.warn(table.place(key), format!("`{key}` has no effect with {solver}"), "");
            }
            Some(value)
        };
        ContactProperties {
            restitution: number("restitution"),
            youngs_modulus: number("youngs_modulus"),
            poisson_ratio: number("poisson_ratio"),
            rolling_friction: number("rolling_friction"),
            cohesion: number("cohesion"),
            wetness: number("wetness"),
            viscosity: number("viscosity"),
            wet_viscosity: number("wet_viscosity"),
            liquid: number("liquid"),
            surface_tension: number("surface_tension"),
            contact_angle: number("contact_angle").map(f64::to_radians),
        }
    }

    /// The key `key` of friction: one number for both coefficients, or each.
    fn friction(&self, table: &Fields, key: &str) -> Option<Friction> {
        if let Some(both) = table.number(key) {
            return Some(Friction {
                r#static: both as f32,
                kinetic: both as f32,
            });
        }
        let each = table.table(key)?;
        let (r#static, kinetic) = (each.number("static")?, each.number("kinetic")?);
        if kinetic > r#static {
            let message = format!("kinetic friction must not exceed static friction, got {kinetic} and {static}");
            self.error(each.place("kinetic"), message, "");
        }
        Some(Friction {
            r#static: r#static as f32,
            kinetic: kinetic as f32,
        })
    }

    fn pair(&self, pair: &Fields, materials: &mut Materials) -> Option<()> {
        if pair.written("materials").is_none() && (pair.written("material").is_none() || pair.written("body").is_none())
        {
            let help = "add `materials = [\"...\", \"...\"]`, or `material = \"...\"` and `body = \"...\"`";
            self.error(
                pair.span.clone(),
                "pair must have the key `materials`, or `material` and `body`",
                help,
            );
            return None;
        }
        let names = pair.list("materials")?;
        if pair.written("friction").is_none() {
            let help = "add `friction = ...`: of one on the other [-]";
            self.error(pair.span.clone(), "pair must have the key `friction`", help);
        }
        for key in ["restitution", "rolling_friction"] {
            if let Some(span) = pair.written(key) {
                let message = format!("`{key}` has no effect between two materials");
                self.warn(span, message, "set it for each material");
            }
        }
        let id = |item: &crate::fields::Item| self.material_id(item.text()?, materials, item.span.clone());
        let (a, b) = (id(&names[0]), id(&names[1]));
        let friction = self.friction(pair, "friction");
        let (a, b, friction) = (a?, b?, friction?);
        let span = pair.place("materials");
        if a == b {
            let help = "set the friction of the material itself";
            self.error(span, "a pair must be of two materials", help);
        } else if materials.pairs.insert((a.min(b), a.max(b)), friction).is_some() {
            self.error(span, "this pair of materials was said before", "");
        }
        Some(())
    }

    /// Reads the contact properties of materials with bodies, if given.
    fn meetings(&self, materials: &mut Materials, bodies: &[BodyPlan], solver: &SolverSpec) {
        let names: Vec<&str> = bodies.iter().map(|body| body.name.as_str()).collect();
        for pair in self.fields.tables("pair") {
            let (Some(material), Some(body)) = (pair.text("material"), pair.text("body")) else {
                continue;
            };
            let material = self.material_id(material, materials, pair.place("material"));
            // Bodies that are wrong were noted.
            let known = (!names.is_empty()).then(|| look_up(self.reader, "body", body, &names, pair.place("body")));
            let said = ["friction", "restitution", "rolling_friction"];
            if said.iter().all(|key| pair.written(key).is_none()) {
                let message = "pair must have the key `friction`, `restitution` or `rolling_friction`";
                self.error(pair.span.clone(), message, "");
            }
            for key in &said[1..] {
                if let Some(span) = pair.written(key).filter(|_| !solver.reads(key)) {
                    self.warn(span, format!("`{key}` has no effect with {solver}"), "");
                }
            }
            let meeting = Meeting {
                friction: self.friction(pair, "friction"),
                restitution: pair.number("restitution"),
                rolling_friction: pair.number("rolling_friction"),
            };
            if let (Some(material), Some(Some(body))) = (material, known)
                && materials.meetings.insert((material, body), meeting).is_some()
            {
                self.error(
                    pair.place("body"),
                    "this pair of a material and a body was said before",
                    "",
                );
            }
        }
        if names.is_empty() && self.fields.list("body").is_none_or(<[_]>::is_empty) {
            for pair in self.fields.tables("pair") {
                if let Some(span) = pair.written("body") {
                    self.error(span, "the scene has no body", "");
                }
            }
        }
    }

    fn material_id(&self, name: &str, materials: &Materials, span: Range<usize>) -> Option<MaterialId> {
        let names: Vec<&str> = materials.all.iter().map(|material| material.name.as_str()).collect();
        look_up(self.reader, "material", name, &names, span).map(|at| at as MaterialId)
    }

    /// Notes a run, or settling before it, that would not end.
    fn frames(&self, scene: &Scene) {
        let refuse = |span: Range<usize>, time: f64, help: &str| {
            let frames = time * scene.frame_rate;
            if frames > Scene::MOST_FRAMES as f64 {
                let most = bound(Scene::MOST_FRAMES as f64);
                let message = format!(
                    "{time} s at {} frames per second are {frames:.3e} frames; allowed are {most}",
                    scene.frame_rate
                );
                self.error(span, message, help);
            }
        };
        refuse(
            self.fields.place("duration"),
            scene.duration,
            "shorten `duration`, or lower `frame_rate`",
        );
        for table in self.fields.tables("fill") {
            let settle = table.number("settle").unwrap_or_default();
            refuse(table.place("settle"), settle, "shorten `settle`, or lower `frame_rate`");
        }
    }

    /// Notes periodic ranges in which guides would meet their own images.
    fn periods(&self, scene: &Scene) {
        let Some(table) = self.fields.table("periodic") else {
            return;
        };
        let facts = scene.facts();
        let Some(shortest) = facts.shortest_period else {
            let message = format!("{} has no periodic axes", scene.solver);
            self.error(table.span.clone(), message, "remove them, or take another solver");
            return;
        };
        let Some(largest) = scene.largest_radius() else { return };
        let radii = match facts.clumps {
            true => shortest * scene.largest_extent(),
            false => shortest,
        };
        for (axis, range) in ["x", "y", "z"].iter().zip(scene.periodic) {
            let Some([low, high]) = range.filter(|[low, high]| high - low < radii * largest) else {
                continue;
            };
            let message = format!(
                "a periodic range must be at least {:.3e} m long, {radii} radii of the largest guide with {}, got {:.3e} m",
                radii * largest,
                scene.solver,
                high - low
            );
            self.error(table.place(axis), message, "widen it, or make guides smaller");
        }
    }

    fn some_guides(&self) {
        let none = |key: &str| self.fields.list(key).is_none_or(<[_]>::is_empty);
        if none("fill") && none("emitter") && self.fields.written("fill").is_none() {
            let span = self.reader.begin();
            self.warn(span, "the scene has no guides", "add a `[[fill]]` or an `[[emitter]]`");
        }
    }

    fn cameras(&self) -> Vec<Camera> {
        let mut names = Vec::new();
        let mut cameras = Vec::new();
        for table in self.fields.tables("camera") {
            let Some(camera) = self.camera(table) else { continue };
            if names.contains(&camera.name) {
                let message = format!("there is a camera `{}` before", camera.name);
                self.error(table.place("name"), message, "");
            }
            names.push(camera.name.clone());
            cameras.push(camera);
        }
        cameras
    }

    fn camera(&self, table: &Fields) -> Option<Camera> {
        let mut view = CameraKey {
            time: 0.0,
            position: table.vector("position")?,
            target: table.vector("target")?,
            fov: table.number("fov")?.to_radians(),
            ease: Ease::Smooth,
        };
        let mut keys = Vec::new();
        self.ascending(table);
        for key in table.tables("keys") {
            view = CameraKey {
                time: key.number("time")?,
                position: key.vector("position").unwrap_or(view.position),
                target: key.vector("target").unwrap_or(view.target),
                fov: key.number("fov").map_or(view.fov, f64::to_radians),
                ease: ease(key.text("ease")?),
            };
            keys.push(view);
        }
        if keys.is_empty() {
            keys.push(view);
        }
        if let Some(key) = keys.iter().find(|key| key.position == key.target) {
            let message = format!("a camera cannot look at where it is, {}", key.position);
            self.error(table.place("target"), message, "");
        }
        Some(Camera {
            name: table.text("name")?.to_owned(),
            up: unit(table.vector("up")?),
            keys,
        })
    }

    /// Notes keys that are not in the order of their times.
    fn ascending(&self, table: &Fields) {
        let mut last = f64::NEG_INFINITY;
        for key in table.tables("keys") {
            let Some(time) = key.number("time") else { continue };
            if time <= last {
                let message = format!("keys must be in the order of their times, got {time} after {last}");
                self.error(key.place("time"), message, "");
            }
            last = time;
        }
    }

    fn refine(&self) -> Option<Refine> {
        let table = self.fields.table("refine")?;
        let packing = table.text("packing");
        self.steps(table);
        if let (Some(_), Some("support")) = (table.written("packing"), table.text("seeding")) {
            let message = "`packing` has no effect: grains are seeded about guides";
            self.warn(
                table.place("packing"),
                message,
                "remove it, or set seeding = \"volume\"",
            );
        }
        Some(Refine {
            radii: self.radii(table)?,
            packing: packing.and_then(|word| Packing::ALL.iter().find(|p| p.0 == word).map(|p| p.1)),
            settings: table.settings(),
        })
    }

    fn output(&self) -> Output {
        let Some(table) = self.fields.table("output") else {
            return Output::default();
        };
        let kept = |name: &str| match table.list("cache") {
            Some(list) => list.iter().any(|item| item.text() == Some(name)),
            None => true,
        };
        let listed = |name: &str| table.list("cache").is_some() && kept(name);
        Output {
            guides: kept("guides"),
            grains: kept("grains"),
            bodies: kept("bodies"),
            contacts: listed("contacts"),
            fields: listed("fields"),
            field_cell: table.number("field_cell"),
            grains_every: table.count("grains_every").unwrap_or(1),
            compact: table.flag("compact").unwrap_or(false),
            settling: table.flag("settling").unwrap_or(false),
        }
    }
}

/// Meaning of a word of [`BODY_EASES`](crate::tables::BODY_EASES).
fn ease(word: &str) -> Ease {
    match word {
        "smooth" => Ease::Smooth,
        "spline" => Ease::Spline,
        _ => Ease::Linear,
    }
}
