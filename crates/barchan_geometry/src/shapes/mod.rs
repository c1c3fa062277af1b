//! Implicit solids, one file each, and what composes and moves them.
