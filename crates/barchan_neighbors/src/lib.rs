//! Spatial sort and fixed-radius neighbour search over points: positions and a radius, nothing else.
