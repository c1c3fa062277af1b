use std::path::Path;
use std::sync::Arc;

use barchan_geometry::Shape;
use barchan_geometry::mesh::{self, MeshSolid};

/// The solid in a mesh file, with warnings about the file; or why there is none.
pub(crate) fn load(path: &Path) -> Result<(Arc<dyn Shape>, Vec<String>), String> {
    let loaded = mesh::load(path).map_err(|error| error.to_string())?;
    loaded.require_volume().map_err(|error| error.to_string())?;
    Ok((Arc::new(MeshSolid::new(loaded.mesh)), loaded.report.warnings()))
}
