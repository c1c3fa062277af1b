//! Renders spheres and triangle meshes, on the CPU without a driver or on a GPU with the same look.
//!
//! A [`Picture`] describes the scene and the camera; [`render`] draws it as an [`Image`], [`Renderer`] with the engine
//! of choice. Spheres are exact, down to less than a pixel; the light is a sun with soft shadows and a sky with ambient
//! occlusion. The same picture gives the same bits for any number of threads. [`Movie`] writes images to a file.
//!
//! ```
//! use barchan_render::{Camera, Picture, Radii, Spheres, render};
//! use glam::Vec3;
//!
//! let positions = [Vec3::new(0.0, 0.0, 0.1), Vec3::new(0.15, 0.0, 0.1)];
//! let mut picture = Picture::new(Spheres::sand(&positions, Radii::One(0.1)));
//! picture.ground = Some(0.0);
//! picture.camera = Camera::framing(&picture.bounds(), 4.0 / 3.0);
//! let image = render(&picture, 64, 48)?;
//! assert_eq!(image.pixels.len(), 64 * 48);
//! # Ok::<(), barchan_render::Error>(())
//! ```
//!
//! Algorithm, in the order of `render`: spheres and triangles are sorted into tiles of the image (`bins`). Each tile
//! finds the nearest surface of four samples per pixel (`raster`, through the `lens` of the camera). The same is done
//! from the sun (`sun`). A coarse grid stores the visible share of the sky (`sky`). Then each surface in each pixel is
//! shaded once (`shade`), glass is blended over it (`glass`), and the light is mapped to 8 bits (`tone`).

mod bins;
mod blocks;
mod camera;
mod color_map;
mod engine;
mod error;
mod exr;
mod glass;
mod gpu;
mod grain;
mod hash;
mod image;
mod layers;
mod legend;
mod lens;
mod lines;
mod movie;
mod normals;
mod panels;
mod picture;
mod raster;
mod render;
mod scene;
mod shade;
mod sky;
mod sun;
mod tone;
mod triangle;

pub use camera::{Camera, Framing};
pub use color_map::ColorMap;
pub use engine::{Engine, Renderer};
pub use error::Error;
pub use gpu::GpuRenderer;
pub use grain::{GrainKind, GrainMaterial, SAND, grain_colors};
pub use image::Image;
pub use layers::{LayerPixel, Layers, Seen, render_layers};
pub use legend::Legend;
pub use lines::draw_lines;
pub use movie::{Animation, Movie, MovieEncoder, MovieError};
pub use panels::panels;
pub use picture::{Colors, Grains, Mesh, Picture, Radii, Spheres, Sun};
pub use render::render;
pub use shade::Backdrop;
pub use tone::linear;
