//! Writes images as a movie: H.264 in an MP4 file, encoded by `ffmpeg` where it is installed, otherwise by a built-in
//! encoder.

mod apng;
mod built_in;
mod ffmpeg;
mod mp4;
mod yuv;

use std::fs;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::Image;
pub use apng::Animation;
use built_in::BuiltIn;
use ffmpeg::Ffmpeg;
use yuv::Yuv;

/// Reason why a movie cannot be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MovieError {
    /// The file could not be written.
    #[error("cannot write {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's message.
        source: std::io::Error,
    },
    /// `ffmpeg` was requested, but cannot be started.
    #[error("cannot start ffmpeg: {source}; without it, barchan encodes movies itself")]
    NoFfmpeg {
        /// The system's message.
        source: std::io::Error,
    },
    /// `ffmpeg` reported an error.
    #[error("ffmpeg could not make {}: {said}", path.display())]
    Ffmpeg {
        /// The file.
        path: PathBuf,
        /// Its last line of output.
        said: String,
    },
    /// The encoder reported no error, but the file cannot be played. It is removed.
    #[error("{} would not play: {reason}; is the disk full?", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// The defect.
        reason: std::io::Error,
    },
    /// The built-in encoder failed.
    #[error("cannot encode {}: {reason}", path.display())]
    Encode {
        /// The file.
        path: PathBuf,
        /// The error.
        reason: String,
    },
    /// An image does not have the size of the movie.
    #[error("a movie of {expected:?} pixels cannot take an image of {found:?}")]
    Size {
        /// Width and height of the movie [px].
        expected: [u32; 2],
        /// Width and height of the image [px].
        found: [u32; 2],
    },
    /// An image of an animated PNG could not be compressed.
    #[error(transparent)]
    Picture(Box<crate::Error>),
    /// The frame rate is out of range.
    #[error("a movie has more than 0 and at most 1000 frames per second, got {frame_rate}")]
    FrameRate {
        /// Frames per second [1/s].
        frame_rate: f64,
    },
}

/// Choice of the encoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MovieEncoder {
    /// The program `ffmpeg`, with x264.
    Ffmpeg,
    /// OpenH264, built into barchan.
    BuiltIn,
}

impl MovieEncoder {
    /// Returns `ffmpeg` if it is installed and supports x264, otherwise the built-in encoder.
    pub fn best() -> Self {
        if ffmpeg::is_installed() {
            Self::Ffmpeg
        } else {
            Self::BuiltIn
        }
    }

    /// Returns its name for users.
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

/// A movie being written. The file appears when it is finished; an unfinished movie leaves nothing.
///
/// H.264 halves the resolution of colors, so an odd side repeats its last row or column.
pub struct Movie {
    path: PathBuf,
    part: PathBuf,
    size: [u32; 2],
    yuv: Yuv,
    writer: Option<Writer>,
    encoder: MovieEncoder,
    images: u64,
}

impl Movie {
    /// Starts a movie of `width` x `height` [px] with `frame_rate` images per second [1/s].
    pub fn create(
        path: &Path,
        [width, height]: [u32; 2],
        frame_rate: f64,
        encoder: MovieEncoder,
    ) -> Result<Self, MovieError> {
        if !(frame_rate > 0.0 && frame_rate <= 1000.0) {
            return Err(MovieError::FrameRate { frame_rate });
        }
        let part = reserve(path).map_err(|source| MovieError::File {
            path: path.to_owned(),
            source,
        })?;
        let mut movie = Self {
            path: path.to_owned(),
            part,
            size: [width, height],
            yuv: Yuv::new(width, height),
            writer: None,
            encoder,
            images: 0,
        };
        let (part, size) = (&movie.part, movie.yuv.size);
        movie.writer = Some(match encoder {
            MovieEncoder::Ffmpeg => Writer::Ffmpeg(Ffmpeg::start(path, part, size, frame_rate)?),
            MovieEncoder::BuiltIn => Writer::BuiltIn(Box::new(BuiltIn::start(path, part, size, frame_rate)?)),
        });
        Ok(movie)
    }

    /// Returns its encoder.
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
        }?;
        self.images += 1;
        Ok(())
    }

    /// Finishes the movie, checks that it is complete, and renames it to its path.
    pub fn finish(mut self) -> Result<(), MovieError> {
        match self.writer.take() {
            Some(Writer::Ffmpeg(ffmpeg)) => ffmpeg.finish()?,
            Some(Writer::BuiltIn(built_in)) => built_in.finish()?,
            None => unreachable!("a movie is finished by value"),
        }
        mp4::check(&self.part, self.images).map_err(|reason| MovieError::Broken {
            path: self.path.clone(),
            reason,
        })?;
        fs::rename(&self.part, &self.path).map_err(|source| MovieError::File {
            path: self.path.clone(),
            source,
        })
    }
}

impl Drop for Movie {
    fn drop(&mut self) {
        // After finishing there is no such file.
        self.writer = None;
        let _ = fs::remove_file(&self.part);
    }
}

/// Creates the temporary file of a movie beside `path`, and returns its absolute path. Encoders receive that path: a
/// relative one may look like an option or an address to them.
fn reserve(path: &Path) -> std::io::Result<PathBuf> {
    if path.is_dir() {
        return Err(std::io::ErrorKind::IsADirectory.into());
    }
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.part", std::process::id()));
    let part = std::path::absolute(path.with_file_name(name))?;
    fs::File::create(&part)?;
    Ok(part)
}
