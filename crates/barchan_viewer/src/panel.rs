//! Panels around the picture: settings, tools, statistics, timeline.

use barchan::Show;
use barchan::interact::{ITEMS, Tool};
use eframe::egui;
use egui_plot::{Line, Plot, PlotPoints};

use crate::app::{Hand, MATERIAL, Sample, ViewerApp};
use crate::controls::{HELP, keys_of};
use crate::player::Order;
use crate::source::Setting;

impl ViewerApp {
    pub(crate) fn settings(&mut self, ui: &mut egui::Ui) {
        ui.horizontal(|ui| {
            ui.heading("barchan");
            ui.toggle_value(&mut self.helping, "keys (?)");
        });
        if !self.engine.is_empty() {
            ui.label(format!("drawn by {}", self.engine));
        }
        match &self.message {
            Some(Ok(done)) => _ = ui.label(done),
            Some(Err(wrong)) => _ = ui.colored_label(ui.visuals().error_fg_color, wrong),
            None => {}
        }
        ui.horizontal(|ui| {
            if ui.button("screenshot").clicked() {
                self.screenshot();
            }
            let recorded = self.shot.as_ref().and_then(|shot| shot.recorded);
            let label = match (self.recording, recorded) {
                (true, Some(images)) => format!("stop recording ({images})"),
                (true, None) => "stop recording".to_owned(),
                (false, _) => "record".to_owned(),
            };
            if ui.button(label).clicked() {
                self.record(!self.recording);
            }
        });
        ui.separator();
        self.appearance(ui);
        if self.is_live() {
            ui.separator();
            self.tools(ui);
            ui.separator();
            self.live(ui);
        }
        ui.separator();
        self.drive(ui);
        self.figures(ui);
    }

    /// Shows the list of keys over the picture.
    pub(crate) fn help(&mut self, context: &egui::Context) {
        egui::Window::new("keys")
            .open(&mut self.helping)
            .collapsible(false)
            .resizable(false)
            .anchor(egui::Align2::CENTER_CENTER, egui::Vec2::ZERO)
            .show(context, |ui| {
                egui::Grid::new("keys").num_columns(2).striped(true).show(ui, |ui| {
                    for (keys, what) in HELP {
                        ui.strong(*keys);
                        ui.label(*what);
                        ui.end_row();
                    }
                });
            });
    }

    fn appearance(&mut self, ui: &mut egui::Ui) {
        let before = self.look.clone();
        ui.horizontal(|ui| {
            ui.radio_value(&mut self.look.show, Show::Finest, "grains");
            ui.radio_value(&mut self.look.show, Show::Guides, "guides");
            ui.radio_value(&mut self.look.show, Show::Compare, "both");
        });
        ui.checkbox(&mut self.look.wireframe, "wireframe bodies");
        let columns = self.shot.as_ref().map(|shot| shot.columns.clone()).unwrap_or_default();
        let mut chosen = self.column.clone();
        egui::ComboBox::from_label("color")
            .selected_text(&self.column)
            .show_ui(ui, |ui| {
                for column in [MATERIAL.to_owned()].into_iter().chain(columns) {
                    ui.selectable_value(&mut chosen, column.clone(), column);
                }
            });
        if chosen != self.column {
            self.color_by(chosen);
        } else if self.look != before {
            self.send_look();
        }
    }

    fn tools(&mut self, ui: &mut egui::Ui) {
        ui.label("left mouse button:");
        for (label, hand) in self.hands() {
            ui.radio_value(&mut self.hand, hand, label);
        }
        if matches!(self.hand, Hand::Tool(Tool::Drop(_))) {
            let item = self.item;
            egui::ComboBox::from_label("body")
                .selected_text(ITEMS[item])
                .show_ui(ui, |ui| {
                    for (k, name) in ITEMS.iter().enumerate() {
                        ui.selectable_value(&mut self.item, k, *name);
                    }
                });
            self.hand = Hand::Tool(Tool::Drop(self.item));
        }
    }

    fn live(&mut self, ui: &mut egui::Ui) {
        let Some(settings) = self.ready.as_mut().and_then(|ready| ready.settings.as_mut()) else {
            return;
        };
        let mut changes = Vec::new();
        let slider = |ui: &mut egui::Ui, slider: egui::Slider| ui.add(slider).changed();
        if slider(
            ui,
            egui::Slider::new(&mut settings.gravity, 0.0..=30.0).text("gravity [m/s²]"),
        ) {
            changes.push(Setting::Gravity(settings.gravity));
        }
        if slider(
            ui,
            egui::Slider::new(&mut settings.friction, 0.0..=1.5).text("friction"),
        ) {
            changes.push(Setting::Friction(settings.friction));
        }
        if let Some(passes) = &mut settings.passes
            && slider(
                ui,
                egui::Slider::new(&mut passes.number, 1..=passes.most)
                    .logarithmic(passes.most > 40)
                    .text(passes.label),
            )
        {
            changes.push(Setting::Passes(passes.number));
        }
        if self.hand == Hand::Tool(Tool::Pour)
            && slider(
                ui,
                egui::Slider::new(&mut settings.pour, 0.1..=1000.0)
                    .logarithmic(true)
                    .text("pour [kg/s]"),
            )
        {
            changes.push(Setting::Pour(settings.pour));
        }
        let mut grains = settings.grains.is_some();
        if ui.checkbox(&mut grains, "grains").changed() {
            let usual = (settings.grain_range[0] * settings.grain_range[1]).sqrt();
            settings.grains = grains.then_some(usual);
            changes.push(Setting::Grains(settings.grains));
        }
        if let Some(radius) = &mut settings.grains {
            let [low, high] = settings.grain_range.map(|r| 1e3 * r);
            let mut millimeters = 1e3 * *radius;
            let range = low.min(millimeters)..=high.max(millimeters);
            let response = ui.add(egui::Slider::new(&mut millimeters, range).text("grain radius [mm]"));
            *radius = 1e-3 * millimeters;
            // Reseeding grains takes a moment: once, when the mouse button is released.
            if response.drag_stopped() || response.changed() && !response.dragged() {
                changes.push(Setting::Grains(Some(*radius)));
            }
        }
        for change in changes {
            self.player.order(Order::Set(change));
        }
    }

    /// Levers, and the forces of the sand on the machine.
    fn drive(&mut self, ui: &mut egui::Ui) {
        let Some(ready) = self.ready.as_ref().filter(|ready| !ready.levers.is_empty()) else {
            return;
        };
        let levers = ready.levers.clone();
        ui.checkbox(&mut self.driving, "drive (T)");
        if self.driving {
            ui.label(match self.gamepad.is_there() {
                true => "by keys or gamepad:",
                false => "by keys:",
            });
            for lever in levers {
                let [less, more] = keys_of(lever).map(egui::Key::name);
                // Removes the sign of a negative zero.
                let value = self.levers.iter().find(|l| l.0 == lever).map_or(0.0, |l| l.1) + 0.0;
                ui.label(format!("{more} / {less}: {} {value:.1}", lever.name()));
            }
        }
        if let Some(tool) = self.shot.as_ref().and_then(|shot| {
            let last = shot.driven.last()?;
            Some((last.name.clone(), last.force))
        }) {
            let (name, force) = tool;
            ui.strong(format!("{name}: {:.0} N", force.length()));
            ui.label(format!("{:.0}, {:.0}, {:.0} N", force.x, force.y, force.z));
        }
        ui.separator();
    }

    fn figures(&self, ui: &mut egui::Ui) {
        let Some(shot) = &self.shot else { return };
        let stats = &shot.stats;
        if self.is_live() {
            ui.label(format!("{} guides, {} grains", stats.guides, stats.grains));
            ui.label(format!(
                "guides {:.1} ms, grains {:.1} ms, {} steps",
                stats.guide_ms, stats.grain_ms, stats.steps
            ));
            ui.label(format!(
                "energy: moving {:.3} J, height {:.1} J",
                stats.kinetic_energy, stats.potential_energy
            ));
        }
        ui.label(format!("frame {:.0} ms, picture {:.0} ms", shot.frame_ms, shot.draw_ms));
        let plot = |ui: &mut egui::Ui, name: &str, value: fn(&Sample) -> f64| {
            let points = self.history.iter().enumerate().map(|(k, row)| [k as f64, value(row)]);
            ui.label(name);
            let plot = Plot::new(name).height(56.0).show_axes([false, true]).allow_drag(false);
            plot.allow_zoom(false)
                .allow_scroll(false)
                .show(ui, |ui| ui.line(Line::new(name, points.collect::<PlotPoints>())));
        };
        if self.is_live() {
            plot(ui, "guides [ms]", |row| row.guide_ms);
            plot(ui, "grains [ms]", |row| row.grain_ms);
            plot(ui, "moving energy [J]", |row| row.energy);
        }
        plot(ui, "frame [ms]", |row| row.frame_ms);
    }

    pub(crate) fn timeline(&mut self, ui: &mut egui::Ui) {
        ui.horizontal(|ui| {
            if ui.button(if self.playing { "pause" } else { "play" }).clicked() {
                self.play(!self.playing);
            }
            if ui.button("step").clicked() {
                self.step();
            }
            if ui.button("restart").clicked() {
                self.player.order(Order::Restart);
            }
            if ui.button("reset view").clicked() {
                self.reset_view();
            }
            let mut scale = self.speed;
            let drag = egui::DragValue::new(&mut scale)
                .range(0.01..=100.0)
                .speed(0.01)
                .prefix("time scale ")
                .suffix(" x");
            if ui.add(drag).changed() {
                self.speed = scale;
                self.player.order(Order::Speed(scale));
            }
            let (mut frame, time) = self.shot.as_ref().map_or((0, 0.0), |shot| (shot.frame, shot.time));
            ui.label(format!("{time:.2} s"));
            if let (true, Some(shot)) = (self.playing, &self.shot) {
                ui.label(pace(shot.pace, shot.behind));
            }
            if let Some(last) = self.ready.as_ref().and_then(|ready| ready.last) {
                ui.spacing_mut().slider_width = (ui.available_width() - 120.0).max(60.0);
                let slider = ui.add(egui::Slider::new(&mut frame, 0..=last).step_by(1.0).text("frame"));
                if slider.changed() {
                    self.player.order(Order::Seek(frame));
                }
            }
        });
    }
}

/// Describes the ratio of simulated to real time.
fn pace(pace: f64, behind: f64) -> String {
    if behind < 0.1 {
        format!("{pace:.2} of real time")
    } else {
        format!("{pace:.2} of real time, {behind:.1} s behind")
    }
}
