//! Controls of a driver.

use barchan_world::Motion;

use super::Check;
use crate::fields::{Fields, look_up};
use crate::scene::{BodyPlan, Control, JointPlan, JointType, Lever, Movement};
use crate::shapes::unit;

impl Check<'_, '_> {
    pub(super) fn controls(&self, bodies: &[BodyPlan], joints: &[JointPlan]) -> Vec<Control> {
        // Bodies with errors of their own are missing; further messages on them would mislead.
        if bodies.is_empty() && self.fields.list("body").is_some() {
            return Vec::new();
        }
        let mut controls: Vec<Control> = Vec::new();
        for table in self.fields.tables("control") {
            let Some(control) = self.control(table, bodies, joints) else {
                continue;
            };
            let is_same = |before: &Control| (before.lever, &before.machine) == (control.lever, &control.machine);
            if controls.iter().any(is_same) {
                let message = format!("there is a lever `{}` before", control.lever.name());
                self.error(
                    table.place("lever"),
                    message,
                    "give each machine a name of its own: `machine = ...`",
                );
            }
            controls.push(control);
        }
        controls
    }

    fn control(&self, table: &Fields, bodies: &[BodyPlan], joints: &[JointPlan]) -> Option<Control> {
        let lever = Lever::of_name(table.text("lever")?)?;
        let speed = table.number("speed")?;
        let (body, movement, speed) = match (table.text("body"), table.text("joint")) {
            (Some(body), _) => {
                let body = self.scripted_body(table, body, bodies)?;
                let (movement, speed) = self.movement(table, speed)?;
                (body, movement, speed)
            }
            (None, Some(joint)) => self.motor_of(table, joint, joints, speed)?,
            (None, None) => {
                if table.written("body").is_none() && table.written("joint").is_none() {
                    let help = "add `body = \"...\"`: a scripted body, or `joint = \"...\"`: one with a motor";
                    self.error(table.span.clone(), "control must have the key `body` or `joint`", help);
                }
                return None;
            }
        };
        Some(Control {
            machine: table.text("machine")?.to_owned(),
            lever,
            body,
            movement,
            speed,
            range: table.range("range").map(|range| range.map(f64::to_radians)),
        })
    }

    /// The body called `name`, whose keys a lever takes over.
    fn scripted_body(&self, table: &Fields, name: &str, bodies: &[BodyPlan]) -> Option<usize> {
        let names: Vec<&str> = bodies.iter().map(|body| body.name.as_str()).collect();
        let body = look_up(self.reader, "body", name, &names, table.place("body"))?;
        if !matches!(bodies[body].motion, Motion::Scripted { .. }) {
            self.error(
                table.place("body"),
                "only a scripted body has a lever",
                "set motion = \"scripted\", with a key where it begins",
            );
        }
        Some(body)
    }

    /// Movement of a body and its greatest speed [m/s, rad/s].
    fn movement(&self, table: &Fields, speed: f64) -> Option<(Movement, f64)> {
        match (table.vector("move"), table.vector("turn")) {
            (Some(along), _) => Some((Movement::Move { along: unit(along) }, speed)),
            (None, Some(axis)) => Some((Movement::Turn { axis: unit(axis) }, speed.to_radians())),
            (None, None) => {
                if table.written("move").is_none() && table.written("turn").is_none() {
                    let help = "add `turn = [x, y, z]`: the axis, or `move = [x, y, z]`: the way";
                    self.error(table.span.clone(), "control must have the key `turn` or `move`", help);
                }
                None
            }
        }
    }

    /// The motor of the joint called `name`: the second body, the joint, and the greatest speed [m/s, rad/s].
    fn motor_of(&self, table: &Fields, name: &str, joints: &[JointPlan], speed: f64) -> Option<(usize, Movement, f64)> {
        let names: Vec<&str> = joints.iter().map(|joint| joint.name.as_str()).collect();
        let joint = look_up(self.reader, "joint", name, &names, table.place("joint"))?;
        let plan = &joints[joint];
        if plan.motor.is_none() {
            let message = format!("joint `{name}` has no motor");
            self.error(
                table.place("joint"),
                message,
                "add `motor = { speed = 0 }` to the joint",
            );
            return None;
        }
        let speed = match plan.kind {
            JointType::Hinge { .. } => speed.to_radians(),
            _ => speed,
        };
        Some((plan.bodies[1], Movement::Motor { joint }, speed))
    }
}
