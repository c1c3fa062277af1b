//! `barchan render`: draws a cache, or a scene while it is simulated, as a picture, pictures or a movie.

pub mod options;
mod reel;
mod source;

use std::path::{Path, PathBuf};

use barchan::render::{Backdrop, Error, MovieError, Renderer};
use barchan::scene::Scene;
use barchan::{Coloring, Look, LookError, Stage, file_name};
use clap::Args;

use crate::disk::size;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::progress::Progress;
use crate::{memory, use_threads};
use options::LookArguments;
pub use reel::{Reel, Target, write_png};
pub use source::{CacheSource, SceneSource, Source};

/// Draw a cache or a scene.
#[derive(Args)]
pub struct Arguments {
    /// Folder of a cache; or a scene, which is simulated and drawn without keeping a cache
    #[arg(value_name = "DIR|SCENE")]
    what: String,

    /// Output: a movie (.mp4), an animated PNG (.apng), a picture (.png), its layers for compositing (.exr), or a
    /// folder for numbered pictures [default: NAME.mp4]
    #[arg(long, short, value_name = "FILE|FOLDER")]
    output: Option<PathBuf>,

    /// Frame of a picture [default: the last one]
    #[arg(long, value_name = "N")]
    frame: Option<u64>,

    /// Frames after the first to draw or simulate [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=Scene::MOST_FRAMES))]
    frames: Option<u64>,

    /// Change a value of the scene, as in `barchan run`
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,

    /// Draw only every N-th frame from the K-th on, into a folder: shards 1/N to N/N draw all frames
    #[arg(long, value_name = "K/N", value_parser = parse_shard)]
    shard: Option<Shard>,

    /// Images per second of a movie [default: the frame rate of the scene]
    #[arg(long, value_name = "F")]
    fps: Option<f64>,

    /// Simulated seconds per second of a movie
    #[arg(long, value_name = "X", default_value_t = 1.0)]
    speed: f64,

    /// Files in a folder: pictures, or layers for compositing with light, alpha, depth and ids
    #[arg(long, value_name = "FORMAT", default_value = "png", value_parser = ["png", "exr"])]
    format: String,

    /// Leave out sky, ground and color bar; shadows on the ground stay
    #[arg(long)]
    transparent: bool,

    #[command(flatten)]
    look: LookArguments,

    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

/// One of several equal parts of the frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shard {
    /// From 1 to `count`.
    number: u64,
    count: u64,
}

impl Shard {
    /// Returns true if the frame with this index, from 0, is in the shard.
    fn holds(self, index: u64) -> bool {
        index % self.count == self.number - 1
    }
}

fn parse_shard(text: &str) -> Result<Shard, String> {
    let parsed = text.split_once('/');
    let parsed = parsed.and_then(|(number, count)| Some((number.parse().ok()?, count.parse().ok()?)));
    parsed
        .filter(|(number, count)| (1..=*count).contains(number))
        .map(|(number, count)| Shard { number, count })
        .ok_or_else(|| "a shard such as 2/8, from 1/8 to 8/8".to_owned())
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    use_threads(arguments.threads)?;
    let mut look = arguments.look.look()?;
    // At lower speeds a single frame would be shown for hours.
    if !(1e-3..=1e3).contains(&arguments.speed) {
        return Err(Failure::input("--speed must be from 0.001 to 1000"));
    }
    if arguments.fps.is_some_and(|fps| !(1.0..=1e3).contains(&fps)) {
        return Err(Failure::input("--fps must be from 1 to 1000 images per second"));
    }
    let target = arguments.output.as_deref().map_or(Ok(Target::Movie), Target::of)?;
    if arguments.frame.is_some() && !matches!(target, Target::Picture | Target::Layers) {
        return Err(Failure::input("--frame needs a picture: -o FILE.png"));
    }
    let layered = layers(arguments, target)?;
    check_memory(look.size, layered.is_some(), memory::available())?;
    if arguments.shard.is_some() && (target != Target::Folder || !Path::new(&arguments.what).is_dir()) {
        return Err(Failure::input(
            "--shard draws frames of a cache into a folder: DIR -o FOLDER",
        ));
    }
    let progress = Progress::new("drawing");
    let interrupt = Interrupt::listen(&progress)?;
    let mut source = open(arguments, &look, &progress)?;
    interrupt.begin_frames();
    let default = || PathBuf::from(format!("{}.mp4", file_name(&source.name())));
    let output = arguments.output.clone().unwrap_or_else(default);
    let chosen = match target {
        Target::Picture | Target::Layers => Some(arguments.frame.unwrap_or_else(|| source.last_frame())),
        Target::Folder | Target::Movie | Target::Animation => None,
    };
    if let Coloring::Column { name, .. } = &look.coloring
        && source.is_followed(name)?
    {
        progress.say(&format!(
            "note: grains have no column `{name}` and take that of the nearest guide; --guides draws guides"
        ));
    }
    if chosen.is_none() {
        source.survey(&mut look)?;
    }
    let mut reel = Reel::create(&output, look.size, source.frame_rate(), arguments.fps, arguments.speed)?;
    let mut renderer = match layered {
        Some(_) => Renderer::Cpu,
        None => arguments.look.renderer()?,
    };
    let mut index = 0;
    source.play(chosen, &progress, &mut |stage: &Stage, time, load| {
        let stop = interrupt.is_requested();
        let is_in_shard = arguments.shard.is_none_or(|shard| shard.holds(index));
        index += 1;
        // The reel counts the frames of other shards, too.
        if !stop && reel.wants(time) && is_in_shard {
            let frame = load()?;
            if chosen.is_none() {
                // No effect if the survey has seen all frames.
                stage.include(&frame, &mut look).map_err(failure)?;
            }
            match layered {
                Some((backdrop, exr)) => {
                    let layers = stage.draw_layers(&frame, &look, backdrop).map_err(failure)?;
                    reel.push_layers(frame.number, &layers, exr)?;
                }
                None => {
                    let image = stage.draw(&frame, &look, &mut renderer).map_err(failure)?;
                    reel.push(frame.number, &image)?;
                }
            }
        }
        Ok(!stop)
    })?;
    drop(progress);
    let stopped = if interrupt.is_requested() {
        ", stopped early"
    } else {
        ""
    };
    if arguments.shard.is_some() && reel.is_empty() {
        say!("no frames in this shard");
        return Ok(());
    }
    say!("{}, drawn by {}{stopped}", reel.finish()?, renderer.name());
    Ok(())
}

/// Returns the backdrop of layers, and whether they become an OpenEXR file; `None` for an image.
fn layers(arguments: &Arguments, target: Target) -> Result<Option<(Backdrop, bool)>, Failure> {
    let exr = match target {
        Target::Layers => true,
        Target::Folder => arguments.format == "exr",
        _ if arguments.format == "exr" => return Err(Failure::input("--format exr needs a folder: -o FOLDER")),
        _ => false,
    };
    if !exr && !arguments.transparent {
        return Ok(None);
    }
    if !matches!(target, Target::Picture | Target::Layers | Target::Folder) {
        return Err(Failure::input(
            "--transparent needs pictures: -o FILE.png, -o FILE.exr or -o FOLDER",
        ));
    }
    arguments.look.check_layers()?;
    let backdrop = if arguments.transparent {
        Backdrop::Nothing
    } else {
        Backdrop::Sky
    };
    Ok(Some((backdrop, exr)))
}

/// Memory per pixel of a picture being drawn [bytes]: 38 were measured at 2048x2048 and 4096x4096.
const PIXEL_BYTES: u64 = 40;
/// The same of layers, with the encoded file.
const LAYER_BYTES: u64 = 140;

/// Rejects a picture that would need more than the `free` memory [bytes].
fn check_memory([width, height]: [u32; 2], layered: bool, free: Option<u64>) -> Result<(), Failure> {
    let needed = u64::from(width) * u64::from(height) * if layered { LAYER_BYTES } else { PIXEL_BYTES };
    match free.filter(|&free| needed > free) {
        None => Ok(()),
        Some(free) => Err(Failure::input(format!(
            "--size: a picture of {width}x{height} pixels needs {} of memory, {} are free: take a smaller one",
            size(needed),
            size(free)
        ))),
    }
}

fn open(arguments: &Arguments, look: &Look, progress: &Progress) -> Result<Box<dyn Source>, Failure> {
    let path = Path::new(&arguments.what);
    if path.is_dir() {
        if let Some(set) = arguments.set.first() {
            return Err(Failure::input(format!(
                "{} is a cache, which is simulated already: --set {set} has no effect",
                path.display()
            )));
        }
        return Ok(Box::new(CacheSource::open(path, look, arguments.frames)?));
    }
    let frames = match arguments.frame {
        Some(frame) => Some(frame),
        None => arguments.frames,
    };
    Ok(Box::new(SceneSource::open(
        &arguments.what,
        &arguments.set,
        look.show,
        frames,
        progress,
    )?))
}

/// Maps a drawing error to its exit code.
pub fn failure(error: LookError) -> Failure {
    match error {
        LookError::Render(Error::File { .. } | Error::Png(_) | Error::Exr(_)) => Failure::run(error.to_string()),
        _ => Failure::input(error.to_string()),
    }
}

/// Maps a movie error to its exit code.
fn movie_failure(error: MovieError) -> Failure {
    match error {
        MovieError::FrameRate { .. } => Failure::input(error.to_string()),
        _ => Failure::run(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_divide_the_frames() {
        let shards = ["1/3", "2/3", "3/3"].map(|text| parse_shard(text).unwrap());
        for index in 0..10 {
            assert_eq!(shards.iter().filter(|shard| shard.holds(index)).count(), 1, "{index}");
        }
        for wrong in ["0/3", "4/3", "1/0", "1", "a/b", "-1/2"] {
            assert!(parse_shard(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_picture_that_memory_cannot_hold_is_refused_by_number() {
        let refused = check_memory([16_384, 16_384], false, Some(6_000_000_000))
            .unwrap_err()
            .to_string();
        assert!(
            refused.contains("16384x16384 pixels needs 10.7 GB of memory, 6.0 GB are free"),
            "{refused}"
        );
        assert!(check_memory([1280, 720], false, Some(6_000_000_000)).is_ok());
        assert!(check_memory([16_384, 16_384], false, None).is_ok());
        // Layers need more.
        assert!(check_memory([8192, 8192], false, Some(6_000_000_000)).is_ok());
        assert!(check_memory([8192, 8192], true, Some(6_000_000_000)).is_err());
    }
}
