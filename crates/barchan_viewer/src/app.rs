//! What the window shows, and what it does about mouse and keys.

use std::collections::VecDeque;
use std::path::PathBuf;

use barchan::render::{ColorMap, Renderer};
use barchan::{Coloring, Look, Show, Viewpoint};
use eframe::egui;
use egui_plot::{Line, Plot, PlotPoints};
use glam::{DVec2, DVec3};

use crate::ViewerError;
use crate::orbit::Orbit;
use crate::player::{Order, Player, Shot, Source};

/// Points of a plot.
const REMEMBERED: usize = 240;
/// Columns that colours may mean.
const COLUMNS: [&str; 5] = ["material", "speed", "pressure", "density", "radius"];
/// Speed of walking [distances to the target in a second].
const WALK: f64 = 0.6;

/// The window's state.
pub struct ViewerApp {
    player: Player,
    home: Orbit,
    orbit: Orbit,
    look: Look,
    live: bool,
    last: usize,
    playing: bool,
    speed: f64,
    gravity: f64,
    friction: f32,
    column: &'static str,
    shot: Option<Shot>,
    picture: Option<egui::TextureHandle>,
    /// Milliseconds of guides and of drawing, kinetic energy [J].
    history: VecDeque<[f64; 3]>,
    message: Option<String>,
    engine: String,
    pictures: PathBuf,
    taken: u32,
}

impl ViewerApp {
    /// Begins to show `source`. Screenshots go into the folder `pictures`; `context` is woken for each picture.
    pub fn new(
        source: Source,
        renderer: Renderer,
        pictures: PathBuf,
        context: egui::Context,
    ) -> Result<Self, ViewerError> {
        let stage = source.stage()?;
        let look = Look {
            size: [640, 360],
            ..Look::default()
        };
        let (position, target, fov) = stage.view(&Viewpoint::default(), 0.0, 16.0 / 9.0)?;
        let orbit = Orbit::of_view(position, target, fov);
        let (gravity, friction) = match &source {
            Source::Live { simulation, .. } => {
                let world = simulation.world();
                let friction = world
                    .materials
                    .all
                    .first()
                    .map_or(0.3, |material| material.friction.kinetic);
                (world.gravity.length(), friction)
            }
            Source::Cache { .. } => (0.0, 0.0),
        };
        Ok(Self {
            home: orbit,
            orbit,
            live: source.is_live(),
            last: source.last(),
            engine: renderer.name(),
            player: Player::start(source, stage, renderer, look.clone(), move || context.request_repaint()),
            look,
            playing: false,
            speed: 1.0,
            gravity,
            friction,
            column: COLUMNS[0],
            shot: None,
            picture: None,
            history: VecDeque::new(),
            message: None,
            pictures,
            taken: 0,
        })
    }

    /// The newest picture with its figures.
    pub fn shot(&self) -> Option<&Shot> {
        self.shot.as_ref()
    }

    /// What went wrong last.
    pub fn message(&self) -> Option<&str> {
        self.message.as_deref()
    }

    /// Draws the window.
    pub fn ui(&mut self, ui: &mut egui::Ui) {
        self.receive(ui.ctx());
        egui::Panel::left("settings")
            .default_size(220.0)
            .show(ui, |ui| self.settings(ui));
        egui::Panel::bottom("timeline").show(ui, |ui| self.timeline(ui));
        egui::CentralPanel::default().show(ui, |ui| self.view(ui));
    }

    fn receive(&mut self, context: &egui::Context) {
        match self.player.take() {
            None => {}
            Some(Err(message)) => {
                self.message = Some(message);
                self.playing = false;
            }
            Some(Ok(shot)) => {
                let size = [shot.image.width as usize, shot.image.height as usize];
                let pixels = egui::ColorImage::from_rgb(size, shot.image.pixels.as_flattened());
                match &mut self.picture {
                    Some(picture) => picture.set(pixels, egui::TextureOptions::LINEAR),
                    None => self.picture = Some(context.load_texture("picture", pixels, egui::TextureOptions::LINEAR)),
                }
                if self.history.len() == REMEMBERED {
                    self.history.pop_front();
                }
                let stats = &shot.stats;
                self.history
                    .push_back([stats.guide_ms, shot.draw_ms, stats.kinetic_energy]);
                self.shot = Some(shot);
            }
        }
    }

    fn settings(&mut self, ui: &mut egui::Ui) {
        ui.heading("barchan");
        ui.label(format!("drawn by {}", self.engine));
        ui.separator();
        let before = (self.look.clone(), self.column);
        let mut guides = self.look.show == Show::Guides;
        ui.checkbox(&mut guides, "guides instead of grains");
        self.look.show = if guides { Show::Guides } else { Show::Finest };
        egui::ComboBox::from_label("colour")
            .selected_text(self.column)
            .show_ui(ui, |ui| {
                for column in COLUMNS {
                    ui.selectable_value(&mut self.column, column, column);
                }
            });
        if self.column != before.1 {
            self.look.coloring = match self.column {
                "material" => Coloring::Material,
                name => Coloring::Column {
                    name: name.to_owned(),
                    range: None,
                    map: ColorMap::Viridis,
                },
            };
            self.message = None;
        }
        if self.look != before.0 {
            self.send_look();
        }
        if self.live {
            ui.separator();
            if ui
                .add(egui::Slider::new(&mut self.gravity, 0.0..=30.0).text("gravity [m/s²]"))
                .changed()
            {
                self.player.order(Order::Gravity(DVec3::new(0.0, 0.0, -self.gravity)));
            }
            if ui
                .add(egui::Slider::new(&mut self.friction, 0.0..=1.5).text("friction"))
                .changed()
            {
                self.player.order(Order::Friction(self.friction));
            }
        }
        ui.separator();
        if ui.button("screenshot").clicked() {
            self.screenshot();
        }
        if let Some(message) = &self.message {
            ui.colored_label(ui.visuals().error_fg_color, message);
        }
        ui.separator();
        self.figures(ui);
    }

    fn figures(&self, ui: &mut egui::Ui) {
        let Some(shot) = &self.shot else { return };
        let stats = &shot.stats;
        if self.live {
            ui.label(format!("{} guides, {} grains", stats.guides, stats.grains));
            ui.label(format!(
                "guides {:.1} ms, grains {:.1} ms",
                stats.guide_ms, stats.grain_ms
            ));
        }
        ui.label(format!("picture {:.0} ms", shot.draw_ms));
        if self.playing {
            ui.label(format!("{:.2} of real time", shot.pace));
        }
        let plot = |ui: &mut egui::Ui, name: &str, column: usize| {
            let points = self.history.iter().enumerate().map(|(k, row)| [k as f64, row[column]]);
            ui.label(name);
            let plot = Plot::new(name).height(60.0).show_axes([false, true]).allow_drag(false);
            plot.allow_zoom(false)
                .allow_scroll(false)
                .show(ui, |ui| ui.line(Line::new(name, points.collect::<PlotPoints>())));
        };
        if self.live {
            plot(ui, "guides [ms]", 0);
            plot(ui, "kinetic energy [J]", 2);
        }
        plot(ui, "picture [ms]", 1);
    }

    fn timeline(&mut self, ui: &mut egui::Ui) {
        ui.horizontal(|ui| {
            if ui.button(if self.playing { "pause" } else { "play" }).clicked() {
                self.play(!self.playing);
            }
            if ui.button("step").clicked() {
                self.playing = false;
                self.player.order(Order::Step);
            }
            if ui.button("restart").clicked() {
                self.player.order(Order::Restart);
            }
            if ui.button("reset view").clicked() {
                self.orbit = self.home;
                self.send_look();
            }
            let (mut frame, time) = self.shot.as_ref().map_or((0, 0.0), |shot| (shot.frame, shot.time));
            if !self.live {
                ui.spacing_mut().slider_width = (ui.available_width() - 260.0).max(60.0);
                let slider = ui.add(egui::Slider::new(&mut frame, 0..=self.last).step_by(1.0).text("frame"));
                if slider.changed() {
                    self.player.order(Order::Seek(frame));
                }
            }
            if ui
                .add(
                    egui::DragValue::new(&mut self.speed)
                        .range(0.01..=100.0)
                        .speed(0.01)
                        .suffix(" x"),
                )
                .changed()
            {
                self.player.order(Order::Speed(self.speed));
            }
            ui.label(format!("{time:.2} s"));
        });
    }

    fn view(&mut self, ui: &mut egui::Ui) {
        let size = ui.available_size().max(egui::vec2(16.0, 16.0));
        let (rect, response) = ui.allocate_exact_size(size, egui::Sense::click_and_drag());
        if let Some(picture) = &self.picture {
            let whole = egui::Rect::from_min_max(egui::pos2(0.0, 0.0), egui::pos2(1.0, 1.0));
            ui.painter().image(picture.id(), rect, whole, egui::Color32::WHITE);
        }
        let before = (self.orbit, self.look.size);
        let drag = response.drag_delta();
        let by = DVec2::new(f64::from(drag.x), f64::from(drag.y));
        if response.dragged_by(egui::PointerButton::Primary) {
            self.orbit.turn(by);
        } else if response.dragged() {
            self.orbit.pan(by, f64::from(size.y));
        }
        if response.hovered() {
            let scroll = ui.input(|input| input.smooth_scroll_delta().y);
            self.orbit.zoom(f64::from(0.003 * scroll).exp());
        }
        self.keys(ui);
        // Rounded, so that a window that is being resized is not drawn for each of its sizes.
        let scale = ui.ctx().pixels_per_point();
        self.look.size = [size.x, size.y].map(|side| ((scale * side) as u32).next_multiple_of(16).min(4096));
        if (self.orbit, self.look.size) != before {
            self.send_look();
        }
    }

    fn keys(&mut self, ui: &egui::Ui) {
        use egui::Key;
        if ui.ctx().egui_wants_keyboard_input() {
            return;
        }
        let (seconds, held) = ui.input(|input| {
            let axis =
                |less: Key, more: Key| f64::from(i8::from(input.key_down(more)) - i8::from(input.key_down(less)));
            let held = DVec3::new(axis(Key::A, Key::D), axis(Key::S, Key::W), axis(Key::Q, Key::E));
            (f64::from(input.stable_dt.min(0.1)), held)
        });
        if held != DVec3::ZERO {
            self.orbit.walk(WALK * self.orbit.distance * seconds * held);
            ui.ctx().request_repaint();
        }
        if ui.input(|input| input.key_pressed(Key::Space)) {
            self.play(!self.playing);
        }
    }

    fn play(&mut self, playing: bool) {
        self.playing = playing;
        self.message = None;
        self.player.order(Order::Play(playing));
    }

    fn send_look(&mut self) {
        self.look.viewpoint = self.orbit.viewpoint();
        self.player.order(Order::Look(Box::new(self.look.clone())));
    }

    /// Writes the picture that is shown; a number that is taken is left out.
    fn screenshot(&mut self) {
        let Some(shot) = &self.shot else { return };
        let path = loop {
            self.taken += 1;
            let path = self.pictures.join(format!("barchan-{:03}.png", self.taken));
            if !path.exists() {
                break path;
            }
        };
        self.message = match shot.image.save_png(&path) {
            Ok(()) => Some(format!("{}", path.display())),
            Err(error) => Some(error.to_string()),
        };
    }
}

impl eframe::App for ViewerApp {
    fn ui(&mut self, ui: &mut egui::Ui, _: &mut eframe::Frame) {
        Self::ui(self, ui);
    }
}
