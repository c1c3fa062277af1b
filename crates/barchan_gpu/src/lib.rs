//! A graphics adapter to work with: which one, what it may be called, and how bytes come to it and back.
//!
//! What is above writes its own shaders against [`wgpu`], which is given on, so that there is one version of it.
//!
//! ```no_run
//! let gpu = barchan_gpu::Gpu::open(None)?;
//! println!("{}", gpu.name());
//! # Ok::<(), barchan_gpu::GpuError>(())
//! ```

use bytemuck::Pod;
use thiserror::Error;
use wgpu::util::{BufferInitDescriptor, DeviceExt};

pub use wgpu;

/// The variable that makes tests fail where there is no adapter, instead of being skipped.
pub const REQUIRED: &str = "BARCHAN_GPU_REQUIRED";

/// Why an adapter cannot be used.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum GpuError {
    /// There is none.
    #[error(
        "there is no graphics adapter: install a Vulkan driver for yours, or a software one \
         (Debian: apt-get install mesa-vulkan-drivers)"
    )]
    NoAdapter,
    /// There is none of that name.
    #[error("there is no graphics adapter `{name}`; there are: {present}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        present: String,
    },
    /// It is there, but does not start.
    #[error("the graphics adapter {adapter} cannot be used: {reason}")]
    Device {
        /// Its name.
        adapter: String,
        /// What the driver said.
        reason: String,
    },
    /// It gave up at work.
    #[error("the graphics adapter failed: {reason}")]
    Work {
        /// What the driver said.
        reason: String,
    },
}

/// An adapter at work.
#[derive(Clone, Debug)]
pub struct Gpu {
    /// Makes buffers, textures and pipelines.
    pub device: wgpu::Device,
    /// Takes work.
    pub queue: wgpu::Queue,
    /// What it is.
    pub info: wgpu::AdapterInfo,
}

/// How gladly an adapter is taken: real ones first.
fn rank(info: &wgpu::AdapterInfo) -> u32 {
    match info.device_type {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    }
}

impl Gpu {
    /// The best adapter; or the one whose name contains `name`, in letters of any size.
    pub fn open(name: Option<&str>) -> Result<Self, GpuError> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
        let mut adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
        adapters.sort_by_key(|adapter| rank(&adapter.get_info()));
        if adapters.is_empty() {
            return Err(GpuError::NoAdapter);
        }
        let wanted = name.unwrap_or_default().to_lowercase();
        let found = adapters
            .iter()
            .find(|adapter| adapter.get_info().name.to_lowercase().contains(&wanted));
        let Some(adapter) = found else {
            let names: Vec<String> = adapters.iter().map(|adapter| adapter.get_info().name).collect();
            return Err(GpuError::Unknown {
                name: name.unwrap_or_default().to_owned(),
                present: names.join(", "),
            });
        };
        let info = adapter.get_info();
        let wishes = wgpu::DeviceDescriptor {
            label: Some("barchan"),
            required_limits: adapter.limits(),
            ..Default::default()
        };
        let (device, queue) =
            pollster::block_on(adapter.request_device(&wishes)).map_err(|error| GpuError::Device {
                adapter: info.name.clone(),
                reason: error.to_string(),
            })?;
        Ok(Self { device, queue, info })
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.info.name
    }

    /// Whether the processor does its work.
    pub fn is_software(&self) -> bool {
        self.info.device_type == wgpu::DeviceType::Cpu
    }

    /// A buffer that holds `data`.
    pub fn buffer<T: Pod>(&self, label: &str, usage: wgpu::BufferUsages, data: &[T]) -> wgpu::Buffer {
        self.device.create_buffer_init(&BufferInitDescriptor {
            label: Some(label),
            contents: bytemuck::cast_slice(data),
            usage,
        })
    }

    /// What `buffer`, which was made to be mapped, holds once all work is done.
    pub fn read(&self, buffer: &wgpu::Buffer) -> Result<Vec<u8>, GpuError> {
        let failed = |reason: String| GpuError::Work { reason };
        let (send, receive) = std::sync::mpsc::channel();
        buffer.map_async(wgpu::MapMode::Read, .., move |mapped| {
            // Nobody listens any more only if polling failed, which is told below.
            let _ = send.send(mapped);
        });
        let wait = wgpu::PollType::Wait {
            submission_index: None,
            timeout: None,
        };
        self.device.poll(wait).map_err(|error| failed(error.to_string()))?;
        match receive.recv() {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(failed(error.to_string())),
            Err(error) => return Err(failed(error.to_string())),
        }
        let bytes = buffer
            .get_mapped_range(..)
            .map_err(|error| failed(error.to_string()))?
            .to_vec();
        buffer.unmap();
        Ok(bytes)
    }

    /// Runs `work`, and gives what the driver finds wrong with it as an error.
    pub fn attempt<T>(&self, work: impl FnOnce() -> Result<T, GpuError>) -> Result<T, GpuError> {
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let wrong = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let done = work();
        let wrong = pollster::block_on(wrong.pop());
        let memory = pollster::block_on(memory.pop());
        match wrong.or(memory) {
            None => done,
            Some(error) => Err(GpuError::Work {
                reason: error.to_string(),
            }),
        }
    }
}

/// An adapter for a test. None with a notice where there is no adapter; where [`REQUIRED`] is set the test fails.
///
/// # Panics
/// If an adapter is required and there is none.
pub fn for_test() -> Option<Gpu> {
    match Gpu::open(None) {
        Ok(gpu) => Some(gpu),
        Err(error) => {
            assert!(std::env::var_os(REQUIRED).is_none(), "{REQUIRED} is set, but {error}");
            eprintln!("skipped: {error}");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_as_they_went() {
        let Some(gpu) = for_test() else { return };
        let numbers: Vec<u32> = (0..1000).map(|k| k * k).collect();
        let source = gpu.buffer("numbers", wgpu::BufferUsages::COPY_SRC, &numbers);
        let target = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: source.size(),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(&source, 0, &target, 0, source.size());
        gpu.queue.submit([encoder.finish()]);
        let bytes = gpu.read(&target).unwrap();
        assert_eq!(bytemuck::pod_collect_to_vec::<u8, u32>(&bytes), numbers);
    }

    #[test]
    fn what_the_driver_refuses_is_an_error() {
        let Some(gpu) = for_test() else { return };
        let refused = gpu.attempt(|| {
            Ok(gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: 16,
                usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::STORAGE,
                mapped_at_creation: false,
            }))
        });
        assert!(matches!(refused, Err(GpuError::Work { .. })));
    }

    #[test]
    fn an_unknown_adapter_is_refused_with_those_that_are_there() {
        let Some(gpu) = for_test() else { return };
        let Err(GpuError::Unknown { present, .. }) = Gpu::open(Some("no such adapter")) else {
            panic!("found")
        };
        assert!(present.contains(gpu.name()));
    }
}
