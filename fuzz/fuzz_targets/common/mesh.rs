//! Mesh files.

use barchan::geometry::mesh::{self, MeshFormat};

/// Parses `bytes` and, if they are a mesh, cleans it. No bytes may panic, hang or allocate much; what comes out is
/// sound.
pub fn parse_and_clean(bytes: &[u8], format: MeshFormat) {
    let raw = match mesh::parse(bytes, format, None) {
        Ok(raw) => raw,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let Ok(loaded) = mesh::clean(&raw) else { return };
    let report = &loaded.report;
    let dropped = report.degenerate.len() + report.duplicate.len();
    assert_eq!(report.triangles + dropped, raw.triangles.len());
    assert!(report.vertices <= raw.vertices.len());
    assert!(report.volume.is_finite() && report.area > 0.0);
    assert!(report.components >= 1 && report.components <= report.triangles);
    assert!(!report.to_string().is_empty());
    assert!(mesh::mass_properties(&loaded.mesh).volume.is_finite());

    // Nothing is left to mend.
    let again = mesh::clean(&loaded.mesh).expect("a clean mesh stays one");
    assert_eq!(again.mesh, loaded.mesh);
    assert!(!again.report.flipped && again.report.turned == 0);
    let _ = loaded.require_volume();
}
