//! Exports caches with the colors of their pictures.

use std::path::Path;

use barchan_io::{ExportError, ExportOptions, Palette};
use barchan_render::particle_color;

use crate::stage::Stage;

/// Colors of pictures of a cache.
pub(crate) struct PictureColors {
    stage: Stage,
    materials: Vec<[f32; 3]>,
}

impl PictureColors {
    /// Reads the colors beside the cache in `dir`.
    pub(crate) fn load(dir: &Path) -> Result<Self, ExportError> {
        let stage = Stage::load(dir).map_err(|error| ExportError::Surface {
            path: dir.join("stage.json"),
            reason: error.to_string(),
        })?;
        Ok(Self {
            materials: stage.material_colors(),
            stage,
        })
    }

    /// Returns the color of a material; that of the first one for an unknown number.
    pub(crate) fn material(&self, number: u8) -> [f32; 3] {
        *self.materials.get(usize::from(number)).unwrap_or(&self.materials[0])
    }
}

impl Palette for PictureColors {
    fn particle(&self, material: u8, id: u32) -> [f32; 3] {
        particle_color(self.material(material), id)
    }

    fn body(&self, name: &str) -> [f32; 3] {
        self.stage.body_color(name)
    }
}

/// Exports the cache in `dir` to files of `kind` in `out`, as [`barchan_io::export`] does, with the colors that its
/// pictures have.
pub fn export(
    dir: &Path,
    kind: &str,
    out: &Path,
    options: &ExportOptions,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<(), ExportError> {
    let colors = PictureColors::load(dir)?;
    let options = ExportOptions {
        palette: Some(&colors),
        ..options.clone()
    };
    barchan_io::export(dir, kind, out, &options, progress)
}
