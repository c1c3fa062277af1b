//! Signed distance on a grid: one interpolation instead of one query.
