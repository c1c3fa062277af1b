//! The interactive window: a scene that is simulated live, or a cache that is played.
//!
//! A thread of its own simulates and draws ([`Player`]); the window ([`ViewerApp`]) shows its newest picture and sends it
//! orders, so that it never waits. Pictures are those of `barchan render`, by either engine.

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

/// Why there is no window.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ViewerError {
    /// There is nothing to show it on.
    #[error("there is no display; `barchan render` makes pictures and movies without one")]
    NoDisplay,
    /// The system refuses it.
    #[error(
        "cannot open a window: {reason}; it needs a graphics driver (Debian without a graphics card: \
         apt-get install mesa-vulkan-drivers), `barchan render` needs none"
    )]
    Window {
        /// What the system said.
        reason: String,
    },
    /// A cache without frames.
    #[error("{} has no frames", dir.display())]
    NoFrames {
        /// The cache.
        dir: PathBuf,
    },
    /// The scene cannot be simulated.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// The cache cannot be read.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// What lies beside the cache cannot be read.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// It cannot be drawn.
    #[error(transparent)]
    Look(#[from] LookError),
    /// The engine does not start.
    #[error(transparent)]
    Render(#[from] barchan::render::Error),
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] barchan::io::WriteError),
    /// There is no movie.
    #[error(transparent)]
    Movie(#[from] barchan::render::MovieError),
    /// No grain has such a radius.
    #[error(transparent)]
    Radius(#[from] barchan::geometry::sample::SampleError),
}

/// Whether there is something to show a window on.
pub fn has_display() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    cfg!(not(target_os = "linux")) || set("WAYLAND_DISPLAY") || set("DISPLAY")
}

/// Opens a window on `source`, and comes back when it is closed.
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
