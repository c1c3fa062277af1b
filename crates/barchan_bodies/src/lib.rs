//! Rigid-body dynamics for every solver, on rapier: poses out, impulses in.
