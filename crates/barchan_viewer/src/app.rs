//! State of the window, and its reaction to notes from the player and to keys.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::Instant;

use barchan::interact::{ITEMS, Tool};
use barchan::render::{ColorMap, Engine};
use barchan::scene::Lever;
use barchan::{Coloring, Look, Show};
use eframe::egui;
use glam::DVec3;

use crate::controls::{Gamepad, keys_of};
use crate::orbit::Orbit;
use crate::player::{Note, Order, Player, Shot};
use crate::source::{Ready, Source};

/// Number of samples in a plot.
const PLOT_SAMPLES: usize = 240;
/// Speed of walking [distances to the target per second].
const WALK_SPEED: f64 = 0.6;
/// Default coloring.
pub(crate) const MATERIAL: &str = "material";

/// Action of the left mouse button.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hand {
    /// Turns the view.
    Look,
    /// Uses a tool in the simulation.
    Tool(Tool),
}

/// One sample of the plots.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sample {
    pub guide_ms: f64,
    pub grain_ms: f64,
    pub frame_ms: f64,
    pub energy: f64,
}

/// State of the window.
pub struct ViewerApp {
    pub(crate) player: Player,
    pub(crate) ready: Option<Ready>,
    pub(crate) orbit: Orbit,
    pub(crate) look: Look,
    pub(crate) playing: bool,
    pub(crate) speed: f64,
    pub(crate) column: String,
    pub(crate) hand: Hand,
    pub(crate) item: usize,
    /// The tool is in use.
    pub(crate) touching: bool,
    /// Keys drive the machine.
    pub(crate) driving: bool,
    pub(crate) levers: Vec<(Lever, f64)>,
    pub(crate) gamepad: Gamepad,
    pub(crate) recording: bool,
    /// The list of keys is shown.
    pub(crate) helping: bool,
    pub(crate) shot: Option<Shot>,
    pub(crate) picture: Option<egui::TextureHandle>,
    pub(crate) history: VecDeque<Sample>,
    /// Long task in progress, and its start.
    pub(crate) doing: Option<(String, Instant)>,
    pub(crate) message: Option<Result<String, String>>,
    pub(crate) engine: String,
    folder: PathBuf,
}

impl ViewerApp {
    /// Starts to show `source`. Pictures and movies are written to `folder`; `context` is repainted on every shot and
    /// note.
    pub fn new(source: Source, engine: Engine, folder: PathBuf, context: egui::Context) -> Self {
        let look = Look {
            size: [960, 540],
            ..Look::default()
        };
        Self {
            player: Player::start(source, engine, look.clone(), move || context.request_repaint()),
            ready: None,
            orbit: Orbit::of_view(DVec3::new(3.0, -3.0, 2.0), DVec3::ZERO, 0.7),
            look,
            playing: false,
            speed: 1.0,
            column: MATERIAL.to_owned(),
            hand: Hand::Look,
            item: 0,
            touching: false,
            driving: false,
            levers: Vec::new(),
            gamepad: Gamepad::open(),
            recording: false,
            helping: false,
            shot: None,
            picture: None,
            history: VecDeque::new(),
            doing: None,
            message: None,
            engine: String::new(),
            folder,
        }
    }

    /// Returns the newest picture with its statistics.
    pub fn shot(&self) -> Option<&Shot> {
        self.shot.as_ref()
    }

    /// Returns the last success or error message.
    pub fn message(&self) -> Option<&str> {
        self.message.as_ref().map(|message| match message {
            Ok(done) => done.as_str(),
            Err(wrong) => wrong.as_str(),
        })
    }

    /// Returns the long task in progress, if any.
    pub fn doing(&self) -> Option<&str> {
        self.doing.as_ref().map(|doing| doing.0.as_str())
    }

    /// Draws the window.
    pub fn ui(&mut self, ui: &mut egui::Ui) {
        self.receive(ui.ctx());
        self.keys(ui);
        egui::Panel::left("settings").default_size(240.0).show(ui, |ui| {
            egui::ScrollArea::vertical().show(ui, |ui| self.settings(ui));
        });
        egui::Panel::bottom("timeline").show(ui, |ui| self.timeline(ui));
        egui::CentralPanel::default().show(ui, |ui| self.view(ui));
        self.help(ui.ctx());
    }

    fn receive(&mut self, context: &egui::Context) {
        while let Some(note) = self.player.note() {
            match note {
                Note::Doing(what) => self.doing = Some((what, Instant::now())),
                Note::Ready(ready, engine) => {
                    self.orbit = ready.home;
                    self.driving = !ready.levers.is_empty();
                    (self.ready, self.engine) = (Some(*ready), engine);
                    self.send_look();
                }
                Note::Wrote(what) => self.message = Some(Ok(what)),
                Note::Failed(why) => {
                    self.message = Some(Err(why));
                    (self.playing, self.doing) = (false, None);
                }
            }
        }
        if let Some(shot) = self.player.shot() {
            self.take(shot, context);
        }
    }

    fn take(&mut self, shot: Shot, context: &egui::Context) {
        let size = [shot.image.width as usize, shot.image.height as usize];
        let pixels = egui::ColorImage::from_rgb(size, shot.image.pixels.as_flattened());
        match &mut self.picture {
            Some(picture) => picture.set(pixels, egui::TextureOptions::LINEAR),
            None => self.picture = Some(context.load_texture("picture", pixels, egui::TextureOptions::LINEAR)),
        }
        if self.shot.as_ref().is_none_or(|before| before.frame != shot.frame) {
            if self.history.len() == PLOT_SAMPLES {
                self.history.pop_front();
            }
            let stats = &shot.stats;
            self.history.push_back(Sample {
                guide_ms: stats.guide_ms,
                grain_ms: stats.grain_ms,
                frame_ms: shot.frame_ms,
                energy: stats.kinetic_energy,
            });
        }
        self.doing = None;
        self.shot = Some(shot);
    }

    /// Returns true if a simulation is shown, not a cache.
    pub(crate) fn is_live(&self) -> bool {
        self.ready.as_ref().is_some_and(|ready| ready.last.is_none())
    }

    fn keys(&mut self, ui: &egui::Ui) {
        use egui::Key;
        if ui.ctx().egui_wants_keyboard_input() {
            return;
        }
        let pressed = |key: Key| ui.input(|input| input.key_pressed(key));
        if pressed(Key::Questionmark) || pressed(Key::F1) {
            self.helping = !self.helping;
        }
        if pressed(Key::Escape) {
            self.helping = false;
        }
        if pressed(Key::Space) {
            self.play(!self.playing);
        }
        if pressed(Key::Home) {
            self.player.order(Order::Restart);
        }
        if pressed(Key::F) {
            self.reset_view();
        }
        if pressed(Key::P) {
            self.screenshot();
        }
        if pressed(Key::M) {
            self.record(!self.recording);
        }
        if pressed(Key::G) {
            self.look.show = match self.look.show {
                Show::Finest => Show::Guides,
                Show::Guides => Show::Compare,
                Show::Compare => Show::Finest,
            };
            self.send_look();
        }
        if pressed(Key::C) {
            self.next_column();
        }
        if pressed(Key::X) {
            self.look.wireframe = !self.look.wireframe;
            self.send_look();
        }
        if pressed(Key::T) {
            self.driving = !self.driving && self.ready.as_ref().is_some_and(|ready| !ready.levers.is_empty());
        }
        let hands = [Key::Num1, Key::Num2, Key::Num3, Key::Num4, Key::Num5];
        if let Some(k) = hands.into_iter().position(pressed).filter(|_| self.is_live()) {
            self.hand = self.hands()[k].1;
        }
        self.pull_levers(ui);
        if !self.driving {
            self.walk(ui);
            if pressed(Key::ArrowRight) {
                self.step();
            }
            if let (true, Some(shot)) = (pressed(Key::ArrowLeft), &self.shot) {
                self.player.order(Order::Seek(shot.frame.saturating_sub(1)));
            }
        }
    }

    /// Returns every action of the left mouse button with its label.
    pub(crate) fn hands(&self) -> [(&'static str, Hand); 5] {
        [
            ("turn the view", Hand::Look),
            ("push sand", Hand::Tool(Tool::Push)),
            ("pour sand", Hand::Tool(Tool::Pour)),
            ("grab and throw", Hand::Tool(Tool::Grab)),
            ("drop a body", Hand::Tool(Tool::Drop(self.item.min(ITEMS.len() - 1)))),
        ]
    }

    /// Sends the positions of the levers to the machine.
    fn pull_levers(&mut self, ui: &egui::Ui) {
        let Some(ready) = self.ready.as_ref().filter(|ready| !ready.levers.is_empty()) else {
            return;
        };
        self.gamepad.read();
        let driving = self.driving;
        let gamepad = &self.gamepad;
        let at = |lever: Lever| {
            let [less, more] = keys_of(lever);
            let held = ui.input(|input| f64::from(i8::from(input.key_down(more)) - i8::from(input.key_down(less))));
            if !driving {
                0.0
            } else if held != 0.0 {
                held
            } else {
                gamepad.lever(lever)
            }
        };
        let levers: Vec<(Lever, f64)> = ready.levers.iter().map(|&lever| (lever, at(lever))).collect();
        let moved: Vec<(Lever, f64)> = levers.iter().filter(|l| !self.levers.contains(l)).copied().collect();
        for (lever, value) in moved {
            let known = self.levers.iter().any(|(l, v)| *l == lever && *v != 0.0);
            if value != 0.0 && !self.playing {
                self.play(true);
            }
            if value != 0.0 || known {
                self.player.order(Order::Lever(lever, value));
            }
        }
        self.levers = levers;
        if self.gamepad.is_there() {
            // Gamepad events do not wake the window.
            ui.ctx().request_repaint_after(std::time::Duration::from_millis(30));
        }
    }

    fn walk(&mut self, ui: &egui::Ui) {
        use egui::Key;
        let (seconds, held) = ui.input(|input| {
            let axis =
                |less: Key, more: Key| f64::from(i8::from(input.key_down(more)) - i8::from(input.key_down(less)));
            let held = DVec3::new(axis(Key::A, Key::D), axis(Key::S, Key::W), axis(Key::Q, Key::E));
            (f64::from(input.stable_dt.min(0.1)), held)
        });
        if held != DVec3::ZERO {
            self.orbit.walk(WALK_SPEED * self.orbit.distance * seconds * held);
            self.send_look();
            ui.ctx().request_repaint();
        }
    }

    pub(crate) fn play(&mut self, playing: bool) {
        self.playing = playing;
        self.message = None;
        self.player.order(Order::Play(playing));
    }

    pub(crate) fn step(&mut self) {
        self.playing = false;
        self.player.order(Order::Step);
    }

    pub(crate) fn reset_view(&mut self) {
        if let Some(ready) = &self.ready {
            self.orbit = ready.home;
            self.send_look();
        }
    }

    /// Colors by the next column.
    fn next_column(&mut self) {
        let Some(shot) = &self.shot else { return };
        let at = shot.columns.iter().position(|name| *name == self.column);
        let next = shot.columns.get(at.map_or(0, |k| k + 1)).cloned();
        self.color_by(next.unwrap_or(MATERIAL.to_owned()));
    }

    pub(crate) fn color_by(&mut self, column: String) {
        self.look.coloring = match column.as_str() {
            MATERIAL => Coloring::Material,
            name => Coloring::Column {
                name: name.to_owned(),
                range: None,
                span: None,
                map: ColorMap::Viridis,
            },
        };
        self.column = column;
        self.message = None;
        self.send_look();
    }

    pub(crate) fn send_look(&mut self) {
        // Before the first note there is no viewpoint to draw from.
        if self.ready.is_some() {
            self.look.viewpoint = self.orbit.viewpoint();
            self.player.order(Order::Look(Box::new(self.look.clone())));
        }
    }

    /// Writes the picture on display in full size.
    pub(crate) fn screenshot(&mut self) {
        let path = self.free_path("png");
        self.player.order(Order::Picture(path));
    }

    /// Starts or ends a movie.
    pub(crate) fn record(&mut self, recording: bool) {
        self.recording = recording;
        let path = recording.then(|| self.free_path("mp4"));
        self.player.order(Order::Record(path));
    }

    /// Returns the first unused path of `barchan-001`, `barchan-002` and so on.
    fn free_path(&self, ending: &str) -> PathBuf {
        let mut paths = (1..).map(|number| self.folder.join(format!("barchan-{number:03}.{ending}")));
        let is_free = |path: &PathBuf| !path.exists() && !path.with_extension("mp4.part").exists();
        paths.find(is_free).expect("there are enough numbers")
    }
}

impl eframe::App for ViewerApp {
    fn ui(&mut self, ui: &mut egui::Ui, _: &mut eframe::Frame) {
        Self::ui(self, ui);
    }
}
