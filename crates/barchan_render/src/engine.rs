//! Who draws: the processor or a graphics adapter.

use barchan_gpu::Gpu;

use crate::{Error, GpuRenderer, Image, Picture, render};

/// Who is to draw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// A graphics adapter if there is a real one, else the processor.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// A graphics adapter, of software if there is no other.
    Gpu,
}

/// Every engine by name.
const ENGINES: [(&str, Engine); 3] = [("auto", Engine::Auto), ("cpu", Engine::Cpu), ("gpu", Engine::Gpu)];

impl Engine {
    /// Every name.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ENGINES.iter().map(|engine| engine.0)
    }

    /// The engine of that name.
    pub fn of_name(name: &str) -> Option<Self> {
        ENGINES.iter().find(|engine| engine.0 == name).map(|engine| engine.1)
    }
}

/// Whether a real adapter may be there. Drivers of software adapters start slowly and complain on machines without a
/// display: they are not asked in vain.
fn may_be_there() -> bool {
    let devices = ["/dev/dri", "/dev/nvidia0", "/dev/dxg"];
    cfg!(not(target_os = "linux")) || devices.iter().any(|device| std::path::Path::new(device).exists())
}

/// An engine that draws pictures one after another.
pub enum Renderer {
    /// The processor.
    Cpu,
    /// A graphics adapter.
    Gpu(Box<GpuRenderer>),
}

impl Renderer {
    /// Gets ready.
    pub fn open(engine: Engine) -> Result<Self, Error> {
        let open = || GpuRenderer::new(Gpu::open(None)?).map(|renderer| Self::Gpu(Box::new(renderer)));
        match engine {
            Engine::Cpu => Ok(Self::Cpu),
            Engine::Gpu => open(),
            // Whatever is wrong with an adapter that nobody asked for, the processor can do it.
            Engine::Auto if !may_be_there() => Ok(Self::Cpu),
            Engine::Auto => match Gpu::open(None) {
                Ok(gpu) if !gpu.is_software() => {
                    Ok(GpuRenderer::new(gpu).map_or(Self::Cpu, |renderer| Self::Gpu(Box::new(renderer))))
                }
                _ => Ok(Self::Cpu),
            },
        }
    }

    /// What users call it.
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
