//! Any shape to a triangle mesh.
