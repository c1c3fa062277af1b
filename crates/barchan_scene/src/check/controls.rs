//! Controls of a driver.

use barchan_world::Motion;

use super::Check;
use crate::fields::{Fields, look_up};
use crate::scene::{BodyPlan, Control, Lever, Movement};
use crate::shapes::unit;

impl Check<'_, '_> {
    pub(super) fn controls(&self, bodies: &[BodyPlan]) -> Vec<Control> {
        // Bodies with errors of their own are missing; further messages on them would mislead.
        if bodies.is_empty() && self.fields.list("body").is_some() {
            return Vec::new();
        }
        let mut controls: Vec<Control> = Vec::new();
        for table in self.fields.tables("control") {
            let Some(control) = self.control(table, bodies) else {
                continue;
            };
            if controls.iter().any(|before| before.lever == control.lever) {
                let message = format!("there is a lever `{}` before", control.lever.name());
                self.error(table.place("lever"), message, "");
            }
            controls.push(control);
        }
        controls
    }

    fn control(&self, table: &Fields, bodies: &[BodyPlan]) -> Option<Control> {
        let word = table.text("lever")?;
        let lever = Lever::ALL.into_iter().find(|lever| lever.name() == word)?;
        let names: Vec<&str> = bodies.iter().map(|body| body.name.as_str()).collect();
        let body = look_up(self.reader, "body", table.text("body")?, &names, table.place("body"))?;
        if !matches!(bodies[body].motion, Motion::Scripted { .. }) {
            self.error(
                table.place("body"),
                "only a scripted body has a lever",
                "set motion = \"scripted\", with a key where it begins",
            );
        }
        let speed = table.number("speed")?;
        let (movement, speed) = match (table.vector("move"), table.vector("turn")) {
            (Some(along), _) => (Movement::Move { along: unit(along) }, speed),
            (None, Some(axis)) => (Movement::Turn { axis: unit(axis) }, speed.to_radians()),
            (None, None) => {
                if table.written("move").is_none() && table.written("turn").is_none() {
                    let help = "add `turn = [x, y, z]`: the axis, or `move = [x, y, z]`: the way";
                    self.error(table.span.clone(), "control must have the key `turn` or `move`", help);
                }
                return None;
            }
        };
        Some(Control {
            lever,
            body,
            movement,
            speed,
            range: table.range("range").map(|range| range.map(f64::to_radians)),
        })
    }
}
