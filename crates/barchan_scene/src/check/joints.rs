//! Joints.

use std::f64::consts::PI;

use barchan_world::{Motion, Motor, Spring, Target};

use super::Check;
use crate::fields::{Fields, look_up};
use crate::scene::{BodyPlan, JointPlace, JointPlan, JointType};
use crate::shapes::unit;

/// Keys of a motor.
struct Words {
    target: &'static str,
    other_target: &'static str,
    limit: &'static str,
    other_limit: &'static str,
}

impl JointType {
    /// Returns the size of the unit of positions in scene files [m, rad]; none without an axis.
    fn unit(self) -> Option<f64> {
        match self {
            Self::Hinge { .. } => Some(1f64.to_radians()),
            Self::Slider { .. } => Some(1.0),
            Self::Ball | Self::Rope { .. } | Self::Fixed => None,
        }
    }

    /// Returns the keys of its motor, and those of another's.
    fn words(self) -> Words {
        match self {
            Self::Hinge { .. } => Words {
                target: "angle",
                other_target: "position",
                limit: "max_torque",
                other_limit: "max_force",
            },
            _ => Words {
                target: "position",
                other_target: "angle",
                limit: "max_force",
                other_limit: "max_torque",
            },
        }
    }
}

impl Check<'_, '_> {
    /// Adds the joints of the text to `joints`.
    pub(super) fn joints(&self, bodies: &[BodyPlan], joints: &mut Vec<JointPlan>) {
        for table in self.fields.tables("joint") {
            let Some(joint) = self.joint(table, bodies) else {
                continue;
            };
            if let Some(span) = table
                .written("name")
                .filter(|_| joints.iter().any(|other| other.name == joint.name))
            {
                let message = format!("there is a joint `{}` before", joint.name);
                self.error(span, message, "names of joints must differ");
            }
            joints.push(joint);
        }
    }

    fn joint(&self, table: &Fields, bodies: &[BodyPlan]) -> Option<JointPlan> {
        let kind = table.text("kind")?;
        let has_axis = ["hinge", "slider"].contains(&kind);
        let of_axes = ["axis", "limits", "spring", "motor"].map(|key| (key, has_axis));
        for (key, has_effect) in of_axes.into_iter().chain([("length", kind == "rope")]) {
            if let (Some(span), false) = (table.written(key), has_effect) {
                self.warn(span, format!("`{key}` has no effect on a {kind} joint"), "");
            }
        }
        if has_axis && table.written("axis").is_none() {
            let message = format!("a {kind} must have the key `axis`");
            self.error(table.span.clone(), message, "add `axis = [x, y, z]`");
            return None;
        }
        let kind = match kind {
            "hinge" => JointType::Hinge {
                axis: unit(table.vector("axis")?),
            },
            "slider" => JointType::Slider {
                axis: unit(table.vector("axis")?),
            },
            "ball" => JointType::Ball,
            "rope" => JointType::Rope {
                length: table.number("length"),
            },
            _ => JointType::Fixed,
        };
        if let (JointType::Rope { length: None }, Some(span)) = (kind, table.written("at")) {
            let help = "add `length = ...` [m], or give `anchors` instead of `at`";
            self.error(
                span,
                "a rope that holds both bodies at one point must have the key `length`",
                help,
            );
        }
        let holds = match (table.vector("at"), table.list("anchors")) {
            (Some(at), _) => JointPlace::World(at),
            (None, Some(anchors)) => JointPlace::Frames([anchors[0].vector()?, anchors[1].vector()?]),
            (None, None) => {
                if table.written("at").is_none() && table.written("anchors").is_none() {
                    let message = "joint must have the key `at` or `anchors`";
                    self.error(
                        table.span.clone(),
                        message,
                        "add `at = [x, y, z]`: where it holds both bodies [m]",
                    );
                }
                return None;
            }
        };
        // Bodies with errors of their own are missing; further messages on them would mislead.
        if bodies.is_empty() && self.fields.list("body").is_some() {
            return None;
        }
        let names: Vec<&str> = bodies.iter().map(|body| body.name.as_str()).collect();
        let list = table.list("bodies")?;
        let find = |k: usize| look_up(self.reader, "body", list[k].text()?, &names, list[k].span.clone());
        let (a, b) = (find(0), find(1));
        let held = [a?, b?];
        if held[0] == held[1] {
            self.error(
                table.place("bodies"),
                "a joint must connect two bodies, not one with itself",
                "",
            );
        } else if held.iter().all(|&k| bodies[k].motion != Motion::Dynamic) {
            let message = "this joint has no effect: none of its bodies is dynamic";
            self.warn(table.place("bodies"), message, "");
        }
        let unnamed = || format!("{}-{}", names[held[0]], names[held[1]]);
        Some(JointPlan {
            name: table.text("name").map_or_else(unnamed, str::to_owned),
            bodies: held,
            kind,
            holds,
            limits: self.limits(table, kind),
            spring: self.spring(table, kind),
            motor: self.motor(table, kind),
            start: 0.0,
            cut: table.number("cut").unwrap_or(f64::INFINITY),
        })
    }

    /// The limits of a joint [m, rad], which must hold where it starts.
    fn limits(&self, table: &Fields, kind: JointType) -> Option<[f64; 2]> {
        let limits = table.range("limits")?.map(|limit| limit * kind.unit().unwrap_or(0.0));
        kind.unit()?;
        let [low, high] = limits;
        if matches!(kind, JointType::Hinge { .. }) && high - low >= 2.0 * PI {
            let message = "the limits of a hinge must be less than 360 degrees apart";
            self.error(
                table.place("limits"),
                message,
                "leave them out for a hinge that turns freely",
            );
        }
        if low > 0.0 || high < 0.0 {
            let message = "a joint must start within its limits: zero is where it is at time 0";
            self.error(table.place("limits"), message, "");
        }
        Some(limits)
    }

    fn spring(&self, table: &Fields, kind: JointType) -> Option<Spring> {
        let spring = table.table("spring")?;
        Some(Spring {
            stiffness: spring.number("stiffness")?,
            damping: spring.number("damping")?,
            rest: spring.number("rest")? * kind.unit()?,
        })
    }

    fn motor(&self, table: &Fields, kind: JointType) -> Option<Motor> {
        let (motor, unit) = (table.table("motor")?, kind.unit()?);
        let words = kind.words();
        let wrong = [(words.other_target, words.target), (words.other_limit, words.limit)];
        for (key, right) in wrong {
            if let Some(span) = motor.written(key) {
                let message = format!("the motor of this joint has no `{key}`");
                self.error(span, message, &format!("use `{right}`"));
            }
        }
        let number = |key: &str| Some(motor.number(key)? * unit);
        let target = match (number(words.target), number("speed")) {
            (Some(at), speed) => Target::Position {
                at,
                speed: speed.map_or(f64::INFINITY, f64::abs),
            },
            (None, Some(speed)) => Target::Speed(speed),
            (None, None) => {
                let keys = ["speed", "position", "angle"];
                if keys.iter().all(|key| motor.written(key).is_none()) {
                    let message = format!("motor must have the key `speed` or `{}`", words.target);
                    self.error(motor.span.clone(), message, "");
                }
                return None;
            }
        };
        if let (Target::Position { at, .. }, Some([low, high])) = (target, table.range("limits"))
            && !(low * unit..=high * unit).contains(&at)
        {
            let message = format!("the motor never gets there: the limits are {low} and {high}");
            self.warn(motor.place(words.target), message, "");
        }
        Some(Motor {
            target,
            limit: motor.number(words.limit).unwrap_or(f64::INFINITY),
        })
    }
}
