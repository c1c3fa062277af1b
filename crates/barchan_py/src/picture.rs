//! Pictures as numpy images.

use std::path::PathBuf;

use barchan::io::{make_parent, write_atomically};
use barchan::render::{ColorMap, Engine, Image, Renderer};
use barchan::{Coloring, Look, LookError, Show, Stage, Viewpoint, read_frame};
use pyo3::prelude::*;

use crate::cache::Cache;
use crate::errors::{failed, input};
use crate::simulation::Simulation;
use crate::table::Memory;

/// Longest side of a picture [pixels]: the limit of graphics cards.
const MAX_SIDE: u32 = 16_384;

/// Draws a simulation, or a frame of a cache, and returns the picture as an array of rows, columns and red green blue.
/// `path` also writes it as a PNG file.
///
/// `range` holds the numbers at both ends of the color bar; `camera` is one of the scene's, or "fit"; `fov` is in
/// degrees; `engine` is "auto", "cpu" or "gpu".
#[pyfunction]
#[pyo3(signature = (what, path = None, *, frame = None, size = [1280, 720], guides = false, compare = false,
    wireframe = false, camera = None, position = None, target = None, fov = None, color = "material", range = None,
    map = "viridis", engine = "auto"))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub fn render<'py>(
    py: Python<'py>,
    what: &Bound<'py, PyAny>,
    path: Option<PathBuf>,
    frame: Option<i64>,
    size: [u32; 2],
    guides: bool,
    compare: bool,
    wireframe: bool,
    camera: Option<String>,
    position: Option<[f64; 3]>,
    target: Option<[f64; 3]>,
    fov: Option<f64>,
    color: &str,
    range: Option<[f32; 2]>,
    map: &str,
    engine: &str,
) -> PyResult<Bound<'py, PyAny>> {
    if !size.iter().all(|side| (1..=MAX_SIDE).contains(side)) {
        return Err(input(format!(
            "size: 1 to {MAX_SIDE} pixels each, got {} x {}",
            size[0], size[1]
        )));
    }
    if fov.is_some_and(|fov| !(fov > 0.0 && fov < 180.0)) {
        return Err(input("fov must lie between 0 and 180 degrees"));
    }
    if range.is_some_and(|[low, high]| !(low < high && low.is_finite() && high.is_finite())) {
        return Err(input("range takes two ascending numbers"));
    }
    let is_finite = |point: Option<[f64; 3]>| point.is_none_or(|point| point.iter().all(|x| x.is_finite()));
    if !(is_finite(position) && is_finite(target)) {
        return Err(input("position and target take finite numbers"));
    }
    if path.as_ref().is_some_and(|path| {
        path.extension()
            .is_none_or(|ending| !ending.eq_ignore_ascii_case("png"))
    }) {
        return Err(input(
            "a picture is written to a .png file; `barchan render` makes movies",
        ));
    }
    let map = ColorMap::of_name(map).ok_or_else(|| unknown("color map", map, ColorMap::names()))?;
    let engine = Engine::of_name(engine).ok_or_else(|| unknown("engine", engine, Engine::names()))?;
    let look = Look {
        size,
        show: match (guides, compare) {
            (true, _) => Show::Guides,
            (_, true) => Show::Compare,
            _ => Show::Finest,
        },
        viewpoint: Viewpoint {
            camera,
            position: position.map(Into::into),
            target: target.map(Into::into),
            fov: fov.map(f64::to_radians),
            framing: None,
        },
        coloring: match color {
            "material" => Coloring::Material,
            name => Coloring::Column {
                name: name.to_owned(),
                range,
                span: None,
                map,
            },
        },
        wireframe,
    };
    let image = if let Ok(simulation) = what.cast::<Simulation>() {
        if frame.is_some() {
            return Err(input("a simulation is drawn as it is now: `frame` is for caches"));
        }
        let mut core = simulation.get().lock()?;
        let core = &mut *core;
        py.detach(move || {
            let (stage, frame) = core.picture();
            draw(&stage, &frame, &look, engine, path)
        })
    } else {
        let cache = match what.cast::<Cache>() {
            Ok(cache) => cache.get().inner().clone(),
            Err(_) => barchan::io::Cache::open(&what.extract::<PathBuf>()?)
                .map_err(input)?
                .into(),
        };
        let last = cache.frames().last().map_or(0, |entry| entry.frame);
        let number = match frame {
            None | Some(-1) => last,
            Some(number) => u64::try_from(number).map_err(|_| input(format!("there is no frame {number}")))?,
        };
        py.detach(|| {
            let stage = Stage::load(cache.dir()).map_err(input)?;
            // Grains take columns that they lack from guides.
            let read = match look.coloring {
                Coloring::Material => look.show,
                Coloring::Column { .. } => Show::Compare,
            };
            let frame = read_frame(&cache, number, read).map_err(of_look)?;
            draw(&stage, &frame, &look, engine, path)
        })
    };
    Memory::image(py, image?)
}

fn draw(
    stage: &Stage,
    frame: &barchan::world::Frame,
    look: &Look,
    engine: Engine,
    path: Option<PathBuf>,
) -> PyResult<Image> {
    let mut renderer = Renderer::open(engine).map_err(failed)?;
    let image = stage.draw(frame, look, &mut renderer).map_err(of_look)?;
    if let Some(path) = path {
        make_parent(&path).map_err(failed)?;
        write_atomically(&path, |out| image.write_png(out).map_err(std::io::Error::other)).map_err(failed)?;
    }
    Ok(image)
}

fn of_look(error: LookError) -> PyErr {
    match error {
        LookError::Render(_) => failed(error),
        error => input(error),
    }
}

fn unknown(what: &str, name: &str, names: impl Iterator<Item = &'static str>) -> PyErr {
    let names: Vec<&str> = names.collect();
    input(format!("there is no {what} `{name}`; there are: {}", names.join(", ")))
}
