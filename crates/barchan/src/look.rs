//! Pictures of frames.

use std::borrow::Cow;

use barchan_geometry::Aabb;
use barchan_io::{Cache, CacheError};
use barchan_render::{Camera, Colors, Image, Mesh, Picture, Radii, Renderer, SAND, Spheres, linear};
use barchan_world::{BodyState, Column, Frame, Table};
use glam::{Affine3A, DAffine3, DMat4, DQuat, DVec3, Vec3};
use thiserror::Error;

use crate::clumps::Drawn;
use crate::coloring::{self, Coloring};
use crate::stage::{Stage, StageError};

/// Why there is no picture.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LookError {
    /// The cache is at fault.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// What lies beside the cache is at fault.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// The picture is at fault.
    #[error(transparent)]
    Render(#[from] barchan_render::Error),
    /// A column that is not there.
    #[error("the {particles} of frame {frame} have no column `{column}`; there are: {present}")]
    NoColumn {
        /// Guides or grains.
        particles: &'static str,
        /// The frame.
        frame: u64,
        /// What it lacks.
        column: String,
        /// What it has.
        present: String,
    },
    /// Grains were asked for where there are none.
    #[error("frame {frame} has no grains to compare with; `barchan refine` makes them")]
    NoGrains {
        /// The frame.
        frame: u64,
    },
    /// A camera that is not there.
    #[error("there is no camera `{name}`; there are: {present}")]
    NoCamera {
        /// What was asked for.
        name: String,
        /// What there is.
        present: String,
    },
    /// A size that has no room for two pictures.
    #[error("two pictures side by side need at least 2 pixels of width, got {width}")]
    Narrow {
        /// Width asked for [px].
        width: u32,
    },
}

/// Which particles are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Show {
    /// Grains where there are any, else guides.
    #[default]
    Finest,
    /// Guides.
    Guides,
    /// Guides left, grains right.
    Compare,
}

/// Where a picture is seen from: a camera of the scene, and what is changed of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Viewpoint {
    /// The name of the camera; the first one if none is given. [`FIT`] frames the scene.
    pub camera: Option<String>,
    /// Where it stands instead [m].
    pub position: Option<DVec3>,
    /// What it looks at instead [m].
    pub target: Option<DVec3>,
    /// Vertical field of view instead [rad].
    pub fov: Option<f64>,
}

/// The name of the camera that frames the scene.
pub const FIT: &str = "fit";

/// How frames become pictures.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// Width and height [px].
    pub size: [u32; 2],
    /// What is drawn.
    pub show: Show,
    /// From where.
    pub viewpoint: Viewpoint,
    /// What colours mean.
    pub coloring: Coloring,
    /// Whether bodies are lines, through which one sees the sand.
    pub wireframe: bool,
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

/// Colours of bodies without one, linear RGB, by turns.
const BODY_COLORS: [[f32; 3]; 5] = [
    [0.80, 0.45, 0.05],
    [0.10, 0.16, 0.25],
    [0.35, 0.07, 0.05],
    [0.12, 0.25, 0.14],
    [0.30, 0.30, 0.32],
];

/// Middles of scenes that lie further from the origin than so many of their own sizes are moved to it: single precision.
const FAR: f64 = 16.0;

/// Frame `number` of a cache, with what `show` needs of it.
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

/// None for what a cache does not keep.
fn present<T>(read: Result<T, CacheError>) -> Result<Option<T>, CacheError> {
    match read {
        Ok(found) => Ok(Some(found)),
        Err(CacheError::NoFrame { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

impl Stage {
    /// A picture of a frame.
    pub fn draw(&self, frame: &Frame, look: &Look, renderer: &mut Renderer) -> Result<Image, LookError> {
        let [width, height] = look.size;
        let (image, legend) = match (look.show, &frame.grains) {
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
        };
        let mut image = image;
        if let Some(legend) = legend {
            legend.draw(&mut image);
        }
        Ok(image)
    }

    /// Where a picture is seen from at `time` [s], if its width / height is `aspect`: position [m], target [m], vertical field of view [rad].
    pub fn view(&self, viewpoint: &Viewpoint, time: f64, aspect: f32) -> Result<(DVec3, DVec3, f64), LookError> {
        let bounds = self.bounds(&[]);
        let origin = origin(&bounds);
        let camera = self.camera(viewpoint, time, &bounds, origin, aspect)?;
        Ok((
            camera.position.as_dvec3() + origin,
            camera.target.as_dvec3() + origin,
            f64::from(camera.vertical_fov),
        ))
    }

    /// The columns of a frame that colours may mean, `speed` first.
    pub fn columns(frame: &Frame, show: Show) -> Vec<String> {
        let names = |table: &Table| coloring::names(table).map(str::to_owned).collect();
        match (&frame.grains, show) {
            (Some(grains), Show::Finest | Show::Compare) => names(grains),
            _ => names(&frame.guides),
        }
    }

    /// The range of a column in a frame, as a bar would show it if nobody said otherwise.
    pub fn range(frame: &Frame, show: Show, column: &str) -> Result<[f32; 2], LookError> {
        let (particles, table) = match (&frame.grains, show) {
            (Some(grains), Show::Finest | Show::Compare) => ("grains", grains),
            _ => ("guides", &frame.guides),
        };
        column_values(frame, particles, table, column).map(|values| coloring::range(&values))
    }

    fn draw_table(
        &self,
        frame: &Frame,
        particles: &'static str,
        table: &Table,
        look: &Look,
        renderer: &mut Renderer,
        [width, height]: [u32; 2],
    ) -> Result<(Image, Option<barchan_render::Legend>), LookError> {
        let missing = |column: &str| no_column(frame, particles, table, column);
        let Some(Column::Vec3(positions)) = table.column("position") else {
            return Err(missing("position"));
        };
        let Some(Column::F32(radii)) = table.column("radius") else {
            return Err(missing("radius"));
        };
        let bounds = self.bounds(positions);
        let origin = origin(&bounds);
        let positions: Cow<[Vec3]> = if origin == DVec3::ZERO {
            Cow::Borrowed(positions)
        } else {
            positions.iter().map(|p| (p.as_dvec3() - origin).as_vec3()).collect()
        };
        let drawn = Drawn::new(&self.plan.clumps, table, positions, radii);
        let bases = self.material_colors();
        let (colored, legend) = match &look.coloring {
            Coloring::Material => (None, None),
            Coloring::Column { name, range, map } => {
                let values = column_values(frame, particles, table, name)?;
                let range = range.unwrap_or_else(|| coloring::range(&values));
                let colors = coloring::colors(&drawn.spread(&values), range, *map);
                (Some(colors), Some(coloring::legend(name, range, *map)))
            }
        };
        let kinds = match table.column("material") {
            Some(Column::U8(kinds)) => Some(drawn.spread(kinds)),
            _ => None,
        };
        let ids = match table.column("id") {
            Some(Column::U32(ids)) => Some(drawn.spread(ids)),
            _ => None,
        };
        let colors = match &colored {
            Some(colors) => Colors::Each(colors),
            None => Colors::Grains {
                bases: &bases,
                kinds: kinds.as_deref(),
                ids: ids.as_deref(),
            },
        };
        let picture = Picture {
            spheres: Spheres {
                positions: &drawn.positions,
                radii: Radii::Each(&drawn.radii),
                colors,
            },
            meshes: if look.wireframe {
                Vec::new()
            } else {
                self.meshes(&frame.bodies, origin)
            },
            ground: self.plan.ground.map(|height| (height - origin.z) as f32),
            camera: self.camera(
                &look.viewpoint,
                frame.time,
                &bounds,
                origin,
                width as f32 / height.max(1) as f32,
            )?,
            sun: barchan_render::Sun::default(),
        };
        let mut image = renderer.render(&picture, width, height)?;
        if look.wireframe {
            self.draw_wires(&mut image, &frame.bodies, origin, &picture.camera)?;
        }
        Ok((image, legend))
    }

    /// What the stage has at time 0; what there is now if it has nothing.
    fn bounds(&self, positions: &[Vec3]) -> Aabb {
        match self.plan.bounds {
            Some([low, high]) => Aabb::new(low.into(), high.into()),
            None => Aabb::of_points(positions.iter().map(|p| p.as_dvec3())),
        }
    }

    fn material_colors(&self) -> Vec<[f32; 3]> {
        let color = |color: &Option<[u8; 3]>| color.map_or(SAND, linear);
        let colors: Vec<_> = self.plan.materials.iter().map(color).collect();
        if colors.is_empty() { vec![SAND] } else { colors }
    }

    /// Colour of a body's lines, sRGB: its own, bright enough to be seen before sand.
    pub(crate) fn wire_color(&self, body: usize) -> [u8; 3] {
        let color = self.plan.bodies[body].color.unwrap_or([0x20, 0x30, 0x48]);
        color.map(|c| c / 2)
    }

    fn meshes(&self, bodies: &[BodyState], origin: DVec3) -> Vec<Mesh<'_>> {
        let found = bodies.iter().filter_map(|state| {
            let index = self.plan.bodies.iter().position(|body| body.name == state.name)?;
            let surface = self.surfaces[index].as_ref()?;
            let body = &self.plan.bodies[index];
            Some(Mesh {
                vertices: &surface.vertices,
                triangles: &surface.mesh.triangles,
                pose: pose(state, origin),
                color: body.color.map_or(BODY_COLORS[index % BODY_COLORS.len()], linear),
                opacity: body.opacity as f32,
            })
        });
        found.collect()
    }

    fn camera(
        &self,
        viewpoint: &Viewpoint,
        time: f64,
        bounds: &Aabb,
        origin: DVec3,
        aspect: f32,
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
            None => Camera::framing(&Aabb::new(bounds.min - origin, bounds.max - origin), aspect),
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

fn column_values(frame: &Frame, particles: &'static str, table: &Table, column: &str) -> Result<Vec<f32>, LookError> {
    coloring::values(table, column).ok_or_else(|| no_column(frame, particles, table, column))
}

fn no_column(frame: &Frame, particles: &'static str, table: &Table, column: &str) -> LookError {
    LookError::NoColumn {
        particles,
        frame: frame.number,
        column: column.to_owned(),
        present: coloring::names(table).collect::<Vec<_>>().join(", "),
    }
}

/// The point that single-precision numbers are relative to [m].
fn origin(bounds: &Aabb) -> DVec3 {
    let usable = !bounds.is_empty() && bounds.is_finite();
    let far = usable && bounds.center().length() > FAR * bounds.size().max_element();
    if far { bounds.center() } else { DVec3::ZERO }
}

pub(crate) fn pose(state: &BodyState, origin: DVec3) -> Affine3A {
    let pose = DAffine3::from_rotation_translation(DQuat::from_array(state.rotation), state.position - origin);
    Affine3A::from_mat4(DMat4::from(pose).as_mat4())
}
