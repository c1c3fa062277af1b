//! Bodies.

use std::f64::consts::PI;

use barchan_world::{Friction, Key, Keys, Motion, Turn};
use glam::{DMat3, DVec3};

use super::{Check, FRICTION, ease};
use crate::fields::{Fields, look_up};
use crate::scene::BodyPlan;

/// Excess of a moment of inertia over the sum of the others that is rounding [-].
const MOMENT_ROUNDING: f64 = 1e-6;

impl Check<'_, '_> {
    /// The bodies, parents before their children, else in the order of the text.
    pub(super) fn bodies(&self) -> Vec<BodyPlan> {
        let tables: Vec<&Fields> = self.fields.tables("body").collect();
        let names: Vec<&str> = tables
            .iter()
            .map(|table| table.text("name").unwrap_or_default())
            .collect();
        for (k, name) in names.iter().enumerate() {
            if !name.is_empty() && names[..k].contains(name) {
                let message = format!("there is a body `{name}` before");
                self.error(tables[k].place("name"), message, "names of bodies must differ");
            }
        }
        let parents: Vec<Option<usize>> = tables.iter().map(|table| self.parent(table, &tables, &names)).collect();
        let Some(order) = self.parents_first(&tables, &names, &parents) else {
            return Vec::new();
        };
        let placed = |old: usize| order.iter().position(|&k| k == old);
        let plans = order.iter().map(|&k| self.body(tables[k], parents[k].and_then(placed)));
        let plans: Vec<Option<BodyPlan>> = plans.collect();
        // A missing body would shift the numbers of all others; an error has been noted then.
        plans.into_iter().collect::<Option<_>>().unwrap_or_default()
    }

    /// The body that `table` calls its parent.
    fn parent(&self, table: &Fields, tables: &[&Fields], names: &[&str]) -> Option<usize> {
        let span = table.written("parent")?;
        let at = look_up(self.reader, "body", table.text("parent")?, names, span.clone())?;
        if table.text("motion") != Some("scripted") {
            self.error(
                span.clone(),
                "only a scripted body has a parent",
                "set motion = \"scripted\"",
            );
        }
        if tables[at].text("motion") == Some("dynamic") {
            self.error(span, "a dynamic body cannot be a parent", "use a `[[joint]]`");
        }
        Some(at)
    }

    /// Numbers of the bodies, each after its parent.
    fn parents_first(&self, tables: &[&Fields], names: &[&str], parents: &[Option<usize>]) -> Option<Vec<usize>> {
        let mut order = Vec::new();
        for (k, table) in tables.iter().enumerate() {
            let mut line = vec![k];
            while let Some(parent) = parents[line[line.len() - 1]] {
                if line.contains(&parent) {
                    let circle: Vec<&str> = line.iter().chain([&parent]).map(|&b| names[b]).collect();
                    let message = format!("a body cannot be its own ancestor: {}", circle.join(" in "));
                    self.error(table.place("parent"), message, "");
                    return None;
                }
                line.push(parent);
            }
            for body in line.into_iter().rev() {
                if !order.contains(&body) {
                    order.push(body);
                }
            }
        }
        Some(order)
    }

    fn body(&self, table: &Fields, parent: Option<usize>) -> Option<BodyPlan> {
        let motion = table.text("motion")?;
        let dynamic = motion == "dynamic";
        let keys = self.keys(table, motion);
        if dynamic && table.written("density").is_none() && table.written("mass").is_none() {
            let message = "a dynamic body must have the key `density` or `mass`";
            self.error(
                table.span.clone(),
                message,
                "add `density = ...`: [kg/m³], or `mass = ...`: [kg]",
            );
        }
        self.moments(table);
        for key in ["velocity", "angular_velocity", "mass", "center", "inertia"] {
            if let (Some(span), false) = (table.written(key), dynamic) {
                self.warn(span, format!("`{key}` has no effect on a {motion} body"), "");
            }
        }
        let shape = table.shape("shape")?;
        let bounds = shape.whole.bounds();
        if bounds.is_empty() {
            self.error(table.place("shape"), "the shape of a body must not be empty", "");
        } else if dynamic && !bounds.is_finite() {
            self.error(table.place("shape"), "a dynamic body must have an end", "");
        }
        let from = table.number("from").unwrap_or(f64::NEG_INFINITY);
        let until = table.number("until").unwrap_or(f64::INFINITY);
        if until <= from {
            let message = format!("a body must be gone after it comes, at {from} s, got {until}");
            self.error(table.place("until"), message, "");
        }
        let velocity = |key: &str| table.vector(key).filter(|_| dynamic).unwrap_or_default();
        Some(BodyPlan {
            name: table.text("name")?.to_owned(),
            shape: shape.clone(),
            motion: match motion {
                "scripted" => Motion::Scripted { parent, keys: keys? },
                "driven" => Motion::Driven,
                "dynamic" => Motion::Dynamic,
                _ => Motion::Fixed,
            },
            density: table.number("density").unwrap_or(1000.0),
            mass: table.number("mass").filter(|_| dynamic),
            center: table.vector("center").filter(|_| dynamic),
            inertia: table.vector("inertia").filter(|_| dynamic).map(DMat3::from_diagonal),
            friction: self.body_friction(table),
            restitution: table.number("restitution")?,
            from,
            until,
            velocity: velocity("velocity"),
            angular_velocity: velocity("angular_velocity").map(f64::to_radians),
            color: table.color("color"),
            opacity: table.number("opacity")?,
            place: self.place(&table.span),
        })
    }

    /// Notes moments of inertia that no body has: one exceeds the sum of the others.
    fn moments(&self, table: &Fields) {
        let Some(moments) = table.vector("inertia") else { return };
        if 2.0 * moments.max_element() > moments.element_sum() * (1.0 + MOMENT_ROUNDING) {
            let message = format!("no moment of inertia exceeds the sum of the other two, got {moments}");
            self.error(table.place("inertia"), message, "");
        }
    }

    fn body_friction(&self, table: &Fields) -> Friction {
        self.friction(table, "friction").unwrap_or(FRICTION)
    }

    fn keys(&self, table: &Fields, motion: &str) -> Option<Keys> {
        let written = table.written("keys");
        if motion != "scripted" {
            if let Some(span) = written {
                let message = format!("a {motion} body has no keys");
                self.error(span, message, "set motion = \"scripted\"");
            } else if let Some(span) = table.written("ease") {
                self.warn(span, format!("`ease` has no effect on a {motion} body"), "");
            }
            return None;
        }
        let usual = ease(table.text("ease")?);
        let mut last = (DVec3::ZERO, Turn::NONE);
        let mut keys = Vec::new();
        self.ascending(table);
        for key in table.tables("keys") {
            let turn = key.turn("rotate").unwrap_or(last.1);
            if !keys.is_empty() {
                self.warn_of_cut_turn(key, last.1, turn);
            }
            last = (key.vector("at").unwrap_or(last.0), turn);
            keys.push(Key {
                time: key.number("time")?,
                at: last.0,
                turn: last.1,
                ease: key.text("ease").map_or(usual, ease),
            });
        }
        if keys.is_empty() {
            let span = written.unwrap_or(table.span.clone());
            let help = "add `keys = [{ time = 0, at = [0, 0, 0] }]`";
            self.error(span, "a scripted body must have at least one key", help);
        }
        Keys::new(keys)
    }

    /// Warns of a key that ends or begins more than half a turn about an axis that its predecessor does not share.
    fn warn_of_cut_turn(&self, key: &Fields, from: Turn, to: Turn) {
        let widest = from.largest_angle().abs().max(to.largest_angle().abs());
        if widest > PI && from.takes_shortest_way(to) {
            let taken = from.rotation().angle_between(to.rotation()).to_degrees();
            let message = format!(
                "the body takes the shortest way to this turn, {taken:.1} degrees: the key before it turns about another axis"
            );
            let help = "give both keys the same axis to turn through the difference of their angles";
            self.warn(key.place("rotate"), message, help);
        }
    }
}
