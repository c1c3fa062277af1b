//! The picture in the middle of the window, and mouse input on it.

use barchan::Show;
use barchan::interact::{Ray, Touch};
use barchan::render::Legend;
use eframe::egui;
use glam::DVec2;

use crate::app::{Hand, ViewerApp};
use crate::player::Order;

impl ViewerApp {
    pub(crate) fn view(&mut self, ui: &mut egui::Ui) {
        let size = ui.available_size().max(egui::vec2(16.0, 16.0));
        let (rect, response) = ui.allocate_exact_size(size, egui::Sense::click_and_drag());
        if let Some(picture) = &self.picture {
            let whole = egui::Rect::from_min_max(egui::pos2(0.0, 0.0), egui::pos2(1.0, 1.0));
            ui.painter().image(picture.id(), rect, whole, egui::Color32::WHITE);
        }
        if let Some(legend) = self.shot.as_ref().and_then(|shot| shot.legend.as_ref()) {
            draw_legend(legend, ui, rect);
        }
        if let Some((doing, since)) = &self.doing {
            let position = rect.center_top() + egui::vec2(0.0, 24.0);
            let font = egui::FontId::proportional(18.0);
            let color = ui.visuals().strong_text_color();
            let text = format!("{doing}, {} s", since.elapsed().as_secs());
            ui.painter().text(position, egui::Align2::CENTER_TOP, text, font, color);
            ui.ctx().request_repaint_after(std::time::Duration::from_secs(1));
        }
        let before = (self.orbit, self.look.size);
        let drag = response.drag_delta();
        let by = DVec2::new(f64::from(drag.x), f64::from(drag.y));
        let works = matches!(self.hand, Hand::Tool(_)) && self.is_live();
        let turning = match works {
            true => egui::PointerButton::Secondary,
            false => egui::PointerButton::Primary,
        };
        if response.dragged_by(turning) {
            self.orbit.turn(by);
        } else if response.dragged() && !response.dragged_by(egui::PointerButton::Primary) {
            self.orbit.pan(by, f64::from(size.y));
        }
        if response.hovered() {
            let scroll = ui.input(|input| input.smooth_scroll_delta().y);
            self.orbit.zoom(f64::from(0.003 * scroll).exp());
        }
        self.touch(&response, rect);
        // Rounded: a window being resized is not redrawn at each of its sizes.
        let scale = ui.ctx().pixels_per_point();
        self.look.size = [size.x, size.y].map(|side| ((scale * side) as u32).next_multiple_of(16).min(4096));
        if (self.orbit, self.look.size) != before {
            self.send_look();
        }
    }

    /// Uses the tool at the mouse position.
    fn touch(&mut self, response: &egui::Response, rect: egui::Rect) {
        let Hand::Tool(tool) = self.hand else { return };
        if !self.is_live() {
            return;
        }
        let down = response.is_pointer_button_down_on() && response.ctx.input(|input| input.pointer.primary_down());
        match response.interact_pointer_pos().filter(|_| down) {
            Some(position) => {
                if !self.touching && !self.playing {
                    self.play(true);
                }
                self.touching = true;
                let ray = self.ray(position, rect);
                self.player.order(Order::Touch(Some(Touch { tool, ray })));
            }
            None if self.touching => {
                self.touching = false;
                self.player.order(Order::Touch(None));
            }
            None => {}
        }
    }

    /// Returns the ray through a point of the picture. Two pictures side by side show the same view.
    fn ray(&self, position: egui::Pos2, rect: egui::Rect) -> Ray {
        let (mut across, mut width) = (position.x - rect.min.x, rect.width());
        if self.look.show == Show::Compare && self.shot.as_ref().is_some_and(|shot| shot.stats.grains > 0) {
            width *= 0.5;
            across = if across > width { across - width } else { across };
        }
        let at = DVec2::new(
            f64::from(2.0 * across / width - 1.0),
            f64::from(1.0 - 2.0 * (position.y - rect.min.y) / rect.height()),
        );
        let (origin, direction) = self.orbit.ray(at, f64::from(width / rect.height()));
        Ray { origin, direction }
    }
}

/// Size of the legend's bar [points].
const BAR: egui::Vec2 = egui::vec2(200.0, 10.0);
/// Margin around and between the parts of the legend [points].
const GAP: f32 = 6.0;
/// Number of rectangles that the bar is drawn with.
const PIECES: usize = 64;

/// Draws the legend into the lower left corner of `rect`, at a fixed size.
fn draw_legend(legend: &Legend, ui: &egui::Ui, rect: egui::Rect) {
    let painter = ui.painter().with_clip_rect(rect);
    let font = egui::TextStyle::Small.resolve(ui.style());
    let text = |text: String| painter.layout_no_wrap(text, font.clone(), egui::Color32::WHITE);
    let title = text(legend.title.clone());
    let labels = legend.labels().map(text);
    let note = legend.note().map(text);
    let bar = egui::vec2(BAR.x.min(rect.width() - 4.0 * GAP), BAR.y);
    let row = title.size().y;
    let rows = if note.is_some() { 3.0 } else { 2.0 };
    let lines = [Some(&title), note.as_ref()];
    let width = lines.iter().flatten().map(|line| line.size().x).fold(bar.x, f32::max);
    let size = egui::vec2(width + 2.0 * GAP, rows * row + bar.y + 4.0 * GAP);
    let corner = rect.left_bottom() + egui::vec2(GAP, -GAP - size.y);
    painter.rect_filled(
        egui::Rect::from_min_size(corner, size),
        4.0,
        egui::Color32::from_black_alpha(160),
    );
    let at = |y: f32| corner + egui::vec2(GAP, y);
    let white = egui::Color32::WHITE;
    painter.galley(at(GAP), title, white);
    let left = at(2.0 * GAP + row);
    let step = bar.x / PIECES as f32;
    for piece in 0..PIECES {
        let [r, g, b] = legend.map.color((piece as f32 + 0.5) / PIECES as f32);
        let position = left + egui::vec2(step * piece as f32, 0.0);
        let piece = egui::Rect::from_min_size(position, egui::vec2(step + 0.5, bar.y));
        painter.rect_filled(piece, 0.0, egui::Color32::from_rgb(r, g, b));
    }
    let below = 3.0 * GAP + row + bar.y;
    for (k, label) in labels.into_iter().enumerate() {
        let shift = 0.5 * k as f32 * (bar.x - label.size().x);
        painter.galley(at(below) + egui::vec2(shift, 0.0), label, white);
    }
    if let Some(note) = note {
        painter.galley(at(below + row), note, white);
    }
}
