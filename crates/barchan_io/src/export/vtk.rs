//! VTK XML: one .vtp file per frame for guides, grains and bodies, and for each of them a .pvd file with the times.
//! Bodies are the triangles of their surfaces, posed; the table of bodies is included.

use std::io::{self, Write};
use std::path::Path;

use barchan_world::BodyState;

use super::files::{Notation, Written, write_cloud};
use super::poses::Poses;
use super::surfaces::BodySurfaces;
use super::{Export, ExportError};
use crate::vtp::{self, Surfaces};
use crate::{Part, write_atomically};

pub(super) fn export(export: &mut Export) -> Result<(), ExportError> {
    let surfaces = BodySurfaces::load(export)?;
    let write_bodies = |path: &Path, bodies| write_bodies(path, &surfaces, bodies);
    let write_cloud = |path: &Path, _, cloud| write_cloud(path, &cloud, Notation::Linear);
    let written = export.each_frame("vtp", &write_cloud, Some(&write_bodies))?;
    export.body_table()?;
    for part in Part::USUAL {
        let files: Vec<&Written> = written.iter().filter(|w| w.part == part).collect();
        if !files.is_empty() {
            let path = export.out.join(format!("{}.pvd", part.name()));
            write_atomically(&path, |out| collection(out, &files))?;
        }
    }
    Ok(())
}

/// Writes posed surfaces with the table of bodies. A body without a surface, such as the ground, is a point.
fn write_bodies(path: &Path, surfaces: &BodySurfaces, bodies: Vec<BodyState>) -> Result<(), ExportError> {
    let posed = surfaces.posed(&bodies);
    let poses = Poses::of(bodies);
    let surfaces = Surfaces {
        mesh: posed.mesh,
        owners: posed.owners,
        lone: posed.lone,
        rows: &poses.columns(),
    };
    Ok(write_atomically(path, |out| vtp::write_surfaces(out, &surfaces))?)
}

fn collection(out: &mut impl Write, files: &[&Written]) -> io::Result<()> {
    writeln!(out, r#"<?xml version="1.0"?>"#)?;
    writeln!(
        out,
        r#"<VTKFile type="Collection" version="1.0" byte_order="LittleEndian">"#
    )?;
    writeln!(out, "<Collection>")?;
    for Written { time, file, .. } in files {
        writeln!(out, r#"<DataSet timestep="{time}" part="0" file="{file}"/>"#)?;
    }
    writeln!(out, "</Collection>\n</VTKFile>")
}
