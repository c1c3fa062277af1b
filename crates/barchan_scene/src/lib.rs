//! Scene files: the text that describes shapes, with the place in every error.
