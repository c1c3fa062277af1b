//! Rendering engines: CPU and GPU.

use barchan_gpu::Gpu;

use crate::{Error, GpuRenderer, Image, Picture, render};

/// Choice of the engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// A hardware GPU if there is one, otherwise the CPU.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// A GPU, emulated in software if there is no other.
    Gpu,
}

/// Every engine by name.
const ENGINES: [(&str, Engine); 3] = [("auto", Engine::Auto), ("cpu", Engine::Cpu), ("gpu", Engine::Gpu)];

impl Engine {
    /// Returns every name.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ENGINES.iter().map(|engine| engine.0)
    }

    /// Returns the engine of that name.
    pub fn of_name(name: &str) -> Option<Self> {
        ENGINES.iter().find(|engine| engine.0 == name).map(|engine| engine.1)
    }
}

/// Returns true if a hardware GPU may be present. Drivers of software GPUs start slowly and print warnings on machines
/// without a display, so they are not tried needlessly.
fn may_be_there() -> bool {
    let devices = ["/dev/dri", "/dev/nvidia0", "/dev/dxg"];
    cfg!(not(target_os = "linux")) || devices.iter().any(|device| std::path::Path::new(device).exists())
}

/// An engine that draws pictures one after another.
pub enum Renderer {
    /// The CPU.
    Cpu,
    /// A GPU.
    Gpu(Box<GpuRenderer>),
}

impl Renderer {
    /// Opens an engine.
    pub fn open(engine: Engine) -> Result<Self, Error> {
        let open = || GpuRenderer::new(Gpu::open(None)?).map(|renderer| Self::Gpu(Box::new(renderer)));
        match engine {
            Engine::Cpu => Ok(Self::Cpu),
            Engine::Gpu => open(),
            // With `Auto`, any GPU error falls back to the CPU.
            Engine::Auto if !may_be_there() => Ok(Self::Cpu),
            Engine::Auto => match Gpu::open(None) {
                Ok(gpu) if !gpu.is_software() => {
                    Ok(GpuRenderer::new(gpu).map_or(Self::Cpu, |renderer| Self::Gpu(Box::new(renderer))))
                }
                _ => Ok(Self::Cpu),
            },
        }
    }

    /// Returns its name for users.
    pub fn name(&self) -> String {
        match self {
            Self::Cpu => "the CPU".to_owned(),
            Self::Gpu(renderer) => format!("the GPU ({})", renderer.gpu().name()),
        }
    }

    /// Draws a picture as an image of `width` x `height` [px].
    pub fn render(&mut self, picture: &Picture, width: u32, height: u32) -> Result<Image, Error> {
        match self {
            Self::Cpu => render(picture, width, height),
            Self::Gpu(renderer) => renderer.render(picture, width, height),
        }
    }
}
