//! Options for the look of pictures.

use barchan::geometry::text::short;
use barchan::render::{ColorMap, Engine, Renderer};
use barchan::{Coloring, Look, Show, Viewpoint};
use clap::Args;
use clap::builder::PossibleValuesParser;

use crate::failure::Failure;

/// Look of pictures.
#[derive(Args)]
pub struct LookArguments {
    /// Width and height [pixels]
    #[arg(long, value_name = "WxH", default_value = "1280x720", value_parser = parse_size)]
    size: [u32; 2],

    /// Draw guides even where there are grains
    #[arg(long, conflicts_with = "compare")]
    guides: bool,

    /// Draw guides on the left and grains on the right
    #[arg(long)]
    compare: bool,

    /// Draw bodies as lines
    #[arg(long)]
    wireframe: bool,

    /// A camera of the scene, or `fit` to frame everything, in a movie over all its frames [default: the first camera]
    #[arg(long, value_name = "NAME")]
    camera: Option<String>,

    /// Position of the camera [m]
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_point, allow_hyphen_values = true)]
    position: Option<[f64; 3]>,

    /// Target of the camera [m]
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_point, allow_hyphen_values = true)]
    target: Option<[f64; 3]>,

    /// Vertical field of view [deg]
    #[arg(long, value_name = "DEG")]
    fov: Option<f64>,

    /// Meaning of the colors: material, speed, or any column such as pressure, density, radius, wetness; grains take a
    /// column that only guides have from the nearest guide
    #[arg(long, value_name = "COLUMN", default_value = "material")]
    color: String,

    /// Numbers at both ends of the color bar [default: all values but 0.1 % at either end]
    #[arg(long, value_name = "LOW..HIGH", value_parser = parse_range, allow_hyphen_values = true)]
    range: Option<[f32; 2]>,

    /// Colors of the color bar
    #[arg(long, value_name = "MAP", default_value = "viridis", value_parser = PossibleValuesParser::new(ColorMap::names()))]
    map: String,

    /// Renderer: the CPU, a GPU, or (auto) a hardware GPU if there is one
    #[arg(long, value_name = "ENGINE", default_value = "auto", value_parser = PossibleValuesParser::new(Engine::names()))]
    engine: String,
}

impl LookArguments {
    /// Opens the renderer.
    pub fn renderer(&self) -> Result<Renderer, Failure> {
        let engine = Engine::of_name(&self.engine).unwrap_or_default();
        Renderer::open(engine).map_err(|error| Failure::run(error.to_string()))
    }

    /// Rejects what layers do not show.
    pub fn check_layers(&self) -> Result<(), Failure> {
        let wrong = [
            ("compare", self.compare),
            ("wireframe", self.wireframe),
            ("engine gpu", self.engine == "gpu"),
        ];
        match wrong.iter().find(|option| option.1) {
            None => Ok(()),
            Some((option, _)) => Err(Failure::input(format!(
                "--{option} has no effect on layers, which --transparent and .exr files are made of: remove it"
            ))),
        }
    }

    /// Returns the look that the options specify.
    pub fn look(&self) -> Result<Look, Failure> {
        if let Some(fov) = self.fov.filter(|fov| !(*fov > 0.0 && *fov < 180.0)) {
            let fov = short(fov);
            return Err(Failure::input(format!("--fov must lie between 0 and 180, got {fov}")));
        }
        if self.color == "material" && self.range.is_some() {
            return Err(Failure::input("--range needs --color COLUMN"));
        }
        Ok(Look {
            size: self.size,
            show: match (self.guides, self.compare) {
                (true, _) => Show::Guides,
                (_, true) => Show::Compare,
                _ => Show::Finest,
            },
            viewpoint: Viewpoint {
                camera: self.camera.clone(),
                position: self.position.map(Into::into),
                target: self.target.map(Into::into),
                fov: self.fov.map(f64::to_radians),
                framing: None,
            },
            coloring: match self.color.as_str() {
                "material" => Coloring::Material,
                name => Coloring::Column {
                    name: name.to_owned(),
                    range: self.range,
                    span: None,
                    map: ColorMap::of_name(&self.map).unwrap_or_default(),
                },
            },
            wireframe: self.wireframe,
        })
    }
}

/// Longest side of a picture [pixels]: the limit of graphics cards.
const MAX_SIDE: u32 = 16_384;

fn parse_size(text: &str) -> Result<[u32; 2], String> {
    let parsed = text
        .split_once('x')
        .and_then(|(w, h)| Some([w.parse().ok()?, h.parse().ok()?]));
    parsed
        .filter(|size: &[u32; 2]| size.iter().all(|side| (1..=MAX_SIDE).contains(side)))
        .ok_or_else(|| format!("a size such as 1280x720, of 1 to {MAX_SIDE} pixels each"))
}

fn parse_point(text: &str) -> Result<[f64; 3], String> {
    let numbers: Option<Vec<f64>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
    numbers
        .and_then(|numbers| <[f64; 3]>::try_from(numbers).ok())
        .filter(|point| point.iter().all(|x| x.is_finite()))
        .ok_or_else(|| "three numbers such as 1,-2,0.5".to_owned())
}

fn parse_range(text: &str) -> Result<[f32; 2], String> {
    let parsed = text
        .split_once("..")
        .and_then(|(low, high)| Some([low.parse().ok()?, high.parse().ok()?]));
    parsed
        .filter(|[low, high]: &[f32; 2]| low < high && low.is_finite() && high.is_finite())
        .ok_or_else(|| "two ascending numbers such as 0..1.5".to_owned())
}
