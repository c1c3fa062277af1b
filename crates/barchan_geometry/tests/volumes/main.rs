//! Solids as signed distance: meshes, sampled fields, iso-surfaces, mass properties.

mod filled;
mod flat;
mod isosurface;
mod mass;
mod mesh_solid;
mod sdf_grid;
mod support;
