//! Stanford PLY: guides, grains and the posed surfaces of bodies as one file per frame each; bodies also as one table.

use std::path::Path;

use barchan_geometry::mesh::write_ply;
use barchan_world::BodyState;

use super::files::{Notation, write_cloud};
use super::surfaces::BodySurfaces;
use super::{Export, ExportError};
use crate::write_atomically;

pub(super) fn export(export: &mut Export) -> Result<(), ExportError> {
    let surfaces = BodySurfaces::load(export)?;
    let write_bodies = |path: &Path, bodies: Vec<BodyState>| {
        let posed = surfaces.posed(&bodies);
        Ok(write_atomically(path, |out| write_ply(&posed.mesh, out))?)
    };
    let write_cloud = |path: &Path, _, cloud| write_cloud(path, &cloud, Notation::Srgb);
    export.each_frame(
        "ply",
        &write_cloud,
        (!surfaces.is_empty()).then_some(&write_bodies as _),
    )?;
    export.tables()
}
