//! Fills, emitters and sinks.

use std::ops::Range;
use std::sync::Arc;

use barchan_geometry::clump::{Clump, ClumpError};
use barchan_geometry::sample::{Packing, Particles, Radii};
use barchan_geometry::text::short;
use barchan_geometry::{Aabb, Shape};
use barchan_world::{Emitter, Materials, SETTLED_FRACTION, Sink};

use super::Check;
use crate::build::{LIGHTEST, solid_of};
use crate::fields::{Fields, Item, look_up};
use crate::reader::bound;
use crate::scene::{Fill, FillSource};
use crate::start::Start;
use crate::tables::CLUMPS;
use crate::{points, room};
use barchan_world::spec::SolverSpec;
use barchan_world::spec::quantities::{FARTHEST, RADII};

/// Depth, of a guide's radius, at which fills that lie in each other are warned of [-].
pub(super) const OVERLAP: f64 = 0.25;

/// Edge of the clumps that need no saying, of a sphere's radius [-]: they interlock, and have no holes.
const EDGE: f64 = 1.4;
/// Default radius of the spheres that cover a clump's shape, as a fraction of the cube root of its volume [-].
const FINENESS: f64 = 0.15;

impl Check<'_, '_> {
    /// The fills. `clumpless` is the solver if it has no clumps.
    pub(super) fn fills(&self, materials: &Materials, clumpless: Option<&SolverSpec>) -> Vec<Fill> {
        let tables: Vec<&Fields> = self.fields.tables("fill").collect();
        let read: Vec<Option<Fill>> = tables
            .iter()
            .map(|table| self.fill(table, materials, clumpless))
            .collect();
        let shapes: Vec<(usize, &Arc<dyn Shape>, f64)> = read
            .iter()
            .enumerate()
            .filter_map(|(k, fill)| match &fill.as_ref()?.source {
                FillSource::Shape { shape, radii, .. } => Some((k, shape, radii.min())),
                FillSource::Points(_) => None,
            })
            .collect();
        for (at, (k, shape, radius)) in shapes.iter().enumerate() {
            for (other, lower, _) in &shapes[..at] {
                if room::overlap(&***shape, &***lower, OVERLAP * radius) {
                    let message = format!("fill {k} overlaps fill {other}: guides there lie in each other");
                    self.warn(tables[*k].place("shape"), message, "subtract one shape from the other");
                }
            }
        }
        read.into_iter().flatten().collect()
    }

    fn fill(&self, table: &Fields, materials: &Materials, clumpless: Option<&SolverSpec>) -> Option<Fill> {
        let material = table
            .text("material")
            .and_then(|name| self.material_id(name, materials, table.place("material")));
        let radii = table.written("radius").map(|_| self.radii(table));
        let clump = match table.text("clump") {
            Some(name) => Some(self.clump(name, table.place("clump"))?),
            None => None,
        };
        if let (Some(name), Some(solver)) = (table.text("clump"), clumpless) {
            let message = format!("{solver} has no clumps: each {name} is replaced by the sphere of equal volume");
            self.warn(table.place("clump"), message, "");
        }
        let source = match (table.written("shape"), table.written("from")) {
            (Some(_), _) => self.shape_source(table, radii),
            (None, Some(_)) => self.point_source(table, radii),
            (None, None) => {
                self.error(
                    table.span.clone(),
                    "fill must have the key `shape` or `from`",
                    "add `shape = { ... }`",
                );
                None
            }
        };
        let is_fixed = table.flag("fixed")?;
        if let (Some(span), true) = (table.written("velocity"), is_fixed) {
            self.warn(span, "`velocity` has no effect on guides that never move", "");
        }
        if let (Some(span), true) = (table.written("clump"), is_fixed) {
            self.error(
                span,
                "guides that never move cannot be clumps",
                "remove `clump`, or use a `[[body]]`",
            );
        }
        Some(Fill {
            material: material?,
            source: source?,
            velocity: table.vector("velocity").filter(|_| !is_fixed).unwrap_or_default(),
            is_fixed,
            settle: table.number("settle")?,
            is_tight: clump.is_some() && table.written("packing").is_some() && table.text("packing") == Some("dense"),
            clump,
            place: self.place(&table.span),
        })
    }

    /// The rigid group of spheres called `name`.
    fn clump(&self, name: &str, span: Range<usize>) -> Option<Arc<Clump>> {
        let said = self.fields.named("clumps").unwrap_or_default();
        let names: Vec<&str> = CLUMPS
            .iter()
            .copied()
            .chain(said.iter().map(|c| c.0.as_str()))
            .collect();
        let at = look_up(self.reader, "clump", name, &names, span.clone())?;
        let made = match at {
            0 => Clump::tetrahedron(EDGE),
            1 => Clump::cube(EDGE),
            _ => {
                let table = said[at - CLUMPS.len()].1.table()?;
                match table.written("shape") {
                    Some(_) => self.covered(table)?,
                    None => {
                        let member = |t: &Fields| Some((t.vector("at")?, t.number("radius")?));
                        let spheres: Option<Vec<_>> = table.tables("spheres").map(member).collect();
                        Clump::of_spheres(&spheres?)
                    }
                }
            }
        };
        made.map_err(|error| self.error(span, error.to_string(), ""))
            .ok()
            .map(Arc::new)
    }

    /// The clump whose spheres cover the shape of `table`.
    fn covered(&self, table: &Fields) -> Option<Result<Clump, ClumpError>> {
        let placed = table.shape("shape")?;
        let (surface, whole) = match solid_of(placed) {
            Ok(found) => found,
            Err(message) => {
                self.error(table.place("shape"), message, "");
                return None;
            }
        };
        let radius = table.number("sphere_radius").unwrap_or(FINENESS * whole.volume.cbrt());
        Some(Clump::of_surface(&*placed.unplaced, &surface, &whole, radius))
    }

    fn shape_source(&self, table: &Fields, radii: Option<Option<Radii>>) -> Option<FillSource> {
        let Some(radii) = radii else {
            let help = "add `radius = ...`: of the guides [m]";
            self.error(table.span.clone(), "fill must have the key `radius`", help);
            return None;
        };
        let placed = table.shape("shape")?;
        let radii = radii?;
        self.roomy(table, &*placed.whole, &radii)?;
        let packing = table.text("packing")?;
        let packing = Packing::ALL.iter().find(|(name, _)| *name == packing)?.1;
        Some(FillSource::Shape {
            shape: placed.whole.clone(),
            packing,
            radii,
            volume: placed.mesh.as_ref().map(|mesh| mesh.properties.volume),
        })
    }

    fn point_source(&self, table: &Fields, radii: Option<Option<Radii>>) -> Option<FillSource> {
        let span = table.place("from");
        if let Some(packing) = table.written("packing") {
            self.warn(packing, "`packing` has no effect on points from a file", "");
        }
        let name = table.text("from")?;
        let path = self.reader.document().folder.join(name);
        let file = match points::read(&path) {
            Ok(file) => {
                self.reader.note_file(name, file.checksum());
                file
            }
            Err(message) => {
                self.error(span, message, "");
                return None;
            }
        };
        if !near(Aabb::of_points(file.positions.iter().copied())) {
            self.error(span, format!("points must lie within {FARTHEST:e} m of zero"), "");
            return None;
        }
        let is_out = |r: &&f64| !(RADII[0]..=RADII[1]).contains(*r);
        if let Some(radius) = file.radii.as_ref().and_then(|radii| radii.iter().find(is_out)) {
            let [least, most] = RADII.map(bound);
            let message = format!("{}: a radius must be {least} to {most} m, got {radius}", path.display());
            self.error(span, message, "");
            return None;
        }
        let radii = match (file.radii, radii) {
            (Some(radii), said) => {
                if said.is_some() {
                    self.warn(
                        table.place("radius"),
                        "`radius` has no effect: the file has its own",
                        "",
                    );
                }
                radii
            }
            (None, Some(said)) => {
                let said = said?;
                let count = file.positions.len();
                // Any order of the quantiles has the distribution; the golden ratio spreads sizes over neighbors.
                let share = |k: usize| (0.618_033_988_749_895 * k as f64).fract();
                (0..count).map(|k| said.quantile(share(k))).collect()
            }
            (None, None) => {
                self.error(span, "the file has no radii", "add `radius = ...`: of the guides [m]");
                return None;
            }
        };
        Some(FillSource::Points(Particles {
            positions: file.positions,
            radii,
        }))
    }

    pub(super) fn start(&self) -> Option<Start> {
        let table = self.fields.table("start")?;
        for fill in self.fields.tables("fill") {
            if fill.number("settle").is_some_and(|time| time > 0.0) {
                let message = "a scene that begins with the frame of another run cannot settle";
                self.error(fill.place("settle"), message, "remove `settle`, or `start`");
            }
        }
        Some(Start {
            cache: self.reader.document().folder.join(table.text("cache")?),
            frame: table.count("frame"),
            contents: None,
        })
    }

    pub(super) fn emitters(&self, materials: &Materials) -> Vec<Emitter> {
        let emitter = |table: &Fields| self.emitter(table, materials);
        self.fields.tables("emitter").filter_map(emitter).collect()
    }

    fn emitter(&self, table: &Fields, materials: &Materials) -> Option<Emitter> {
        let material = table
            .text("material")
            .and_then(|name| self.material_id(name, materials, table.place("material")));
        let radii = self.radii(table);
        let placed = table.shape("shape");
        if let (Some(placed), Some(radii)) = (placed, &radii) {
            self.roomy(table, &*placed.whole, radii)?;
        }
        if let (Some(material), Some(radii)) = (material, &radii) {
            let volume = 4.0 / 3.0 * std::f64::consts::PI * radii.min().powi(3);
            let mass = materials.all[usize::from(material)].density * volume / SETTLED_FRACTION;
            if mass < LIGHTEST {
                let message =
                    format!("guides of this emitter weigh {mass:.1e} kg; the lightest may weigh {LIGHTEST:e} kg");
                self.error(table.place("radius"), message, "make the radius larger");
            }
        }
        let start = table.number("start")?;
        let end = table.number("end").unwrap_or(f64::INFINITY);
        if end <= start {
            let message = format!("an emitter must end after it starts, at {start} s, got {end}");
            self.error(table.place("end"), message, "");
        }
        if let Some(duration) = self.fields.number("duration").filter(|duration| start >= *duration) {
            let message = format!("the emitter starts when the scene is over, at {duration} s");
            self.warn(table.place("start"), message, "");
        }
        Some(Emitter {
            shape: placed?.whole.clone(),
            material: material?,
            radii: radii?,
            rate: table.number("rate")?,
            velocity: table.vector("velocity")?,
            start,
            end,
            owed: 0.0,
        })
    }

    pub(super) fn sinks(&self) -> Vec<Sink> {
        let sink = |table: &Fields| {
            Some(Sink {
                shape: table.shape("shape")?.whole.clone(),
            })
        };
        self.fields.tables("sink").filter_map(sink).collect()
    }

    /// Notes a shape that has no end, or no room for a guide.
    fn roomy(&self, table: &Fields, shape: &dyn Shape, radii: &Radii) -> Option<()> {
        let bounds = shape.bounds();
        let span = table.place("shape");
        if !bounds.is_empty() && !bounds.is_finite() {
            let help = "put it into `intersect = [...]` with a box";
            self.error(span, "a shape for guides must have an end", help);
            return None;
        }
        let largest = radii.max();
        if !room::fits(shape, largest) {
            let message = format!("no guide of radius {} m fits into this shape", short(largest));
            self.error(span, message, "make the shape larger or the radius smaller");
            return None;
        }
        Some(())
    }

    /// The key `radius`: one for all, a range, or a weighted list.
    pub(super) fn radii(&self, table: &Fields) -> Option<Radii> {
        let span = table.place("radius");
        let radii = match (table.number("radius"), table.table("radius")) {
            (Some(radius), _) => Radii::one(radius),
            (None, Some(each)) => match (each.number("min"), each.number("max"), each.list("list")) {
                (Some(min), Some(max), None) => Radii::range(min, max),
                (None, None, Some(list)) => Radii::list(&self.weighted(each, list)?),
                (None, None, None) if each.written("list").is_some() => return None,
                _ => {
                    let message = "radius must have `min` and `max`, or `list`";
                    self.error(each.span.clone(), message, "for example { min = 0.01, max = 0.02 }");
                    return None;
                }
            },
            (None, None) => return None,
        };
        match radii {
            Ok(radii) => Some(radii),
            Err(error) => {
                self.error(span, error.to_string(), "");
                None
            }
        }
    }

    fn weighted(&self, table: &Fields, list: &[Item]) -> Option<Vec<(f64, f64)>> {
        let radii: Option<Vec<f64>> = list.iter().map(Item::number).collect();
        let radii = radii?;
        let weights = match table.list("weights") {
            Some(weights) => weights.iter().map(Item::number).collect::<Option<Vec<f64>>>()?,
            None => vec![1.0; radii.len()],
        };
        if weights.len() != radii.len() {
            let message = format!(
                "there must be a weight for each radius, got {} for {}",
                weights.len(),
                radii.len()
            );
            self.error(table.place("weights"), message, "");
            return None;
        }
        Some(radii.into_iter().zip(weights).collect())
    }
}

fn near(bounds: Aabb) -> bool {
    bounds.min.abs().max(bounds.max.abs()).max_element() <= FARTHEST
}
