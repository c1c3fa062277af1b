//! Images as a movie: H.264 in an MP4 file, made by `ffmpeg` where it is installed, else by an encoder of our own.

mod built_in;
mod ffmpeg;
mod yuv;

use std::fs;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::Image;
use built_in::BuiltIn;
use ffmpeg::Ffmpeg;
use yuv::Yuv;

/// Why there is no movie.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MovieError {
    /// The file could not be written.
    #[error("cannot write {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// `ffmpeg` was asked for, but is not there or does not start.
    #[error("cannot start ffmpeg: {source}; without it, barchan encodes movies itself")]
    NoFfmpeg {
        /// What the system said.
        source: std::io::Error,
    },
    /// `ffmpeg` gave up.
    #[error("ffmpeg could not make {}: {said}", path.display())]
    Ffmpeg {
        /// The file.
        path: PathBuf,
        /// Its last words.
        said: String,
    },
    /// The built-in encoder gave up.
    #[error("cannot encode {}: {reason}", path.display())]
    Encode {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// Frames of a movie are equally large.
    #[error("a movie of {expected:?} pixels cannot take an image of {found:?}")]
    Size {
        /// Width and height of the movie [px].
        expected: [u32; 2],
        /// Width and height of the image [px].
        found: [u32; 2],
    },
    /// A frame rate that no movie has.
    #[error("a movie has more than 0 and at most 1000 frames a second, got {frame_rate}")]
    FrameRate {
        /// Frames in a second [1/s].
        frame_rate: f64,
    },
}

/// Who makes the movie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MovieEncoder {
    /// The program `ffmpeg`, with x264.
    Ffmpeg,
    /// OpenH264, built into barchan.
    BuiltIn,
}

impl MovieEncoder {
    /// `ffmpeg` if it is installed and knows x264.
    pub fn best() -> Self {
        if ffmpeg::is_installed() {
            Self::Ffmpeg
        } else {
            Self::BuiltIn
        }
    }

    /// What users call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ffmpeg => "ffmpeg",
            Self::BuiltIn => "the built-in encoder",
        }
    }
}

enum Writer {
    Ffmpeg(Ffmpeg),
    BuiltIn(Box<BuiltIn>),
}

/// A movie in the making. It comes into its place when it is finished; one that is not finished leaves nothing.
///
/// H.264 halves the resolution of colours, so that an odd side gets its last row or column twice.
pub struct Movie {
    path: PathBuf,
    part: PathBuf,
    size: [u32; 2],
    yuv: Yuv,
    writer: Option<Writer>,
    encoder: MovieEncoder,
}

impl Movie {
    /// Begins a movie of `width` x `height` [px] with `frame_rate` images a second [1/s].
    pub fn create(
        path: &Path,
        [width, height]: [u32; 2],
        frame_rate: f64,
        encoder: MovieEncoder,
    ) -> Result<Self, MovieError> {
        if !(frame_rate > 0.0 && frame_rate <= 1000.0) {
            return Err(MovieError::FrameRate { frame_rate });
        }
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".part");
        let part = path.with_file_name(name);
        let yuv = Yuv::new(width, height);
        let writer = match encoder {
            MovieEncoder::Ffmpeg => Writer::Ffmpeg(Ffmpeg::start(&part, yuv.size, frame_rate)?),
            MovieEncoder::BuiltIn => Writer::BuiltIn(Box::new(BuiltIn::start(&part, yuv.size, frame_rate)?)),
        };
        Ok(Self {
            path: path.to_owned(),
            part,
            size: [width, height],
            yuv,
            writer: Some(writer),
            encoder,
        })
    }

    /// Who makes it.
    pub fn encoder(&self) -> MovieEncoder {
        self.encoder
    }

    /// Appends an image.
    pub fn push(&mut self, image: &Image) -> Result<(), MovieError> {
        let found = [image.width, image.height];
        if found != self.size {
            return Err(MovieError::Size {
                expected: self.size,
                found,
            });
        }
        self.yuv.read(image);
        match &mut self.writer {
            Some(Writer::Ffmpeg(ffmpeg)) => ffmpeg.push(&self.yuv),
            Some(Writer::BuiltIn(built_in)) => built_in.push(&self.yuv),
            None => unreachable!("a movie is finished by value"),
        }
    }

    /// Ends the movie and puts it into its place.
    pub fn finish(mut self) -> Result<(), MovieError> {
        match self.writer.take() {
            Some(Writer::Ffmpeg(ffmpeg)) => ffmpeg.finish()?,
            Some(Writer::BuiltIn(built_in)) => built_in.finish()?,
            None => unreachable!("a movie is finished by value"),
        }
        fs::rename(&self.part, &self.path).map_err(|source| MovieError::File {
            path: self.path.clone(),
            source,
        })
    }
}

impl Drop for Movie {
    fn drop(&mut self) {
        // Also after finishing: then there is no such file.
        self.writer = None;
        let _ = fs::remove_file(&self.part);
    }
}
