//! GPU access: device selection, error handling, and transfers to and from buffers.
//!
//! Callers write their own shaders against [`wgpu`], which is re-exported so that the workspace uses one version of it.
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

/// Environment variable that makes tests fail, instead of being skipped, where there is no GPU.
pub const REQUIRED: &str = "BARCHAN_GPU_REQUIRED";

/// Reason why a GPU cannot be used.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum GpuError {
    /// No GPU was found.
    #[error(
        "found no GPU: install its Vulkan driver or a software driver \
         (Debian: apt-get install mesa-vulkan-drivers)"
    )]
    NoAdapter,
    /// No GPU has this name.
    #[error("unknown GPU `{name}`; available: {present}")]
    Unknown {
        /// Requested name.
        name: String,
        /// Names of the available GPUs.
        present: String,
    },
    /// The GPU was found but could not be opened.
    #[error("cannot use the GPU {adapter}: {reason}")]
    Device {
        /// Name of the GPU.
        adapter: String,
        /// The driver's message.
        reason: String,
    },
    /// The GPU failed while running a command.
    #[error("the GPU failed: {reason}")]
    Work {
        /// The driver's message.
        reason: String,
    },
}

/// An open GPU.
#[derive(Clone, Debug)]
pub struct Gpu {
    /// Creates buffers, textures and pipelines.
    pub device: wgpu::Device,
    /// Accepts commands.
    pub queue: wgpu::Queue,
    /// Name, type and driver of the adapter.
    pub info: wgpu::AdapterInfo,
}

/// Sort key: hardware adapters before software ones.
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
    /// Opens the best GPU, or the one whose name contains `name` (case-insensitive).
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
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("barchan"),
            required_limits: adapter.limits(),
            ..Default::default()
        };
        let (device, queue) =
            pollster::block_on(adapter.request_device(&descriptor)).map_err(|error| GpuError::Device {
                adapter: info.name.clone(),
                reason: error.to_string(),
            })?;
        Ok(Self { device, queue, info })
    }

    /// Returns the name of the GPU.
    pub fn name(&self) -> &str {
        &self.info.name
    }

    /// Returns true if the CPU emulates the GPU.
    pub fn is_software(&self) -> bool {
        self.info.device_type == wgpu::DeviceType::Cpu
    }

    /// Creates a buffer that holds `data`.
    pub fn buffer<T: Pod>(&self, label: &str, usage: wgpu::BufferUsages, data: &[T]) -> wgpu::Buffer {
        self.device.create_buffer_init(&BufferInitDescriptor {
            label: Some(label),
            contents: bytemuck::cast_slice(data),
            usage,
        })
    }

    /// Waits for all submitted work and returns the contents of `buffer`, which must be mappable for reading.
    pub fn read(&self, buffer: &wgpu::Buffer) -> Result<Vec<u8>, GpuError> {
        let failed = |reason: String| GpuError::Work { reason };
        let (send, receive) = std::sync::mpsc::channel();
        buffer.map_async(wgpu::MapMode::Read, .., move |mapped| {
            // The receiver is gone only if polling failed; that error is returned below.
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

    /// Runs `work` and returns validation and out-of-memory errors of the driver.
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

/// Opens a GPU for a test. Returns `None` and prints a notice where there is no GPU; if [`REQUIRED`] is set, the test
/// fails instead.
///
/// # Panics
/// If a GPU is required and there is none.
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
    fn bytes_are_read_back_unchanged() {
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
    fn a_call_that_the_driver_rejects_is_an_error() {
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
    fn an_unknown_gpu_is_rejected_with_a_list_of_the_available_ones() {
        let Some(gpu) = for_test() else { return };
        let Err(GpuError::Unknown { present, .. }) = Gpu::open(Some("no such adapter")) else {
            panic!("found")
        };
        assert!(present.contains(gpu.name()));
    }
}
