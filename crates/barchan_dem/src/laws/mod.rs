//! Equations, as pure functions of plain numbers, without loops, storage and threads.

pub(crate) mod capillary;
pub(crate) mod duration;
pub(crate) mod effective;
pub(crate) mod hertz_constant;
pub(crate) mod hertz_tsuji;
pub(crate) mod hertz_viscoelastic;
pub(crate) mod linear;
pub(crate) mod normal;
pub(crate) mod repose;
pub(crate) mod restitution;
pub(crate) mod rolling;
pub(crate) mod shear;
