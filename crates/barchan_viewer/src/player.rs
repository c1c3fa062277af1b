//! Simulates or plays, and renders, in a thread of its own, so the window never blocks.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use barchan::Look;
use barchan::interact::Touch;
use barchan::render::{Engine, Image, Legend};
use barchan::scene::Lever;
use barchan::world::{BodyState, Stats};

use crate::source::{Ready, Setting, Source};
use crate::work::Work;

/// An order of the window.
#[derive(Clone, Debug)]
pub enum Order {
    /// Change the look.
    Look(Box<Look>),
    /// Play or pause.
    Play(bool),
    /// Advance by one frame.
    Step,
    /// Restart from the beginning.
    Restart,
    /// Go to a frame of a cache, counted from 0.
    Seek(usize),
    /// Set the simulated seconds per second [-].
    Speed(f64),
    /// Change a setting of a live simulation.
    Set(Setting),
    /// Start or change a touch; `None` ends it.
    Touch(Option<Touch>),
    /// Set the position of a lever, from -1 to 1.
    Lever(Lever, f64),
    /// Write a picture to this file.
    Picture(PathBuf),
    /// Record every frame from now on to this movie; `None` ends it.
    Record(Option<PathBuf>),
}

/// Messages of the thread besides pictures.
#[derive(Clone, Debug)]
pub enum Note {
    /// A task that may take long begins.
    Doing(String),
    /// The source is ready to be shown, drawn by the engine of this name.
    Ready(Box<Ready>, String),
    /// A file was written.
    Wrote(String),
    /// An error occurred; playback stops.
    Failed(String),
}

/// A picture with its statistics.
#[derive(Clone, Debug)]
pub struct Shot {
    /// The picture.
    pub image: Image,
    /// Legend of the colors, if they show numbers.
    pub legend: Option<Legend>,
    /// Drawn smaller than the window for speed.
    pub is_preview: bool,
    /// Frame number, counted from 0.
    pub frame: usize,
    /// Simulated time [s].
    pub time: f64,
    /// Statistics of the frame.
    pub stats: Stats,
    /// Columns that colors can show.
    pub columns: Vec<String>,
    /// Driven bodies, with the forces on them.
    pub driven: Vec<BodyState>,
    /// Time to draw the picture [ms].
    pub draw_ms: f64,
    /// Time between pictures [ms].
    pub frame_ms: f64,
    /// Simulated seconds per second, a running average [-].
    pub pace: f64,
    /// Delay behind real time since playback was last started [s].
    pub behind: f64,
    /// Images in the movie that is being recorded.
    pub recorded: Option<u64>,
}

/// Messages from the thread to the window.
#[derive(Default)]
struct Mailbox {
    shot: Option<Shot>,
    notes: VecDeque<Note>,
}

/// Handle of the thread.
pub struct Player {
    orders: Option<Sender<Order>>,
    mailbox: Arc<Mutex<Mailbox>>,
    thread: Option<JoinHandle<()>>,
    is_recording: bool,
}

/// The thread's side of the mailbox.
pub(crate) struct Outbox {
    mailbox: Arc<Mutex<Mailbox>>,
    wake: Box<dyn Fn() + Send>,
}

impl Outbox {
    pub fn note(&self, note: Note) {
        let mut mailbox = self.mailbox.lock().unwrap_or_else(PoisonError::into_inner);
        mailbox.notes.push_back(note);
        drop(mailbox);
        (self.wake)();
    }

    /// Replaces a shot that was not yet displayed.
    pub fn show(&self, shot: Shot) {
        let mut mailbox = self.mailbox.lock().unwrap_or_else(PoisonError::into_inner);
        mailbox.shot = Some(shot);
        drop(mailbox);
        (self.wake)();
    }
}

impl Player {
    /// Builds or opens `source` in a new thread and draws it; `wake` is called for each shot and note.
    pub fn start(source: Source, engine: Engine, look: Look, wake: impl Fn() + Send + 'static) -> Self {
        let (orders, received) = channel();
        let mailbox = Arc::new(Mutex::new(Mailbox::default()));
        let outbox = Outbox {
            mailbox: mailbox.clone(),
            wake: Box::new(wake),
        };
        let thread = std::thread::spawn(move || Work::run(&source, engine, look, &received, &outbox));
        Self {
            orders: Some(orders),
            mailbox,
            thread: Some(thread),
            is_recording: false,
        }
    }

    /// Sends an order.
    pub fn order(&mut self, order: Order) {
        if let Order::Record(path) = &order {
            self.is_recording = path.is_some();
        }
        if let Some(orders) = &self.orders {
            // A thread that has ended has already sent the reason.
            let _ = orders.send(order);
        }
    }

    /// Takes the newest shot.
    pub fn shot(&self) -> Option<Shot> {
        self.mailbox.lock().unwrap_or_else(PoisonError::into_inner).shot.take()
    }

    /// Takes the next note.
    pub fn note(&self) -> Option<Note> {
        let mut mailbox = self.mailbox.lock().unwrap_or_else(PoisonError::into_inner);
        mailbox.notes.pop_front()
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        self.orders = None;
        // Finishes a movie; other work is abandoned.
        if let Some(thread) = self.thread.take().filter(|_| self.is_recording) {
            let _ = thread.join();
        }
    }
}
