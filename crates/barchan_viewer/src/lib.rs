//! Interactive window: simulates a scene live or plays a cache.
//!
//! A worker thread simulates and renders ([`Player`]). The window ([`ViewerApp`]) displays its newest picture and sends
//! orders, so the UI never blocks. Pictures are the same as those of `barchan render`, with either engine.

mod app;
mod controls;
mod orbit;
mod panel;
mod player;
mod shown;
mod source;
mod view;
mod work;

use std::path::PathBuf;

use barchan::io::CacheError;
use barchan::render::Engine;
use barchan::{LookError, SimulationError, StageError};
use eframe::egui;
use thiserror::Error;

pub use app::ViewerApp;
pub use orbit::Orbit;
pub use player::{Note, Order, Player, Shot};
pub use source::{Passes, Ready, Setting, Settings, Source};

/// Reason why there is no window.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ViewerError {
    /// There is no display.
    #[error("there is no display; `barchan render` makes pictures and movies without one")]
    NoDisplay,
    /// The system cannot open a window.
    #[error(
        "cannot open a window: {reason}; it needs a graphics driver (Debian without a graphics card: \
         apt-get install mesa-vulkan-drivers), `barchan render` needs none"
    )]
    Window {
        /// The system's message.
        reason: String,
    },
    /// The cache has no frames.
    #[error("{} has no frames", dir.display())]
    NoFrames {
        /// Folder of the cache.
        dir: PathBuf,
    },
    /// The scene cannot be simulated.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// The cache cannot be read.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// The data beside the frames of the cache cannot be read.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// The frame cannot be drawn.
    #[error(transparent)]
    Look(#[from] LookError),
    /// The engine cannot be opened.
    #[error(transparent)]
    Render(#[from] barchan::render::Error),
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] barchan::io::WriteError),
    /// The movie cannot be written.
    #[error(transparent)]
    Movie(#[from] barchan::render::MovieError),
    /// The radius of grains is invalid.
    #[error(transparent)]
    Radius(#[from] barchan::geometry::sample::SampleError),
}

/// Returns true if there is a display.
pub fn has_display() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    cfg!(not(target_os = "linux")) || set("WAYLAND_DISPLAY") || set("DISPLAY")
}

/// Opens a window on `source` and returns when it is closed.
pub fn open(title: &str, source: Source, engine: Engine) -> Result<(), ViewerError> {
    if !has_display() {
        return Err(ViewerError::NoDisplay);
    }
    let options = eframe::NativeOptions {
        viewport: egui::ViewportBuilder::default().with_inner_size([1280.0, 760.0]),
        ..Default::default()
    };
    let create =
        |context: &eframe::CreationContext| -> Result<Box<dyn eframe::App>, Box<dyn std::error::Error + Send + Sync>> {
            Ok(Box::new(ViewerApp::new(
                source,
                engine,
                PathBuf::new(),
                context.egui_ctx.clone(),
            )))
        };
    eframe::run_native(title, options, Box::new(create)).map_err(|error| ViewerError::Window {
        reason: error.to_string(),
    })
}
