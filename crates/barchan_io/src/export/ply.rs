//! Stanford PLY: guides and grains as one file per frame, bodies as one table.

use super::{Export, ExportError};

pub(super) fn export(export: &mut Export) -> Result<(), ExportError> {
    export.frames("ply", None)?;
    export.body_table()
}
