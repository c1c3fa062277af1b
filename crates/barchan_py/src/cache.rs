//! Caches of earlier runs.

use std::path::PathBuf;
use std::sync::Arc;

use barchan::io;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;

use crate::errors::input;
use crate::frame::{Frame, stats_json, to_python};

/// A cache on disk, as it was when opened: `cache[42]` is frame 42, `cache[-1]` the last one.
#[pyclass(frozen, module = "barchan")]
pub struct Cache {
    inner: Arc<io::Cache>,
}

impl Cache {
    /// Returns the cache for the rest of the crate.
    pub fn inner(&self) -> &Arc<io::Cache> {
        &self.inner
    }

    fn frame_at(&self, index: usize) -> Option<Frame> {
        let entry = self.inner.frames().get(index)?;
        Some(Frame::of_cache(self.inner.clone(), entry.frame, entry.time))
    }
}

#[pymethods]
impl Cache {
    /// Opens a folder; a run may still be writing into it.
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let inner = py.detach(|| io::Cache::open(&path)).map_err(input)?;
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Its folder.
    #[getter]
    fn path(&self) -> PathBuf {
        self.inner.dir().to_owned()
    }

    /// The scene as it was read: its name, text and changed values.
    #[getter]
    fn scene<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.inner.manifest().run.scene)
    }

    /// Frames per second [1/s].
    #[getter]
    fn frame_rate(&self) -> f64 {
        self.inner.manifest().run.frame_rate
    }

    /// Numbers of the frames.
    #[getter]
    fn frames(&self) -> Vec<u64> {
        self.inner.frames().iter().map(|entry| entry.frame).collect()
    }

    /// Times of the frames [s].
    #[getter]
    fn times(&self) -> Vec<f64> {
        self.inner.frames().iter().map(|entry| entry.time).collect()
    }

    /// Statistics of all frames, one dictionary each.
    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let all = py.detach(|| self.inner.stats()).map_err(input)?;
        let with_number = |line: &io::FrameStats| {
            let mut stats = stats_json(&line.stats);
            stats["frame"] = line.frame.into();
            stats["time"] = line.time.into();
            to_python(py, &stats)
        };
        all.iter().map(with_number).collect()
    }

    fn __len__(&self) -> usize {
        self.inner.frames().len()
    }

    fn __getitem__(&self, number: i64) -> PyResult<Frame> {
        let frames = self.inner.frames();
        let found = match u64::try_from(number) {
            Ok(number) => frames.binary_search_by_key(&number, |entry| entry.frame).ok(),
            Err(_) => frames.len().checked_sub(number.unsigned_abs() as usize),
        };
        let missing = || match (frames.first(), frames.last()) {
            (Some(first), Some(last)) => format!(
                "there is no frame {number}; there are {} to {}",
                first.frame, last.frame
            ),
            _ => "the cache has no frames".to_owned(),
        };
        found
            .and_then(|index| self.frame_at(index))
            .ok_or_else(|| PyIndexError::new_err(missing()))
    }

    fn __iter__(slf: Bound<'_, Self>) -> Frames {
        Frames {
            cache: slf.unbind(),
            next: 0.into(),
        }
    }

    fn __repr__(&self) -> String {
        format!(
            "<barchan.Cache {}: {} frames>",
            self.inner.dir().display(),
            self.inner.frames().len()
        )
    }
}

/// Iterator over the frames of a cache.
#[pyclass(frozen, module = "barchan")]
pub struct Frames {
    cache: Py<Cache>,
    next: std::sync::atomic::AtomicUsize,
}

#[pymethods]
impl Frames {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__(&self) -> Option<Frame> {
        let index = self.next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.cache.get().frame_at(index)
    }
}
