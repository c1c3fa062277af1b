//! Simulates or plays, and draws, in a thread of its own: whatever takes long, the window does not wait.

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Instant;

use barchan::io::Cache;
use barchan::render::{Image, Renderer};
use barchan::scene::Scene;
use barchan::world::{Frame, Friction, Stats};
use barchan::{Look, Show, Simulation, Stage, read_frame};
use glam::DVec3;

use crate::ViewerError;

/// What is shown.
pub enum Source {
    /// A scene that is simulated live.
    Live {
        /// The scene.
        scene: Box<Scene>,
        /// Its simulation.
        simulation: Box<Simulation>,
    },
    /// A cache that is played.
    Cache {
        /// The cache.
        cache: Cache,
        /// Number and time [s] of each frame.
        frames: Vec<(u64, f64)>,
    },
}

impl Source {
    /// Builds a scene.
    pub fn live(scene: Scene) -> Result<Self, ViewerError> {
        let simulation = Box::new(Simulation::new(&scene)?);
        Ok(Self::Live {
            scene: Box::new(scene),
            simulation,
        })
    }

    /// Opens a cache.
    pub fn cache(dir: &Path) -> Result<Self, ViewerError> {
        let cache = Cache::open(dir)?;
        let frames: Vec<_> = cache.frames().iter().map(|entry| (entry.frame, entry.time)).collect();
        if frames.is_empty() {
            return Err(ViewerError::NoFrames { dir: dir.to_owned() });
        }
        Ok(Self::Cache { cache, frames })
    }

    /// What is seen besides particles.
    pub fn stage(&self) -> Result<Stage, ViewerError> {
        Ok(match self {
            Self::Live { scene, simulation } => Stage::new(scene, simulation.world()),
            Self::Cache { cache, .. } => Stage::load(cache.dir())?,
        })
    }

    /// Whether it is simulated.
    pub fn is_live(&self) -> bool {
        matches!(self, Self::Live { .. })
    }

    /// Number of the last frame, counted from 0.
    pub fn last(&self) -> usize {
        match self {
            Self::Live { scene, .. } => scene.frames() as usize,
            Self::Cache { frames, .. } => frames.len() - 1,
        }
    }

    fn frame_time(&self) -> f64 {
        match self {
            Self::Live { scene, .. } => 1.0 / scene.frame_rate,
            Self::Cache { cache, .. } => 1.0 / cache.manifest().run.frame_rate,
        }
    }
}

/// What the window asks for.
#[derive(Clone, Debug)]
pub enum Order {
    /// Another look.
    Look(Box<Look>),
    /// Play or pause.
    Play(bool),
    /// One frame further.
    Step,
    /// From the beginning.
    Restart,
    /// To a frame of a cache, counted from 0.
    Seek(usize),
    /// Simulated seconds in a second [-].
    Speed(f64),
    /// Acceleration of free fall [m/s²].
    Gravity(DVec3),
    /// Friction of all materials [-].
    Friction(f32),
}

/// What the window shows.
#[derive(Clone, Debug)]
pub struct Shot {
    /// The picture.
    pub image: Image,
    /// The frame, counted from 0.
    pub frame: usize,
    /// Simulated time [s].
    pub time: f64,
    /// Figures of the frame.
    pub stats: Stats,
    /// Milliseconds that drawing took.
    pub draw_ms: f64,
    /// Simulated seconds in a second of late [-].
    pub pace: f64,
}

/// The thread, from the window's side.
pub struct Player {
    orders: Option<Sender<Order>>,
    newest: Arc<Mutex<Option<Result<Shot, String>>>>,
    thread: Option<JoinHandle<()>>,
}

impl Player {
    /// Starts to draw; `wake` is called for each shot.
    pub fn start(
        source: Source,
        stage: Stage,
        renderer: Renderer,
        look: Look,
        wake: impl Fn() + Send + 'static,
    ) -> Self {
        let (orders, received) = channel();
        let newest = Arc::new(Mutex::new(None));
        let slot = newest.clone();
        let thread = std::thread::spawn(move || {
            let mut work = Work {
                frame_time: source.frame_time(),
                source,
                stage,
                renderer,
                look,
                frame: 0,
                playing: false,
                speed: 1.0,
                due: Instant::now(),
                pace: 0.0,
                gravity: None,
                friction: None,
            };
            work.run(&received, |shot| {
                if let Ok(mut slot) = slot.lock() {
                    *slot = Some(shot);
                }
                wake();
            });
        });
        Self {
            orders: Some(orders),
            newest,
            thread: Some(thread),
        }
    }

    /// Asks for something.
    pub fn order(&self, order: Order) {
        if let Some(orders) = &self.orders {
            // A thread that has ended has left its reason in the slot.
            let _ = orders.send(order);
        }
    }

    /// The newest shot, once; or why there will be none.
    pub fn take(&self) -> Option<Result<Shot, String>> {
        self.newest.lock().ok()?.take()
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The thread, from its own side.
struct Work {
    source: Source,
    stage: Stage,
    renderer: Renderer,
    look: Look,
    frame: usize,
    frame_time: f64,
    playing: bool,
    speed: f64,
    /// When the next frame is to be shown.
    due: Instant,
    pace: f64,
    /// What was set, for a restart.
    gravity: Option<DVec3>,
    friction: Option<f32>,
}

impl Work {
    /// Until the window is gone.
    fn run(&mut self, orders: &Receiver<Order>, show: impl Fn(Result<Shot, String>)) {
        let mut shown = Instant::now();
        let mut changed = true;
        loop {
            // Nothing to do: wait for an order.
            if !self.playing && !changed {
                let Ok(order) = orders.recv() else { return };
                changed |= self.obey(order, &show);
            }
            loop {
                match orders.try_recv() {
                    Ok(order) => changed |= self.obey(order, &show),
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) => return,
                }
            }
            if self.playing {
                let wait = self.due.saturating_duration_since(Instant::now());
                std::thread::sleep(wait);
                let before = self.frame;
                if let Err(reason) = self.advance() {
                    show(Err(reason));
                    self.playing = false;
                }
                let passed = shown.elapsed().as_secs_f64().max(1e-6);
                let moved = self.frame.saturating_sub(before) as f64 * self.frame_time;
                self.pace += 0.2 * (moved / passed - self.pace);
                shown = Instant::now();
                changed = true;
            }
            if changed {
                changed = false;
                show(self.draw());
            }
        }
    }

    /// Does what was asked for; whether there is something new to see.
    fn obey(&mut self, order: Order, show: &impl Fn(Result<Shot, String>)) -> bool {
        match order {
            Order::Look(look) => self.look = *look,
            Order::Play(playing) => {
                self.playing = playing;
                self.due = Instant::now();
                return false;
            }
            Order::Step => {
                self.playing = false;
                if let Err(reason) = self.step() {
                    show(Err(reason));
                }
            }
            Order::Restart => {
                if let Err(reason) = self.restart() {
                    show(Err(reason));
                }
            }
            Order::Seek(frame) => {
                if !self.source.is_live() {
                    self.frame = frame.min(self.source.last());
                }
            }
            Order::Speed(speed) => {
                self.speed = speed.max(1e-3);
                return false;
            }
            Order::Gravity(gravity) => {
                self.gravity = Some(gravity);
                self.apply();
                return false;
            }
            Order::Friction(friction) => {
                self.friction = Some(friction);
                self.apply();
                return false;
            }
        }
        true
    }

    /// Gives the simulation what was set.
    fn apply(&mut self) {
        let Source::Live { simulation, .. } = &mut self.source else {
            return;
        };
        let world = simulation.world_mut();
        if let Some(gravity) = self.gravity {
            world.gravity = gravity;
        }
        if let Some(friction) = self.friction {
            for material in &mut world.materials.all {
                material.friction = Friction {
                    r#static: friction,
                    kinetic: friction,
                };
            }
        }
    }

    /// To the frame that is due now: of a cache frames may be left out, a simulation needs them all.
    fn advance(&mut self) -> Result<(), String> {
        let interval = self.frame_time / self.speed;
        let now = Instant::now();
        let late = now.saturating_duration_since(self.due).as_secs_f64();
        let frames = if self.source.is_live() {
            1
        } else {
            1 + (late / interval) as usize
        };
        for _ in 0..frames {
            self.step()?;
        }
        let next = self.due + std::time::Duration::from_secs_f64(interval * frames as f64);
        // Who is behind does not run to catch up.
        self.due = if late > interval { now } else { next };
        Ok(())
    }

    fn step(&mut self) -> Result<(), String> {
        match &mut self.source {
            Source::Live { simulation, .. } => {
                simulation.advance().map_err(|error| error.to_string())?;
                self.frame = simulation.frame_number() as usize;
            }
            // At the end it begins again.
            Source::Cache { frames, .. } => self.frame = (self.frame + 1) % frames.len(),
        }
        Ok(())
    }

    fn restart(&mut self) -> Result<(), String> {
        self.frame = 0;
        if let Source::Live { scene, simulation } = &mut self.source {
            **simulation = Simulation::new(scene).map_err(|error| error.to_string())?;
        }
        self.apply();
        Ok(())
    }

    fn load(&self) -> Result<Frame, String> {
        match &self.source {
            Source::Live { simulation, .. } => Ok(simulation.frame()),
            Source::Cache { cache, frames } => {
                let show = if self.look.show == Show::Guides {
                    Show::Guides
                } else {
                    Show::Finest
                };
                read_frame(cache, frames[self.frame].0, show).map_err(|error| error.to_string())
            }
        }
    }

    fn draw(&mut self) -> Result<Shot, String> {
        let frame = self.load()?;
        let start = Instant::now();
        let drawn = self.stage.draw(&frame, &self.look, &mut self.renderer);
        Ok(Shot {
            image: drawn.map_err(|error| error.to_string())?,
            frame: self.frame,
            time: frame.time,
            stats: frame.stats,
            draw_ms: 1e3 * start.elapsed().as_secs_f64(),
            pace: self.pace,
        })
    }
}
