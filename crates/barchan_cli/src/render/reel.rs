//! Destinations of images: a file, a folder, a movie.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use barchan::geometry::text::counted;
use barchan::io::write_atomically;
use barchan::render::{Animation, Error, Image, Layers, Movie, MovieEncoder};

use super::movie_failure;
use crate::failure::Failure;

/// Writes images as they are drawn.
pub struct Reel {
    path: PathBuf,
    kind: Kind,
    clock: Clock,
    images: u64,
}

/// Kind of output at a path.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// One picture.
    Picture,
    /// The layers of one picture.
    Layers,
    /// Numbered pictures.
    Folder,
    /// A movie.
    Movie,
    /// An animated PNG.
    Animation,
}

impl Target {
    /// Derives the kind from the path's extension.
    pub fn of(path: &Path) -> Result<Self, Failure> {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        match ending.as_deref() {
            _ if path.is_dir() => Ok(Self::Folder),
            None => Ok(Self::Folder),
            Some("png") => Ok(Self::Picture),
            Some("exr") => Ok(Self::Layers),
            Some("mp4") => Ok(Self::Movie),
            Some("apng") => Ok(Self::Animation),
            Some(other) => Err(Failure::input(format!(
                "{}: cannot write .{other}; a movie ends in .mp4 or .apng, a picture in .png or .exr, a folder has no ending",
                path.display()
            ))),
        }
    }
}

enum Kind {
    Picture,
    Folder,
    Movie(Movie),
    Animation(Animation),
}

/// Maps frames to images of a movie by their times.
struct Clock {
    /// Images per simulated second [1/s]; `None` if every frame is one image.
    rate: Option<f64>,
    /// Time of the first frame [s].
    start: Option<f64>,
    /// Images that are due up to the current frame.
    due: u64,
    /// Images written before the current frame.
    done: u64,
}

impl Clock {
    /// Advances to a frame at `time` [s]: image k shows the first frame that is not before k / rate.
    fn advance(&mut self, time: f64) {
        let start = *self.start.get_or_insert(time);
        self.done = self.due;
        self.due = match self.rate {
            None => self.due + 1,
            // Rounds up numbers just below an integer.
            Some(rate) => ((time - start) * rate + 1e-6).floor() as u64 + 1,
        };
    }
}

impl Reel {
    /// Creates the output at `path`, a `.mp4`, a `.apng`, a `.png`, an `.exr` or a folder. Frames come at `frame_rate` per simulated
    /// second [1/s].
    pub fn create(path: &Path, size: [u32; 2], frame_rate: f64, fps: Option<f64>, speed: f64) -> Result<Self, Failure> {
        let resampled = fps.is_some() || speed != 1.0;
        let fps = fps.unwrap_or(frame_rate);
        let (kind, rate) = match Target::of(path)? {
            Target::Picture | Target::Layers => {
                make_folder(path.parent().unwrap_or(Path::new("")))?;
                (Kind::Picture, None)
            }
            Target::Folder => (Kind::Folder, resampled.then_some(fps / speed)),
            Target::Movie => {
                make_folder(path.parent().unwrap_or(Path::new("")))?;
                let movie = Movie::create(path, size, fps, MovieEncoder::best()).map_err(movie_failure)?;
                // Caches may lack frames: the clock keeps the pace.
                (Kind::Movie(movie), Some(fps / speed))
            }
            Target::Animation => {
                make_folder(path.parent().unwrap_or(Path::new("")))?;
                let animation = Animation::new(size, fps).map_err(movie_failure)?;
                (Kind::Animation(animation), Some(fps / speed))
            }
        };
        if matches!(kind, Kind::Folder) {
            make_folder(path)?;
        }
        Ok(Self {
            path: path.to_owned(),
            kind,
            clock: Clock {
                rate,
                start: None,
                due: 0,
                done: 0,
            },
            images: 0,
        })
    }

    /// Returns true if the next frame, at `time` [s], is to be drawn.
    pub fn wants(&mut self, time: f64) -> bool {
        self.clock.advance(time);
        self.clock.due > self.clock.done
    }

    /// Writes the image of frame `number`, repeated as often as needed.
    pub fn push(&mut self, number: u64, image: &Image) -> Result<(), Failure> {
        match &mut self.kind {
            Kind::Picture | Kind::Folder => {
                for path in self.pictures(number, "png") {
                    write_png(&path, image)?;
                }
            }
            Kind::Movie(movie) => {
                for _ in self.clock.done..self.clock.due {
                    movie.push(image).map_err(movie_failure)?;
                }
            }
            Kind::Animation(animation) => {
                for _ in self.clock.done..self.clock.due {
                    animation.push(image).map_err(movie_failure)?;
                }
            }
        }
        self.images += self.clock.due - self.clock.done;
        Ok(())
    }

    /// Writes the layers of frame `number` to a picture or pictures, as OpenEXR or as PNG with alpha.
    pub fn push_layers(&mut self, number: u64, layers: &Layers, exr: bool) -> Result<(), Failure> {
        for path in self.pictures(number, if exr { "exr" } else { "png" }) {
            write_whole(&path, |out| {
                if exr {
                    layers.write_exr(out)
                } else {
                    layers.write_png(out)
                }
            })?;
        }
        self.images += self.clock.due - self.clock.done;
        Ok(())
    }

    /// Returns the files of frame `number`: one, or as many as the clock of a folder demands.
    fn pictures(&self, number: u64, ending: &str) -> Vec<PathBuf> {
        let name = |number: u64| self.path.join(format!("{number:06}.{ending}"));
        match (&self.kind, self.clock.rate) {
            (Kind::Folder, None) => vec![name(number)],
            (Kind::Folder, Some(_)) => (self.clock.done..self.clock.due).map(name).collect(),
            _ => vec![self.path.clone()],
        }
    }

    /// Returns true if no image has been written.
    pub fn is_empty(&self) -> bool {
        self.images == 0
    }

    /// Finishes the output, and describes it.
    pub fn finish(self) -> Result<String, Failure> {
        let path = self.path.display();
        if self.images == 0 {
            return Err(Failure::input("there is nothing to draw"));
        }
        Ok(match self.kind {
            Kind::Picture => path.to_string(),
            Kind::Folder => format!("{} in {path}", counted(self.images, "picture")),
            Kind::Movie(movie) => {
                let by = movie.encoder().name();
                movie.finish().map_err(movie_failure)?;
                format!("{} in {path}, encoded by {by}", counted(self.images, "image"))
            }
            Kind::Animation(animation) => {
                write_atomically(&self.path, |out| animation.write(out))
                    .map_err(|error| Failure::run(error.to_string()))?;
                format!("{} in {path}", counted(self.images, "image"))
            }
        })
    }
}

fn make_folder(path: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(path).map_err(|reason| Failure::run(format!("cannot make {}: {reason}", path.display())))
}

/// Writes a picture atomically.
pub fn write_png(path: &Path, image: &Image) -> Result<(), Failure> {
    write_whole(path, |out| image.write_png(out))
}

fn write_whole(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> Result<(), Error>) -> Result<(), Failure> {
    write_atomically(path, |out| write(out).map_err(std::io::Error::other))
        .map_err(|error| Failure::run(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn images_of_frames(rate: Option<f64>, frames: u64, frame_rate: f64) -> Vec<u64> {
        let mut clock = Clock {
            rate,
            start: None,
            due: 0,
            done: 0,
        };
        (0..frames)
            .map(|frame| {
                clock.advance(5.0 + frame as f64 / frame_rate);
                clock.due - clock.done
            })
            .collect()
    }

    #[test]
    fn each_image_shows_its_time() {
        assert_eq!(images_of_frames(None, 4, 60.0), [1, 1, 1, 1]);
        assert_eq!(images_of_frames(Some(60.0), 4, 60.0), [1, 1, 1, 1]);
        // Half the images: every other frame; twice the images: every frame twice.
        assert_eq!(images_of_frames(Some(30.0), 5, 60.0), [1, 0, 1, 0, 1]);
        assert_eq!(images_of_frames(Some(120.0), 3, 60.0), [1, 2, 2]);
        // No drift: ten seconds at 24 images per second from 60 frames per second are 240 images and the first.
        assert_eq!(images_of_frames(Some(24.0), 601, 60.0).iter().sum::<u64>(), 241);
    }
}
