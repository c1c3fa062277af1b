//! `barchan` alone: the hourglass from its scene to a picture and a movie, in a new folder, then the window if there is a display.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use barchan::render::{Engine, Renderer};
use barchan::world::Frame;
use barchan::{Look, Stage};
use barchan_viewer::has_display;

use crate::failure::Failure;
use crate::progress::Progress;
use crate::render::{Reel, SceneSource, Source, failure, write_png};
use crate::view;

const SCENE: &str = "hourglass";
/// Simulated frames after the first: four seconds.
const FRAMES: u64 = 240;
/// Images in a second of the movie [1/s].
const FPS: f64 = 30.0;
/// The frame of the picture: sand has reached the ground.
const PICTURE: u64 = 38;
/// Once the movie has so many images, it may end when so much time is over: nobody waits longer for a first look.
const ENOUGH: (u64, Duration) = (100, Duration::from_secs(100));

pub fn run() -> Result<(), Failure> {
    let start = Instant::now();
    let folder = new_folder()?;
    say!("an hourglass, simulated and drawn; `barchan help` lists what else there is");
    let look = Look {
        size: [960, 540],
        ..Look::default()
    };
    let progress = Progress::new("hourglass");
    let mut renderer = Renderer::open(Engine::Auto).map_err(|error| failure(error.into()))?;
    let mut source = SceneSource::open(SCENE, &[], look.show, Some(FRAMES), &progress)?;
    let (picture, movie) = (folder.join("hourglass.png"), folder.join("hourglass.mp4"));
    let mut reel = Reel::create(&movie, look.size, source.frame_rate(), Some(FPS), 1.0)?;
    let mut images = 0;
    // The movie's frames up to that of the picture, which is drawn before them: nobody likes to wait for a first look.
    let mut early = Vec::new();
    source.play(None, &progress, &mut |stage: &Stage, time, load| {
        if !reel.wants(time) {
            return Ok(true);
        }
        let frame = load()?;
        if frame.number < PICTURE {
            early.push(frame);
            return Ok(true);
        }
        let mut draw = |frame: &Frame| stage.draw(frame, &look, &mut renderer).map_err(failure);
        let image = draw(&frame)?;
        if frame.number == PICTURE {
            write_png(&picture, &image)?;
            let seconds = start.elapsed().as_secs_f64();
            progress.say(&format!("{}, {seconds:.0} s", picture.display()));
        }
        for frame in early.drain(..) {
            reel.push(frame.number, &draw(&frame)?)?;
            images += 1;
        }
        reel.push(frame.number, &image)?;
        images += 1;
        Ok(images < ENOUGH.0 || start.elapsed() < ENOUGH.1)
    })?;
    drop(progress);
    say!(
        "{}, drawn by {}, {:.0} s",
        reel.finish()?,
        renderer.name(),
        start.elapsed().as_secs_f64()
    );
    say!("next: barchan run excavator -o digging; barchan render digging; barchan view excavator");
    if has_display() {
        view::show(SCENE, &[], Engine::Auto)?;
    }
    Ok(())
}

/// The first of `barchan-hourglass`, `barchan-hourglass-2` and so on that is not there yet.
fn new_folder() -> Result<PathBuf, Failure> {
    for number in 1.. {
        let name = match number {
            1 => format!("barchan-{SCENE}"),
            _ => format!("barchan-{SCENE}-{number}"),
        };
        match std::fs::create_dir(&name) {
            Ok(()) => return Ok(name.into()),
            Err(reason) if reason.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(reason) => return Err(Failure::run(format!("cannot make the folder {name}: {reason}"))),
        }
    }
    unreachable!("there are more numbers than folders")
}
