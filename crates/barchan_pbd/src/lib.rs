//! Position-based sand ([Sommer22]).
