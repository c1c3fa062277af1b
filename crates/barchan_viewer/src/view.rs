//! The picture in the middle of the window, and the mouse on it.

use barchan::Show;
use barchan::interact::{Ray, Touch};
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
        if let Some((doing, since)) = &self.doing {
            let place = rect.center_top() + egui::vec2(0.0, 24.0);
            let font = egui::FontId::proportional(18.0);
            let color = ui.visuals().strong_text_color();
            let text = format!("{doing}, {} s", since.elapsed().as_secs());
            ui.painter().text(place, egui::Align2::CENTER_TOP, text, font, color);
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
        // Rounded, so that a window that is being resized is not drawn for each of its sizes.
        let scale = ui.ctx().pixels_per_point();
        self.look.size = [size.x, size.y].map(|side| ((scale * side) as u32).next_multiple_of(16).min(4096));
        if (self.orbit, self.look.size) != before {
            self.send_look();
        }
    }

    /// Lets the hand work where the mouse is.
    fn touch(&mut self, response: &egui::Response, rect: egui::Rect) {
        let Hand::Tool(tool) = self.hand else { return };
        if !self.is_live() {
            return;
        }
        let down = response.is_pointer_button_down_on() && response.ctx.input(|input| input.pointer.primary_down());
        match response.interact_pointer_pos().filter(|_| down) {
            Some(place) => {
                if !self.touching && !self.playing {
                    self.play(true);
                }
                self.touching = true;
                let ray = self.ray(place, rect);
                self.player.order(Order::Touch(Some(Touch { tool, ray })));
            }
            None if self.touching => {
                self.touching = false;
                self.player.order(Order::Touch(None));
            }
            None => {}
        }
    }

    /// What lies under a place of the picture. Two pictures side by side show the same.
    fn ray(&self, place: egui::Pos2, rect: egui::Rect) -> Ray {
        let (mut across, mut width) = (place.x - rect.min.x, rect.width());
        if self.look.show == Show::Compare && self.shot.as_ref().is_some_and(|shot| shot.stats.grains > 0) {
            width *= 0.5;
            across = if across > width { across - width } else { across };
        }
        let at = DVec2::new(
            f64::from(2.0 * across / width - 1.0),
            f64::from(1.0 - 2.0 * (place.y - rect.min.y) / rect.height()),
        );
        let (origin, direction) = self.orbit.ray(at, f64::from(width / rect.height()));
        Ray { origin, direction }
    }
}
