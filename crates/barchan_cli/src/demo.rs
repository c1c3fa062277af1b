//! `barchan` without a command: simulates the hourglass and draws a picture and a movie into a new folder, then opens
//! the window if there is a display.

use std::path::Path;
use std::time::Instant;

use barchan::geometry::text::short;
use barchan::render::{Engine, Renderer};
use barchan::world::Frame;
use barchan::{Look, Stage};
use barchan_viewer::has_display;

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::progress::{Progress, duration};
use crate::render::{Reel, SceneSource, Source, failure, write_png};
use crate::view;

const SCENE: &str = "hourglass";
/// Frame of the picture: sand has reached the ground.
const PICTURE_FRAME: u64 = 38;
/// Time budget for picture and movie [s]: a slower machine draws smaller images, never a shorter movie.
const TIME_BUDGET: f64 = 150.0;

/// Size of a movie's images and their number per second.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Format {
    /// [px].
    size: [u32; 2],
    /// [1/s].
    fps: f64,
}

/// Formats of the movie, the best first. The picture has the size of the first.
const FORMATS: [Format; 6] = [
    Format {
        size: [960, 540],
        fps: 30.0,
    },
    Format {
        size: [768, 432],
        fps: 30.0,
    },
    Format {
        size: [640, 360],
        fps: 30.0,
    },
    Format {
        size: [480, 270],
        fps: 30.0,
    },
    Format {
        size: [480, 270],
        fps: 15.0,
    },
    Format {
        size: [320, 180],
        fps: 15.0,
    },
];

pub fn run() -> Result<(), Failure> {
    let start = Instant::now();
    let folder = new_folder()?;
    say!("simulating and drawing an hourglass: a picture, then a movie");
    say!("files go to {folder}; `barchan help` lists all commands");
    let progress = Progress::new("hourglass");
    let interrupt = Interrupt::listen(&progress)?;
    let film = Film {
        scene: SCENE,
        folder: Path::new(&folder),
        picture: PICTURE_FRAME,
        formats: &FORMATS,
        budget: TIME_BUDGET,
        clock: &|| start.elapsed().as_secs_f64(),
        begin: &|| interrupt.begin_frames(),
        is_stopped: &|| interrupt.is_requested(),
    };
    let mut renderer = Renderer::open(Engine::Auto).map_err(|error| failure(error.into()))?;
    let movie = film.make(&mut renderer, &progress)?;
    drop(progress);
    say!("{movie}");
    let spent = duration(start.elapsed().as_secs_f64());
    say!("drawn by {}, {spent} in total", renderer.name());
    if interrupt.is_requested() {
        say!("stopped early: the movie is incomplete");
        return Ok(());
    }
    say!("next:\n  barchan run excavator -o digging\n  barchan render digging\n  barchan view excavator");
    if has_display() {
        view::show(SCENE, &[], Engine::Auto)?;
    }
    Ok(())
}

/// A picture and a movie of a scene, made while it is simulated.
struct Film<'a> {
    /// Path or name of the scene.
    scene: &'a str,
    /// Folder that picture and movie go to.
    folder: &'a Path,
    /// Frame of the picture.
    picture: u64,
    /// Formats of the movie, the best first.
    formats: &'a [Format],
    /// Time budget [s].
    budget: f64,
    /// Time since the start [s].
    clock: &'a dyn Fn() -> f64,
    /// Called when the scene is built.
    begin: &'a dyn Fn(),
    is_stopped: &'a dyn Fn() -> bool,
}

impl Film<'_> {
    /// Simulates the scene to its end, and describes the movie.
    fn make(&self, renderer: &mut Renderer, progress: &Progress) -> Result<String, Failure> {
        let best = self.formats[0];
        let mut look = Look {
            size: best.size,
            ..Look::default()
        };
        let mut source = SceneSource::open(self.scene, &[], look.show, None, progress)?;
        (self.begin)();
        let (frame_rate, frames) = (source.frame_rate(), source.last_frame());
        let movie = self.folder.join(format!("{}.mp4", source.name()));
        let picture = self.folder.join(format!("{}.png", source.name()));
        let picture_frame = self.picture.min(frames);
        let begun = (self.clock)();
        let mut reel: Option<Reel> = None;
        // Frames up to that of the picture, which is drawn before them for a first look.
        let mut early: Vec<Frame> = Vec::new();
        source.play(None, progress, &mut |stage: &Stage, time, load| {
            if (self.is_stopped)() {
                return Ok(false);
            }
            if let Some(reel) = &mut reel {
                if reel.wants(time) {
                    let frame = load()?;
                    reel.push(frame.number, &stage.draw(&frame, &look, renderer).map_err(failure)?)?;
                }
                return Ok(true);
            }
            let frame = load()?;
            if frame.number < picture_frame {
                let is_due = |last: &Frame| (time * best.fps + 1e-6).floor() > (last.time * best.fps + 1e-6).floor();
                if early.last().is_none_or(is_due) {
                    early.push(frame);
                }
                return Ok(true);
            }
            let simulated = (self.clock)() - begun;
            write_png(&picture, &stage.draw(&frame, &look, renderer).map_err(failure)?)?;
            let now = (self.clock)();
            progress.say(&format!("{}, {}", picture.display(), duration(now)));
            let pace = Pace {
                // Assumes that later frames take as long as these.
                simulation: now + simulated * (frames - frame.number) as f64 / frame.number.max(1) as f64,
                seconds: frames as f64 / frame_rate,
            };
            let mut time_of = |size| {
                let look = Look { size, ..look.clone() };
                let start = (self.clock)();
                stage.draw(&frame, &look, renderer).map_err(failure)?;
                Ok((self.clock)() - start)
            };
            let choice = choose(self.formats, &pace, self.budget, &mut time_of)?;
            progress.say(&choice.describe(best, &pace));
            look.size = choice.format.size;
            let fps = Some(choice.format.fps);
            let new = reel.insert(Reel::create(&movie, look.size, frame_rate, fps, 1.0)?);
            for frame in early.drain(..).chain([frame]) {
                if new.wants(frame.time) {
                    new.push(frame.number, &stage.draw(&frame, &look, renderer).map_err(failure)?)?;
                }
            }
            // The frames so far were not drawn, and these images took the time of many.
            progress.change_pace();
            Ok(true)
        })?;
        match reel {
            Some(reel) => reel.finish(),
            None => Err(Failure::run("stopped before there was a picture")),
        }
    }
}

/// Speed of the simulation, once it is known.
struct Pace {
    /// Time at which all frames would be simulated if none were drawn [s].
    simulation: f64,
    /// Length of the movie [s].
    seconds: f64,
}

/// Chosen format of the movie, and the reason.
#[derive(Debug, PartialEq)]
struct Choice {
    format: Format,
    /// Time until the movie is done [s].
    time: f64,
    /// The same for the best format [s].
    best_time: f64,
}

impl Choice {
    fn describe(&self, best: Format, pace: &Pace) -> String {
        let Format { size: [w, h], fps } = self.format;
        let mut text = format!(
            "movie of {} s, {w}x{h}, {fps} images per second: done after about {}",
            short(pace.seconds),
            duration(self.time)
        );
        if self.format != best {
            let Format { size: [w, h], fps } = best;
            text += &format!(
                "\n  smaller, as {w}x{h} at {fps} would take {} here",
                duration(self.best_time)
            );
        }
        text
    }
}

/// Chooses the first format whose movie is done within `budget` [s], or the last. `time_of` draws an image and returns
/// its time [s].
fn choose(
    formats: &[Format],
    pace: &Pace,
    budget: f64,
    time_of: &mut dyn FnMut([u32; 2]) -> Result<f64, Failure>,
) -> Result<Choice, Failure> {
    let mut best_time = None;
    let mut last: Option<([u32; 2], f64)> = None;
    for (k, &format) in formats.iter().enumerate() {
        let image = match last {
            Some((size, image)) if size == format.size => image,
            _ => time_of(format.size)?,
        };
        last = Some((format.size, image));
        let time = pace.simulation + image * format.fps * pace.seconds;
        let best_time = *best_time.get_or_insert(time);
        if time <= budget || k + 1 == formats.len() {
            return Ok(Choice {
                format,
                time,
                best_time,
            });
        }
    }
    unreachable!("there is a last format")
}

/// Creates the first of `barchan-hourglass`, `barchan-hourglass-2` and so on that does not exist yet.
fn new_folder() -> Result<String, Failure> {
    for number in 1.. {
        let name = match number {
            1 => format!("barchan-{SCENE}"),
            _ => format!("barchan-{SCENE}-{number}"),
        };
        match std::fs::create_dir(&name) {
            Ok(()) => return Ok(name),
            Err(reason) if reason.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(reason) => return Err(Failure::run(format!("cannot make the folder {name}: {reason}"))),
        }
    }
    unreachable!("there are more numbers than folders")
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Twelve simulated seconds whose simulation alone takes a minute.
    const PACE: Pace = Pace {
        simulation: 60.0,
        seconds: 12.0,
    };

    /// Chooses the format where a million pixels take `megapixel` [s].
    fn chosen(megapixel: f64) -> Choice {
        let mut time_of = |[w, h]: [u32; 2]| Ok(1e-6 * megapixel * f64::from(w * h));
        choose(&FORMATS, &PACE, 150.0, &mut time_of).unwrap()
    }

    #[test]
    fn a_slow_machine_draws_smaller_images() {
        assert_eq!(chosen(0.1).format, FORMATS[0]);
        // 361 images in 90 s leave a quarter of a second each.
        assert_eq!(chosen(0.70).format, FORMATS[1]);
        assert_eq!(chosen(1.0).format, FORMATS[2]);
        assert_eq!(chosen(1.9).format, FORMATS[3]);
        assert_eq!(chosen(3.0).format, FORMATS[4]);
        // Nothing fits: the smallest format, with its time.
        let choice = chosen(100.0);
        assert_eq!(choice.format, FORMATS[5]);
        assert!((choice.time - (60.0 + 5.76 * 180.0)).abs() < 1e-6, "{choice:?}");
        assert!(choice.best_time > choice.time);
    }

    const SMALL: &str = r#"
        name = "drop"
        duration = 0.5
        frame_rate = 60
        [materials.sand]
        density = 1600
        [[fill]]
        material = "sand"
        radius = 0.05
        packing = "lattice"
        shape = { box = { size = [0.3, 0.3, 0.3] } }
    "#;

    /// Makes a movie of half a second with a clock that advances by `tick` [s] whenever it is read.
    fn made(tick: f64) -> (String, bool) {
        let folder = tempfile::tempdir().unwrap();
        let scene = folder.path().join("drop.toml");
        std::fs::write(&scene, SMALL).unwrap();
        let now = Cell::new(0.0);
        let formats = [([64, 48], 30.0), ([48, 32], 30.0), ([32, 32], 10.0)].map(|(size, fps)| Format { size, fps });
        let film = Film {
            scene: scene.to_str().unwrap(),
            folder: folder.path(),
            picture: 7,
            formats: &formats,
            budget: 150.0,
            clock: &|| {
                now.set(now.get() + tick);
                now.get()
            },
            begin: &|| (),
            is_stopped: &|| false,
        };
        let mut renderer = Renderer::open(Engine::Cpu).unwrap();
        let movie = film.make(&mut renderer, &Progress::new("test")).unwrap();
        (movie, folder.path().join("drop.png").exists())
    }

    #[test]
    fn the_movie_lasts_as_long_as_the_scene_however_slow_the_machine_is() {
        // Half a second: 15 images at 30 per second and the first, or 5 at 10 and the first.
        for (tick, images) in [(0.0, "16 images"), (1000.0, "6 images")] {
            let (movie, has_picture) = made(tick);
            assert!(movie.starts_with(images), "{movie}");
            assert!(has_picture);
        }
    }
}
