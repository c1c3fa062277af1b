//! Exports caches with the colors of their pictures.

use std::path::Path;

use barchan_io::{Cache, CacheError, ExportError, ExportOptions, FrameEntry, Palette};
use barchan_render::{GrainMaterial, Grains, grain_colors};
use barchan_world::{Column, Frame, Table};
use glam::Vec3;

use crate::stage::Stage;

/// Colors of pictures of a cache.
pub(crate) struct PictureColors {
    stage: Stage,
    materials: Vec<GrainMaterial>,
}

impl PictureColors {
    /// Reads the colors beside the cache in `dir`.
    pub(crate) fn load(dir: &Path) -> Result<Self, ExportError> {
        let stage = Stage::load(dir).map_err(|error| ExportError::Surface {
            path: dir.join("stage.json"),
            reason: error.to_string(),
        })?;
        Ok(Self {
            materials: stage.grain_materials(),
            stage,
        })
    }

    /// Returns the mean linear RGB color of the first material when dry [-].
    pub(crate) fn first_material(&self) -> [f32; 3] {
        self.materials[0].color
    }
}

impl Palette for PictureColors {
    fn particles(&self, cache: &Cache, entry: &FrameEntry, table: &Table) -> Result<Vec<Vec3>, CacheError> {
        let kinds = match table.column("material") {
            Some(Column::U8(kinds)) => Some(kinds.as_slice()),
            _ => None,
        };
        let mut frame = Frame::default();
        // Grains are as wet as their guides.
        if self.stage.is_wet() && entry.guides.is_some() {
            frame.guides = cache.read_guides(entry.frame)?;
        }
        let wetness = self.stage.wetness(&frame, table, kinds);
        let grains = Grains {
            materials: &self.materials,
            kinds,
            wetness: wetness.as_deref(),
            shaped: false,
        };
        Ok(match table.column("id") {
            Some(Column::U32(ids)) => grain_colors(&grains, ids),
            _ => grain_colors(&grains, &(0..table.len() as u32).collect::<Vec<_>>()),
        })
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
