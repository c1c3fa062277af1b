//! Simulates or plays, and draws, in a thread of its own: whatever takes long, the window does not wait.

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
    /// Another value of a live simulation.
    Set(Setting),
    /// What the hand does from now on; none if nothing.
    Touch(Option<Touch>),
    /// Where a lever is from now on, from -1 to 1.
    Lever(Lever, f64),
    /// A picture into this file.
    Picture(PathBuf),
    /// A movie of all frames from now on into this file; none ends it.
    Record(Option<PathBuf>),
}

/// What the thread tells besides pictures.
#[derive(Clone, Debug)]
pub enum Note {
    /// What it is about to do, which may take long.
    Doing(String),
    /// There is something to show, drawn by this engine.
    Ready(Box<Ready>, String),
    /// A file was written.
    Wrote(String),
    /// Something went wrong; it stands still.
    Failed(String),
}

/// What the window shows.
#[derive(Clone, Debug)]
pub struct Shot {
    /// The picture.
    pub image: Image,
    /// The bar that says what its colors mean, if they mean numbers.
    pub legend: Option<Legend>,
    /// Whether it is drawn smaller than the window, to be there sooner.
    pub is_preview: bool,
    /// The frame, counted from 0.
    pub frame: usize,
    /// Simulated time [s].
    pub time: f64,
    /// Figures of the frame.
    pub stats: Stats,
    /// Columns that colours may mean.
    pub columns: Vec<String>,
    /// Bodies that are driven, with the forces on them.
    pub driven: Vec<BodyState>,
    /// Milliseconds that drawing took.
    pub draw_ms: f64,
    /// Milliseconds from picture to picture.
    pub frame_ms: f64,
    /// Simulated seconds in a second of late [-].
    pub pace: f64,
    /// How far it is behind real time since it was last started [s].
    pub behind: f64,
    /// Images of the movie that is being recorded.
    pub recorded: Option<u64>,
}

/// What the thread leaves for the window.
#[derive(Default)]
struct Mailbox {
    shot: Option<Shot>,
    notes: VecDeque<Note>,
}

/// The thread, from the window's side.
pub struct Player {
    orders: Option<Sender<Order>>,
    mailbox: Arc<Mutex<Mailbox>>,
    thread: Option<JoinHandle<()>>,
    is_recording: bool,
}

/// Where the thread leaves what it has to tell.
pub(crate) struct Teller {
    mailbox: Arc<Mutex<Mailbox>>,
    wake: Box<dyn Fn() + Send>,
}

impl Teller {
    pub fn note(&self, note: Note) {
        let mut mailbox = self.mailbox.lock().unwrap_or_else(PoisonError::into_inner);
        mailbox.notes.push_back(note);
        drop(mailbox);
        (self.wake)();
    }

    /// Replaces a shot that nobody has looked at.
    pub fn show(&self, shot: Shot) {
        let mut mailbox = self.mailbox.lock().unwrap_or_else(PoisonError::into_inner);
        mailbox.shot = Some(shot);
        drop(mailbox);
        (self.wake)();
    }
}

impl Player {
    /// Begins to build or open `source`, and then to draw it; `wake` is called for each shot and note.
    pub fn start(source: Source, engine: Engine, look: Look, wake: impl Fn() + Send + 'static) -> Self {
        let (orders, received) = channel();
        let mailbox = Arc::new(Mutex::new(Mailbox::default()));
        let teller = Teller {
            mailbox: mailbox.clone(),
            wake: Box::new(wake),
        };
        let thread = std::thread::spawn(move || Work::run(&source, engine, look, &received, &teller));
        Self {
            orders: Some(orders),
            mailbox,
            thread: Some(thread),
            is_recording: false,
        }
    }

    /// Asks for something.
    pub fn order(&mut self, order: Order) {
        if let Order::Record(path) = &order {
            self.is_recording = path.is_some();
        }
        if let Some(orders) = &self.orders {
            // A thread that has ended has told why.
            let _ = orders.send(order);
        }
    }

    /// The newest shot, once.
    pub fn shot(&self) -> Option<Shot> {
        self.mailbox.lock().unwrap_or_else(PoisonError::into_inner).shot.take()
    }

    /// The next note.
    pub fn note(&self) -> Option<Note> {
        let mut mailbox = self.mailbox.lock().unwrap_or_else(PoisonError::into_inner);
        mailbox.notes.pop_front()
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        self.orders = None;
        // A movie is brought to its end; nobody waits for anything else.
        if let Some(thread) = self.thread.take().filter(|_| self.is_recording) {
            let _ = thread.join();
        }
    }
}
