//! The player's thread.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use barchan::geometry::text::counted;
use barchan::interact::Touch;
use barchan::io::write_atomically;
use barchan::render::{Engine, Image, Legend, Movie, MovieEncoder, Renderer};
use barchan::scene::Lever;
use barchan::world::Frame;
use barchan::{Look, Show, Stage};

use crate::ViewerError;
use crate::player::{Note, Order, Outbox, Shot};
use crate::shown::Shown;
use crate::source::Source;

/// Longest time to draw a picture [ms] before moving pictures are drawn smaller.
const MAX_DRAW_MS: f64 = 60.0;
/// Smallest size of such a picture relative to the window [-].
const MIN_SCALE: f64 = 0.4;
/// Time without an order after which a picture is redrawn in full size.
const REDRAW_DELAY: Duration = Duration::from_millis(250);

pub(crate) struct Work<'a> {
    shown: Shown,
    stage: Stage,
    renderer: Renderer,
    look: Look,
    outbox: &'a Outbox,
    playing: bool,
    speed: f64,
    touch: Option<Touch>,
    levers: Vec<(Lever, f64)>,
    /// The frame on display.
    frame: Option<Frame>,
    recording: Option<Recording>,
    clock: Clock,
    /// Time to draw a picture of the window's size [ms].
    full_ms: f64,
    /// The last picture was drawn smaller.
    is_small: bool,
}

struct Recording {
    movie: Movie,
    path: PathBuf,
    images: u64,
    /// The last frame recorded.
    last: Option<usize>,
    size: [u32; 2],
}

/// Pacing of simulated time against real time.
struct Clock {
    /// Time at which the next frame is due.
    due: Instant,
    /// Time at which the last picture was shown.
    shown: Instant,
    frame_ms: f64,
    pace: f64,
    /// Delay behind real time [s].
    behind: f64,
    /// Simulated time since the last picture [s].
    moved: f64,
}

impl Clock {
    fn new() -> Self {
        let now = Instant::now();
        Self {
            due: now,
            shown: now,
            frame_ms: 0.0,
            pace: 0.0,
            behind: 0.0,
            moved: 0.0,
        }
    }

    /// Restarts the clock.
    fn start(&mut self) {
        *self = Self::new();
    }

    /// Updates the statistics after a picture was shown.
    fn tick(&mut self) {
        let passed = self.shown.elapsed().as_secs_f64().max(1e-6);
        self.frame_ms = 1e3 * passed;
        self.pace += 0.2 * (std::mem::take(&mut self.moved) / passed - self.pace);
        self.shown = Instant::now();
    }
}

impl<'a> Work<'a> {
    /// Opens `source` and shows it until the window is closed.
    pub fn run(source: &Source, engine: Engine, look: Look, orders: &Receiver<Order>, outbox: &'a Outbox) {
        outbox.note(Note::Doing(source.task()));
        let opened = || -> Result<Self, ViewerError> {
            let shown = Shown::open(source)?;
            let stage = shown.stage()?;
            let renderer = Renderer::open(engine)?;
            let aspect = look.size[0] as f32 / look.size[1].max(1) as f32;
            let ready = shown.ready(&stage, aspect)?;
            let mut look = look;
            look.viewpoint = ready.home.viewpoint();
            outbox.note(Note::Ready(Box::new(ready), renderer.name()));
            Ok(Self {
                shown,
                stage,
                renderer,
                look,
                outbox,
                playing: false,
                speed: 1.0,
                touch: None,
                levers: Vec::new(),
                frame: None,
                recording: None,
                clock: Clock::new(),
                full_ms: 0.0,
                is_small: false,
            })
        };
        match opened() {
            Ok(mut work) => work.go_on(orders),
            Err(error) => outbox.note(Note::Failed(error.to_string())),
        }
    }

    fn go_on(&mut self, orders: &Receiver<Order>) {
        let mut changed = true;
        while let Some(more) = self.listen(orders, changed) {
            changed |= more;
            if self.playing {
                let before = self.shown.at();
                if let Err(error) = self.advance() {
                    self.fail(&error);
                }
                changed |= self.shown.at() != before;
            }
            if changed && self.is_time() {
                changed = false;
                if let Err(error) = self.draw() {
                    self.fail(&error);
                }
            }
        }
        self.end_recording();
    }

    /// Executes all pending orders, and waits for one if there is nothing else to do. Returns true if there is
    /// something new to draw, `None` if the window is closed.
    fn listen(&mut self, orders: &Receiver<Order>, changed: bool) -> Option<bool> {
        let mut changed = changed;
        if self.playing {
            let wait = self.clock.due.saturating_duration_since(Instant::now());
            match orders.recv_timeout(wait) {
                Ok(order) => changed |= self.obey(order),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        } else if !changed {
            let order = match self.is_small {
                true => orders.recv_timeout(REDRAW_DELAY),
                false => orders.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match order {
                Ok(order) => changed |= self.obey(order),
                Err(RecvTimeoutError::Timeout) => {
                    self.full_ms = 0.0;
                    changed = true;
                }
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
        loop {
            match orders.try_recv() {
                Ok(order) => changed |= self.obey(order),
                Err(TryRecvError::Empty) => return Some(changed),
                Err(TryRecvError::Disconnected) => return None,
            }
        }
    }

    /// Executes an order; returns true if there is something new to draw.
    fn obey(&mut self, order: Order) -> bool {
        let mut done = Ok(());
        let new = match order {
            Order::Look(look) => {
                let reread = !self.shown.is_live() && look.show != self.look.show;
                self.frame = self.frame.take().filter(|_| !reread);
                self.look = *look;
                true
            }
            Order::Play(playing) => {
                self.playing = playing;
                self.clock.start();
                false
            }
            Order::Step => {
                self.playing = false;
                done = self.step();
                // Later orders must not drop an image from the movie.
                if done.is_ok() && self.recording.is_some() {
                    done = self.draw();
                }
                self.recording.is_none()
            }
            Order::Restart => {
                self.outbox.note(Note::Doing("restarting".to_owned()));
                done = self.restart();
                true
            }
            Order::Seek(frame) => {
                self.shown.seek(frame);
                self.frame = None;
                true
            }
            Order::Speed(speed) => {
                self.speed = speed.max(1e-3);
                self.clock.start();
                false
            }
            Order::Set(setting) => {
                done = self.shown.set(setting);
                self.frame = None;
                true
            }
            Order::Touch(touch) => {
                self.touch = touch;
                false
            }
            Order::Lever(lever, value) => {
                self.levers.retain(|(known, _)| *known != lever);
                self.levers.push((lever, value));
                false
            }
            Order::Picture(path) => {
                done = self.picture(&path);
                false
            }
            Order::Record(path) => {
                self.end_recording();
                done = path.map_or(Ok(()), |path| self.record(path));
                self.recording.is_none()
            }
        };
        if let Err(error) = done {
            self.fail(&error);
        }
        new
    }

    fn fail(&mut self, error: &ViewerError) {
        self.playing = false;
        self.outbox.note(Note::Failed(error.to_string()));
    }

    fn restart(&mut self) -> Result<(), ViewerError> {
        self.shown.restart()?;
        // The stage stays valid: restarted bodies have the same surfaces.
        self.frame = None;
        self.clock.start();
        Ok(())
    }

    /// Advances to the frame that is due. Frames of a cache may be skipped; a simulation and a movie need them all.
    fn advance(&mut self) -> Result<(), ViewerError> {
        let interval = self.shown.frame_time() / self.speed;
        let late = self.clock.due.elapsed().as_secs_f64();
        if Instant::now() < self.clock.due {
            return Ok(());
        }
        let all = self.shown.is_live() || self.recording.is_some();
        let frames = if all { 1 } else { 1 + (late / interval) as usize };
        for _ in 0..frames {
            self.step()?;
            self.clock.moved += self.shown.frame_time();
        }
        let shown = interval * frames as f64;
        self.clock.due += Duration::from_secs_f64(shown);
        // A late simulation does not catch up: the delay is reported and the clock restarts.
        let now = Instant::now();
        let lag = now.saturating_duration_since(self.clock.due).as_secs_f64();
        if lag > interval {
            self.clock.behind += lag * self.speed;
            self.clock.due = now;
        }
        Ok(())
    }

    fn step(&mut self) -> Result<(), ViewerError> {
        let levers = &self.levers;
        let at = |lever: Lever| levers.iter().find(|(known, _)| *known == lever).map_or(0.0, |l| l.1);
        self.shown.step(self.touch.as_ref(), at)?;
        self.frame = None;
        Ok(())
    }

    /// Returns true if a picture is due: a late simulation spends at most half of its time on drawing.
    fn is_time(&self) -> bool {
        let drawing = Duration::from_secs_f64(1e-3 * self.full_ms.min(MAX_DRAW_MS));
        let hurried = self.playing && self.shown.is_live() && self.recording.is_none();
        !hurried || self.clock.shown.elapsed() >= 2 * drawing
    }

    fn draw(&mut self) -> Result<(), ViewerError> {
        let size = match &self.recording {
            Some(recording) => recording.size,
            None => self.size(),
        };
        self.is_small = size != self.look.size && self.recording.is_none();
        let start = Instant::now();
        let (image, legend) = self.image(size)?;
        let draw_ms = 1e3 * start.elapsed().as_secs_f64();
        let area = |[width, height]: [u32; 2]| f64::from(width) * f64::from(height);
        self.full_ms = draw_ms * area(self.look.size) / area(size).max(1.0);
        let at = self.shown.at();
        // Turning the view while paused adds no image to the movie.
        if let Some(recording) = self.recording.as_mut().filter(|r| r.last != Some(at)) {
            recording.movie.push(&labeled(image.clone(), legend.as_ref()))?;
            recording.images += 1;
            recording.last = Some(at);
        }
        self.clock.tick();
        let driven = self.shown.driven();
        let frame = self.frame.as_ref().expect("it was drawn");
        self.outbox.show(Shot {
            image,
            legend,
            is_preview: self.is_small,
            frame: at,
            time: frame.time,
            stats: frame.stats.clone(),
            columns: columns(frame, self.look.show),
            driven: frame
                .bodies
                .iter()
                .filter(|body| driven.contains(&body.name))
                .cloned()
                .collect(),
            draw_ms,
            frame_ms: self.clock.frame_ms,
            pace: self.clock.pace,
            behind: self.clock.behind,
            recorded: self.recording.as_ref().map(|recording| recording.images),
        });
        Ok(())
    }

    /// Returns the size of the next picture [px], reduced if drawing the full size is slow.
    fn size(&self) -> [u32; 2] {
        if self.full_ms <= MAX_DRAW_MS {
            return self.look.size;
        }
        let part = (MAX_DRAW_MS / self.full_ms).sqrt().max(MIN_SCALE);
        self.look.size.map(|side| ((f64::from(side) * part) as u32).max(16))
    }

    /// Draws a picture. The legend is returned separately, so its size does not depend on the picture's.
    fn image(&mut self, size: [u32; 2]) -> Result<(Image, Option<Legend>), ViewerError> {
        if self.frame.is_none() {
            let show = if self.look.show == Show::Guides {
                Show::Guides
            } else {
                Show::Compare
            };
            // Read guides and grains at once, so that switching to the comparison needs no second read.
            self.frame = Some(self.shown.frame(show)?);
        }
        let frame = self.frame.as_ref().expect("it was just read");
        let look = Look {
            size,
            show: match (self.look.show, &frame.grains) {
                (Show::Compare, None) => Show::Guides,
                (show, _) => show,
            },
            ..self.look.clone()
        };
        Ok(self.stage.draw_bare(frame, &look, &mut self.renderer)?)
    }

    fn picture(&mut self, path: &std::path::Path) -> Result<(), ViewerError> {
        let (image, legend) = self.image(self.look.size)?;
        let image = labeled(image, legend.as_ref());
        write_atomically(path, |out| image.write_png(out).map_err(std::io::Error::other))?;
        self.outbox.note(Note::Wrote(path.display().to_string()));
        Ok(())
    }

    fn record(&mut self, path: PathBuf) -> Result<(), ViewerError> {
        let size = self.look.size;
        let movie = Movie::create(&path, size, 1.0 / self.shown.frame_time(), MovieEncoder::best())?;
        self.recording = Some(Recording {
            movie,
            path,
            images: 0,
            last: None,
            size,
        });
        self.draw()
    }

    fn end_recording(&mut self) {
        let Some(recording) = self.recording.take() else { return };
        let note = match recording.movie.finish() {
            Ok(()) => Note::Wrote(format!(
                "{}, {}",
                recording.path.display(),
                counted(recording.images, "image")
            )),
            Err(error) => Note::Failed(error.to_string()),
        };
        self.outbox.note(note);
    }
}

/// Draws the legend into the picture.
fn labeled(mut image: Image, legend: Option<&Legend>) -> Image {
    if let Some(legend) = legend {
        legend.draw(&mut image);
    }
    image
}

/// Returns the columns that colors can show besides the material.
fn columns(frame: &Frame, show: Show) -> Vec<String> {
    let is_shown = |name: &String| !["id", "material"].contains(&name.as_str());
    Stage::columns(frame, show).into_iter().filter(is_shown).collect()
}
