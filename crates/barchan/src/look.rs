//! Pictures of frames.

use std::borrow::Cow;

use barchan_geometry::Aabb;
use barchan_io::{Cache, CacheError};
use barchan_render::{
    Backdrop, Camera, Colors, Framing, GrainMaterial, Grains, Image, Layers, Legend, Mesh, Picture, Radii, Renderer,
    Seen, Spheres, linear,
};
use barchan_world::{BodyState, Column, Frame, Table};
use glam::{Affine3A, DAffine3, DMat4, DQuat, DVec3, Vec3};
use rayon::prelude::*;
use thiserror::Error;

use crate::clumps::Drawn;
use crate::coloring::{self, Coloring, Span};
use crate::grain_look;
use crate::stage::{BodySurface, Stage, StageError};

/// Reason why a picture cannot be drawn.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LookError {
    /// The cache cannot be read.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// The data beside the frames of the cache cannot be read.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// The picture cannot be rendered.
    #[error(transparent)]
    Render(#[from] barchan_render::Error),
    /// There is no such column.
    #[error("the {particles} of frame {frame} have no column `{column}`; there are: {present}")]
    NoColumn {
        /// Guides or grains.
        particles: &'static str,
        /// Frame number.
        frame: u64,
        /// Requested column.
        column: String,
        /// Available columns.
        present: String,
    },
    /// The frame has no grains to compare with.
    #[error("frame {frame} has no grains to compare with; `barchan refine` makes them")]
    NoGrains {
        /// Frame number.
        frame: u64,
    },
    /// There is no such camera.
    #[error("there is no camera `{name}`; there are: {present}")]
    NoCamera {
        /// Requested name.
        name: String,
        /// Available cameras.
        present: String,
    },
    /// Layers hold one picture of surfaces.
    #[error("layers hold one picture of surfaces: no two pictures side by side, no lines")]
    Flat,
    /// The picture is too narrow for two side by side.
    #[error("two pictures side by side need at least 2 pixels of width, got {width}")]
    Narrow {
        /// Requested width [px].
        width: u32,
    },
}

/// Particles to draw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Show {
    /// Grains where there are any, otherwise guides.
    #[default]
    Finest,
    /// Guides.
    Guides,
    /// Guides on the left, grains on the right.
    Compare,
}

/// Viewpoint of a picture: a camera of the scene, with changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Viewpoint {
    /// Name of the camera; by default the first one. [`FIT`] frames the scene.
    pub camera: Option<String>,
    /// Position that replaces the camera's [m].
    pub position: Option<DVec3>,
    /// Target that replaces the camera's [m].
    pub target: Option<DVec3>,
    /// Vertical field of view that replaces the camera's [rad].
    pub fov: Option<f64>,
    /// Extent that a framing camera shows, see [`Stage::include`]; by default that of the frame being drawn.
    pub framing: Option<Framing>,
}

/// Name of the camera that frames the scene.
pub const FIT: &str = "fit";

/// Appearance of pictures.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// Width and height [px].
    pub size: [u32; 2],
    /// Particles to draw.
    pub show: Show,
    /// Viewpoint.
    pub viewpoint: Viewpoint,
    /// Meaning of the colors.
    pub coloring: Coloring,
    /// Draws bodies as lines, so that the sand behind them is visible.
    pub wireframe: bool,
}

impl Look {
    /// Returns width / height of each picture; of one of the two if they are side by side.
    fn aspect(&self) -> f32 {
        let [width, height] = self.size;
        let width = if self.show == Show::Compare { width / 2 } else { width };
        width.max(1) as f32 / height.max(1) as f32
    }
}

impl Default for Look {
    fn default() -> Self {
        Self {
            size: [1280, 720],
            show: Show::Finest,
            viewpoint: Viewpoint::default(),
            coloring: Coloring::Material,
            wireframe: false,
        }
    }
}

/// Default colors of bodies in linear RGB, used in turn.
const BODY_COLORS: [[f32; 3]; 5] = [
    [0.80, 0.45, 0.05],
    [0.10, 0.16, 0.25],
    [0.35, 0.07, 0.05],
    [0.12, 0.25, 0.14],
    [0.30, 0.30, 0.32],
];

/// Distance of a scene's center from the origin, in sizes of the scene, beyond which positions are made relative to the
/// center [-]: single precision.
const MAX_OFFSET: f64 = 16.0;

/// Distance from the box around most particles and the bodies, in its diagonals, beyond which a particle is a stray and
/// ignored by the framing camera [-].
const STRAY: f64 = 4.0;
/// Share of the particles beyond each face of that box: 1 / `OUTER` [-].
const OUTER: usize = 200;
/// Largest number of particles sampled for that box.
const MAX_SAMPLED: usize = 20_000;

/// Reads frame `number` of a cache, with the particles that `show` needs.
pub fn read_frame(cache: &Cache, number: u64, show: Show) -> Result<Frame, LookError> {
    let grains = match show {
        Show::Guides => None,
        Show::Finest | Show::Compare => present(cache.read_grains(number))?,
    };
    let guides = match (show, &grains) {
        (Show::Finest, Some(_)) => Table::default(),
        _ => cache.read_guides(number)?,
    };
    let entry = cache.frames().iter().find(|entry| entry.frame == number);
    Ok(Frame {
        number,
        time: entry.map_or(0.0, |entry| entry.time),
        guides,
        grains,
        bodies: present(cache.read_bodies(number))?.unwrap_or_default(),
        ..Frame::default()
    })
}

/// Maps data that a cache does not keep to `None`.
fn present<T>(read: Result<T, CacheError>) -> Result<Option<T>, CacheError> {
    match read {
        Ok(found) => Ok(Some(found)),
        Err(CacheError::NoFrame { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

impl Stage {
    /// Draws a frame, with a legend of the colors.
    pub fn draw(&self, frame: &Frame, look: &Look, renderer: &mut Renderer) -> Result<Image, LookError> {
        let (mut image, legend) = self.draw_bare(frame, look, renderer)?;
        if let Some(legend) = legend {
            legend.draw(&mut image);
        }
        Ok(image)
    }

    /// Draws a frame and returns the legend separately.
    pub fn draw_bare(
        &self,
        frame: &Frame,
        look: &Look,
        renderer: &mut Renderer,
    ) -> Result<(Image, Option<Legend>), LookError> {
        let [width, height] = look.size;
        Ok(match (look.show, &frame.grains) {
            (Show::Compare, None) => return Err(LookError::NoGrains { frame: frame.number }),
            (Show::Compare, Some(grains)) => {
                if width < 2 {
                    return Err(LookError::Narrow { width });
                }
                let (left, legend) =
                    self.draw_table(frame, "guides", &frame.guides, look, renderer, [width / 2, height])?;
                let (right, _) =
                    self.draw_table(frame, "grains", grains, look, renderer, [width - width / 2, height])?;
                (left.beside(&right), legend)
            }
            (Show::Finest, Some(grains)) => self.draw_table(frame, "grains", grains, look, renderer, look.size)?,
            _ => self.draw_table(frame, "guides", &frame.guides, look, renderer, look.size)?,
        })
    }

    /// Extends a framing camera so that it also shows all of `frame`; no effect on other cameras.
    ///
    /// The frames of a movie are all included before the first one is drawn, so that the camera stands still.
    pub fn include(&self, frame: &Frame, look: &mut Look) -> Result<(), LookError> {
        if !self.is_framing(&look.viewpoint) {
            return Ok(());
        }
        let tables: &[(&'static str, &Table)] = match (look.show, &frame.grains) {
            (Show::Compare, Some(grains)) => &[("guides", &frame.guides), ("grains", grains)],
            (Show::Finest, Some(grains)) => &[("grains", grains)],
            _ => &[("guides", &frame.guides)],
        };
        for (particles, table) in tables {
            let (positions, radii) = spheres(frame, particles, table)?;
            let drawn = Drawn::new(&self.plan.clumps, table, Cow::Borrowed(positions), radii);
            let framing = self.framing(&look.viewpoint, look.aspect());
            let framing = self.frame_all(framing, &drawn, &frame.bodies, DVec3::ZERO);
            look.viewpoint.framing = Some(framing);
        }
        Ok(())
    }

    /// Extends a framing camera to the objects before the first frame and to the places where guides appear.
    pub fn include_start(&self, look: &mut Look) {
        if self.is_framing(&look.viewpoint)
            && let Some([low, high]) = self.plan.bounds
        {
            let mut framing = self.framing(&look.viewpoint, look.aspect());
            framing.add_bounds(&Aabb::new(low.into(), high.into()));
            look.viewpoint.framing = Some(framing);
        }
    }

    /// Returns position [m], target [m] and vertical field of view [rad] of a viewpoint at `time` [s], for a picture of
    /// width / height `aspect`.
    pub fn view(&self, viewpoint: &Viewpoint, time: f64, aspect: f32) -> Result<(DVec3, DVec3, f64), LookError> {
        let bounds = self.bounds(&[]);
        let origin = origin(&bounds);
        let camera = self.camera(viewpoint, time, origin, || {
            let mut framing = self.framing(viewpoint, aspect);
            framing.add_bounds(&bounds);
            framing
        })?;
        Ok((
            camera.position.as_dvec3() + origin,
            camera.target.as_dvec3() + origin,
            f64::from(camera.vertical_fov),
        ))
    }

    /// Returns the columns of a frame that colors can show, `speed` first. Grains take columns that they lack from
    /// their guides.
    pub fn columns(frame: &Frame, show: Show) -> Vec<String> {
        let grains = frame.grains.iter().filter(|_| show != Show::Guides);
        let mut names: Vec<String> = Vec::new();
        for name in grains.chain([&frame.guides]).flat_map(coloring::names) {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        names
    }

    /// Returns true if `column` is drawn on grains that lack it and take it from the nearest guide.
    pub fn is_followed(frame: &Frame, show: Show, column: &str) -> bool {
        let to_come = frame.grains.is_some() && coloring::is_to_come(frame, column);
        show != Show::Guides && (to_come || coloring::is_followed(frame, column))
    }

    /// Returns true if no particle has `column` before the first step but may have it after that.
    pub fn is_to_come(frame: &Frame, column: &str) -> bool {
        coloring::is_to_come(frame, column)
    }

    /// Returns the span of a column in a frame: the default range of the legend.
    pub fn span(frame: &Frame, show: Show, column: &str) -> Result<Span, LookError> {
        let (particles, table) = match &frame.grains {
            Some(grains) if show != Show::Guides && !coloring::is_followed(frame, column) => ("grains", grains),
            _ => ("guides", &frame.guides),
        };
        match coloring::values(table, column) {
            Some(values) => Ok(Span::of(&values)),
            None => Err(no_column(frame, particles, column)),
        }
    }

    /// Draws a frame in layers for compositing, on the CPU. There is no legend; meshes have the numbers of their bodies.
    pub fn draw_layers(&self, frame: &Frame, look: &Look, backdrop: Backdrop) -> Result<Layers, LookError> {
        let (particles, table) = match (look.show, &frame.grains) {
            _ if look.wireframe || look.show == Show::Compare => return Err(LookError::Flat),
            (Show::Finest, Some(grains)) => ("grains", grains),
            _ => ("guides", &frame.guides),
        };
        let [width, height] = look.size;
        let draw = |picture: &Picture, _: DVec3| Ok(barchan_render::render_layers(picture, width, height, backdrop)?);
        let (mut layers, _) = self.with_picture(frame, particles, table, look, look.size, draw)?;
        let bodies: Vec<u32> = self.shown(&frame.bodies).map(|(index, ..)| index as u32).collect();
        for pixel in &mut layers.pixels {
            if let Seen::Mesh(mesh) = &mut pixel.seen {
                *mesh = bodies[*mesh as usize];
            }
        }
        Ok(layers)
    }

    fn draw_table(
        &self,
        frame: &Frame,
        particles: &'static str,
        table: &Table,
        look: &Look,
        renderer: &mut Renderer,
        size: [u32; 2],
    ) -> Result<(Image, Option<Legend>), LookError> {
        self.with_picture(frame, particles, table, look, size, |picture, origin| {
            let mut image = renderer.render(picture, size[0], size[1])?;
            if look.wireframe {
                self.draw_wires(&mut image, &frame.bodies, origin, &picture.camera)?;
            }
            Ok(image)
        })
    }

    /// Calls `draw` with the picture of a table's particles, relative to the given origin, and returns the legend too.
    fn with_picture<T>(
        &self,
        frame: &Frame,
        particles: &'static str,
        table: &Table,
        look: &Look,
        [width, height]: [u32; 2],
        draw: impl FnOnce(&Picture, DVec3) -> Result<T, LookError>,
    ) -> Result<(T, Option<Legend>), LookError> {
        let (positions, radii) = spheres(frame, particles, table)?;
        let bounds = self.bounds(positions);
        let origin = origin(&bounds);
        let positions: Cow<[Vec3]> = if origin == DVec3::ZERO {
            Cow::Borrowed(positions)
        } else {
            positions.iter().map(|p| (p.as_dvec3() - origin).as_vec3()).collect()
        };
        let drawn = Drawn::new(&self.plan.clumps, table, positions, radii);
        let materials = self.grain_materials();
        let (colored, legend) = match &look.coloring {
            Coloring::Material => (None, None),
            Coloring::Column { name, range, span, map } => {
                let followed = particles == "grains" && coloring::is_followed(frame, name);
                let values = match followed {
                    true => coloring::follow(frame, table, name),
                    false => coloring::values(table, name),
                };
                let span = match (*span, *range) {
                    (Some(span), _) => span,
                    // A movie begins before the first step.
                    (None, Some(range)) if coloring::is_to_come(frame, name) => Span { range, extremes: range },
                    _ if values.is_none() => return Err(no_column(frame, particles, name)),
                    _ => Self::span(frame, look.show, name)?,
                };
                let values = values.unwrap_or_else(|| vec![f32::NAN; radii.len()]);
                let legend = coloring::legend(name, *range, span, *map);
                let colors = coloring::colors(&drawn.spread(&values), legend.range, *map);
                (Some(colors), Some(legend))
            }
        };
        let kinds = match table.column("material") {
            Some(Column::U8(kinds)) => Some(kinds.as_slice()),
            _ => None,
        };
        let wetness = match colored {
            None => self.wetness(frame, table, kinds),
            Some(_) => None,
        };
        let (kinds, wetness) = (
            kinds.map(|kinds| drawn.spread(kinds)),
            wetness.as_ref().map(|wetness| drawn.spread(wetness)),
        );
        let ids = match table.column("id") {
            Some(Column::U32(ids)) => Some(drawn.spread(ids)),
            _ => None,
        };
        let colors = match &colored {
            Some(colors) => Colors::Each(colors),
            None => Colors::Grains(Grains {
                materials: &materials,
                kinds: kinds.as_deref(),
                wetness: wetness.as_deref(),
                // Guides are the balls that solvers move.
                shaped: particles == "grains",
            }),
        };
        let picture = Picture {
            spheres: Spheres {
                positions: &drawn.positions,
                radii: Radii::Each(&drawn.radii),
                colors,
                ids: ids.as_deref(),
            },
            meshes: if look.wireframe {
                Vec::new()
            } else {
                self.meshes(&frame.bodies, origin)
            },
            ground: self.plan.ground.map(|height| (height - origin.z) as f32),
            camera: self.camera(&look.viewpoint, frame.time, origin, || match look.viewpoint.framing {
                Some(framing) => framing,
                None => {
                    let blank = self.framing(&look.viewpoint, width as f32 / height.max(1) as f32);
                    self.frame_all(blank, &drawn, &frame.bodies, origin)
                }
            })?,
            sun: barchan_render::Sun::default(),
        };
        Ok((draw(&picture, origin)?, legend))
    }

    /// Returns the bounds of the stage at time 0, or of the current frame if there are none.
    fn bounds(&self, positions: &[Vec3]) -> Aabb {
        match self.plan.bounds {
            Some([low, high]) => Aabb::new(low.into(), high.into()),
            None => Aabb::of_points(positions.iter().map(|p| p.as_dvec3())),
        }
    }

    /// Returns the materials of grains, at least one.
    pub(crate) fn grain_materials(&self) -> Vec<GrainMaterial> {
        grain_look::materials(&self.plan.looks, &self.plan.materials)
    }

    /// Returns the wetness of each row of `table`, if the frame has it. `kinds`: the materials of the rows.
    pub(crate) fn wetness(&self, frame: &Frame, table: &Table, kinds: Option<&[u8]>) -> Option<Vec<f32>> {
        grain_look::wetness(&self.plan.looks, frame, table, kinds)
    }

    /// Returns the sRGB color of a body's lines: its own, brightened to stand out against sand.
    pub(crate) fn wire_color(&self, body: usize) -> [u8; 3] {
        let color = self.plan.bodies[body].color.unwrap_or([0x20, 0x30, 0x48]);
        color.map(|c| c / 2)
    }

    /// Returns the linear RGB color of a body's surface; a body that the stage does not know has the first default.
    pub(crate) fn body_color(&self, name: &str) -> [f32; 3] {
        let index = self.plan.bodies.iter().position(|body| body.name == name);
        let color = index.and_then(|index| self.plan.bodies[index].color);
        color.map_or(BODY_COLORS[index.unwrap_or(0) % BODY_COLORS.len()], linear)
    }

    /// Returns the bodies that have a surface: index, state and surface.
    fn shown<'a>(&'a self, bodies: &'a [BodyState]) -> impl Iterator<Item = (usize, &'a BodyState, &'a BodySurface)> {
        bodies.iter().filter_map(|state| {
            let index = self.plan.bodies.iter().position(|body| body.name == state.name)?;
            Some((index, state, self.surfaces[index].as_ref()?))
        })
    }

    fn meshes<'a>(&'a self, bodies: &'a [BodyState], origin: DVec3) -> Vec<Mesh<'a>> {
        let mesh = |(index, state, surface): (usize, &BodyState, &'a BodySurface)| {
            let body = &self.plan.bodies[index];
            Mesh {
                vertices: &surface.vertices,
                triangles: &surface.mesh.triangles,
                pose: pose(state, origin),
                color: self.body_color(&state.name),
                opacity: body.opacity as f32,
            }
        };
        self.shown(bodies).map(mesh).collect()
    }

    /// Returns true if the camera of a viewpoint frames the scene, so that [`Stage::include`] has an effect.
    pub fn is_framing(&self, viewpoint: &Viewpoint) -> bool {
        let fits = match viewpoint.camera.as_deref() {
            None => self.cameras.is_empty(),
            Some(name) => name == FIT,
        };
        fits && (viewpoint.position.is_none() || viewpoint.target.is_none())
    }

    /// Returns the extent that the camera of a viewpoint frames so far.
    fn framing(&self, viewpoint: &Viewpoint, aspect: f32) -> Framing {
        let fov = viewpoint.fov.map_or(Camera::default().vertical_fov, |fov| fov as f32);
        viewpoint.framing.unwrap_or_else(|| Framing::new(aspect, fov))
    }

    /// Adds spheres, bodies and the ground below them. Positions of spheres are relative to `origin`.
    fn frame_all(&self, framing: Framing, drawn: &Drawn, bodies: &[BodyState], origin: DVec3) -> Framing {
        let mut framing = framing;
        let mut vertices = Aabb::of_points([]);
        for (_, state, surface) in self.shown(bodies) {
            let rotation = DQuat::from_array(state.rotation);
            let place = |v: &DVec3| state.position + rotation * *v;
            surface.mesh.vertices.iter().for_each(|v| framing.add(place(v), 0.0));
            vertices = vertices.union(&Aabb::of_points(surface.mesh.vertices.iter().map(place)));
        }
        let core = vertices.union(&middle(&drawn.positions, origin));
        if core.is_empty() {
            framing.add_bounds(&self.bounds(&[]));
            return framing;
        }
        let diagonal = core.size().length();
        let near = core.grown(STRAY * diagonal);
        let blank = framing;
        let spheres = drawn
            .positions
            .par_iter()
            .zip(drawn.radii.par_iter())
            .with_min_len(1 << 14);
        let all = spheres.fold(
            || blank,
            |mut all, (position, radius)| {
                let center = position.as_dvec3() + origin;
                if near.contains(center) {
                    all.add(center, f64::from(*radius));
                }
                all
            },
        );
        let mut framing = all.reduce(|| blank, |a, b| a.join(&b));
        // Includes the ground below the sand, unless it is far below.
        if let Some(ground) = self.plan.ground.filter(|&ground| core.min.z - ground < diagonal) {
            framing.add(core.center().with_z(ground), 0.0);
        }
        framing
    }

    /// Returns the camera of a viewpoint; `framing` is called if it frames the scene.
    fn camera(
        &self,
        viewpoint: &Viewpoint,
        time: f64,
        origin: DVec3,
        framing: impl FnOnce() -> Framing,
    ) -> Result<Camera, LookError> {
        let relative = |point: DVec3| (point - origin).as_vec3();
        let of_scene = match viewpoint.camera.as_deref() {
            Some(FIT) => None,
            None => self.cameras.first(),
            Some(name) => {
                let found = self.cameras.iter().find(|camera| camera.name == name);
                let present = || self.camera_names().chain([FIT]).collect::<Vec<_>>().join(", ");
                Some(found.ok_or_else(|| LookError::NoCamera {
                    name: name.to_owned(),
                    present: present(),
                })?)
            }
        };
        let mut camera = match of_scene {
            None if self.is_framing(viewpoint) => {
                let [position, target] = framing().view().map(relative);
                Camera {
                    position,
                    target,
                    ..Camera::default()
                }
            }
            None => Camera::default(),
            Some(camera) => {
                let view = camera.at(time);
                Camera {
                    position: relative(view.position),
                    target: relative(view.target),
                    up: camera.up.as_vec3(),
                    vertical_fov: view.fov as f32,
                }
            }
        };
        camera.position = viewpoint.position.map_or(camera.position, relative);
        camera.target = viewpoint.target.map_or(camera.target, relative);
        camera.vertical_fov = viewpoint.fov.map_or(camera.vertical_fov, |fov| fov as f32);
        Ok(camera)
    }
}

/// Returns positions [m] and radii [m] of particles.
fn spheres<'a>(frame: &Frame, particles: &'static str, table: &'a Table) -> Result<(&'a [Vec3], &'a [f32]), LookError> {
    match (table.column("position"), table.column("radius")) {
        (Some(Column::Vec3(positions)), Some(Column::F32(radii))) => Ok((positions, radii)),
        (Some(Column::Vec3(_)), _) => Err(no_column(frame, particles, "radius")),
        _ => Err(no_column(frame, particles, "position")),
    }
}

/// Returns the box around all positions except the outermost along each axis; `origin` is added to them.
fn middle(positions: &[Vec3], origin: DVec3) -> Aabb {
    let step = positions.len().div_ceil(MAX_SAMPLED).max(1);
    let some: Vec<Vec3> = positions
        .iter()
        .copied()
        .step_by(step)
        .filter(|p| p.is_finite())
        .collect();
    if some.is_empty() {
        return Aabb::of_points([]);
    }
    let outer = some.len() / OUTER;
    let ends = [0, 1, 2].map(|axis| {
        let mut along: Vec<f32> = some.iter().map(|p| p[axis]).collect();
        along.sort_unstable_by(f32::total_cmp);
        [along[outer], along[along.len() - 1 - outer]].map(f64::from)
    });
    let corner = |k: usize| DVec3::from_array(ends.map(|ends| ends[k])) + origin;
    Aabb::new(corner(0), corner(1))
}

fn no_column(frame: &Frame, particles: &'static str, column: &str) -> LookError {
    LookError::NoColumn {
        particles,
        frame: frame.number,
        column: column.to_owned(),
        present: Stage::columns(
            frame,
            if particles == "guides" {
                Show::Guides
            } else {
                Show::Finest
            },
        )
        .join(", "),
    }
}

/// Returns the point that single-precision positions are relative to [m].
fn origin(bounds: &Aabb) -> DVec3 {
    let usable = !bounds.is_empty() && bounds.is_finite();
    let far = usable && bounds.center().length() > MAX_OFFSET * bounds.size().max_element();
    if far { bounds.center() } else { DVec3::ZERO }
}

pub(crate) fn pose(state: &BodyState, origin: DVec3) -> Affine3A {
    let pose = DAffine3::from_rotation_translation(DQuat::from_array(state.rotation), state.position - origin);
    Affine3A::from_mat4(DMat4::from(pose).as_mat4())
}
