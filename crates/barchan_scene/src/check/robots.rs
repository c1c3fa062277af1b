//! Bodies and joints of robots, from URDF files.

use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use barchan_geometry::Shape;
use barchan_geometry::shapes::{Capsule, Cuboid, Cylinder, Sphere, Transformed, Union};
use barchan_world::{Motion, Motor, Pose, Spring, Target};
use glam::{DMat3, DQuat, DVec3};

use super::{Check, FRICTION};
use crate::fields::{Fields, look_up};
use crate::scene::{BodyPlan, JointPlace, JointPlan, JointType};
use crate::shapes::{PlacedShape, load_mesh};
use crate::urdf::{Geometry, Inertial, Robot, RobotJoint, RobotMotion};

/// Density of links without inertia [kg/m³].
const DENSITY: f64 = 1000.0;
/// Radius of the mark in place of a fixed root without a solid [m].
const MARK: f64 = 1e-3;

/// Links that fixed joints hold together.
struct Group {
    /// The link whose frame is that of the body.
    first: usize,
    /// Links and their frames in that of the body.
    links: Vec<(usize, Pose)>,
}

impl Check<'_, '_> {
    /// Adds the bodies and joints of the robots of the text.
    pub(super) fn robots(&self, bodies: &mut Vec<BodyPlan>, joints: &mut Vec<JointPlan>) {
        for table in self.fields.tables("robot") {
            self.robot(table, bodies, joints);
        }
    }

    fn robot(&self, table: &Fields, bodies: &mut Vec<BodyPlan>, joints: &mut Vec<JointPlan>) -> Option<()> {
        let (file, span) = (table.text("urdf")?, table.place("urdf"));
        let path = self.reader.document().folder.join(file);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) => {
                self.error(span, format!("cannot read {}: {error}", path.display()), "");
                return None;
            }
        };
        let mut sum = crc32fast::Hasher::new();
        sum.update(text.as_bytes());
        self.reader.note_file(file, sum);
        let robot = match Robot::parse(&text) {
            Ok(robot) => robot,
            Err(mistake) => {
                self.error(
                    span,
                    format!("{}:{}: {}", path.display(), mistake.line, mistake.what),
                    "",
                );
                return None;
            }
        };
        let prefix = table.text("name").unwrap_or(&robot.name);
        let starts = self.starts(table, &robot)?;
        let frames = frames(&robot, table, &starts);
        let groups = groups(&robot);
        let first = bodies.len();
        for group in &groups {
            let mut body = self.group(table, &robot, group, &frames, &path)?;
            body.name = format!("{prefix}/{}", body.name);
            if bodies.iter().any(|other| other.name == body.name) {
                let message = format!("there is a body `{}` before", body.name);
                self.error(table.place("name"), message, "give each robot a `name` of its own");
                return None;
            }
            bodies.push(body);
        }
        let holds = table.text("motors") == Some("hold");
        for (joint, &start) in robot.joints.iter().zip(&starts) {
            for part in &joint.ignored {
                let message = format!(
                    "{}:{}: the {part} of joint `{}` has no effect",
                    path.display(),
                    joint.line,
                    joint.name
                );
                self.warn(span.clone(), message, "");
            }
            let kind = match joint.motion {
                RobotMotion::Turn => JointType::Hinge {
                    axis: frames[joint.child].rotation * joint.axis,
                },
                RobotMotion::Slide => JointType::Slider {
                    axis: frames[joint.child].rotation * joint.axis,
                },
                RobotMotion::None | RobotMotion::All => continue,
            };
            let body_of = |link: usize| {
                let has = |group: &Group| group.links.iter().any(|(k, _)| *k == link);
                first + groups.iter().position(has).expect("every link is in a group")
            };
            joints.push(JointPlan {
                name: format!("{prefix}/{}", joint.name),
                bodies: [body_of(joint.parent), body_of(joint.child)],
                kind,
                holds: at_start(
                    joint,
                    start,
                    &frames[joint.child],
                    [joint.parent, joint.child].map(|link| {
                        let group = &groups[body_of(link) - first];
                        &frames[group.first]
                    }),
                ),
                limits: joint
                    .limits
                    .filter(|[low, high]| joint.motion == RobotMotion::Slide || high - low < 2.0 * PI),
                spring: (joint.damping > 0.0).then_some(Spring {
                    stiffness: 0.0,
                    damping: joint.damping,
                    rest: 0.0,
                }),
                motor: holds.then(|| motor(joint, start)),
                start,
                cut: f64::INFINITY,
            });
        }
        Some(())
    }

    /// Positions of the joints at time 0 [m, rad].
    fn starts(&self, table: &Fields, robot: &Robot) -> Option<Vec<f64>> {
        let nearest = |joint: &RobotJoint| joint.limits.map_or(0.0, |[low, high]| 0f64.clamp(low, high));
        let mut starts: Vec<f64> = robot.joints.iter().map(nearest).collect();
        let names: Vec<&str> = robot.joints.iter().map(|joint| joint.name.as_str()).collect();
        for pose in table.tables("pose") {
            let at = look_up(self.reader, "joint", pose.text("joint")?, &names, pose.place("joint"))?;
            let joint = &robot.joints[at];
            let (key, unit) = match joint.motion {
                RobotMotion::Turn => ("angle", 1f64.to_radians()),
                RobotMotion::Slide => ("position", 1.0),
                RobotMotion::None | RobotMotion::All => {
                    self.error(pose.place("joint"), format!("joint `{}` has no axis", joint.name), "");
                    return None;
                }
            };
            let Some(start) = pose.number(key) else {
                self.error(
                    pose.span.clone(),
                    format!("the pose of joint `{}` must have the key `{key}`", joint.name),
                    "",
                );
                return None;
            };
            starts[at] = start * unit;
            if let Some([low, high]) = joint.limits.filter(|[low, high]| !(*low..=*high).contains(&starts[at])) {
                let message = format!(
                    "joint `{}` goes from {} to {}, got {start}",
                    joint.name,
                    low / unit,
                    high / unit
                );
                self.error(pose.place(key), message, "");
                return None;
            }
        }
        Some(starts)
    }

    /// The body of links that move as one.
    fn group(&self, table: &Fields, robot: &Robot, group: &Group, frames: &[Pose], path: &Path) -> Option<BodyPlan> {
        let is_root = robot.parent_joint(group.first).is_none();
        let is_fixed = is_root && table.text("base") == Some("fixed");
        let link = &robot.links[group.first];
        let mut solids: Vec<Arc<dyn Shape>> = Vec::new();
        for (k, frame) in &group.links {
            for (pose, geometry) in &robot.links[*k].solids {
                let solid = self.solid(geometry, path, table.place("urdf"))?;
                let pose = frame.then(*pose);
                let placed = Transformed::new(solid, pose.position, pose.rotation, DVec3::ONE);
                solids.push(Arc::new(placed.expect("lengths and a turn were checked")));
            }
        }
        let is_mark = solids.is_empty();
        if is_mark && !is_fixed {
            let message = format!(
                "{}:{}: link `{}` moves, but has no collision and no visual",
                path.display(),
                link.line,
                link.name
            );
            self.error(
                table.place("urdf"),
                message,
                "give it a geometry, or a fixed joint to its parent",
            );
            return None;
        }
        if is_mark {
            solids.push(Arc::new(Sphere::new(MARK).expect("a length")));
        }
        let solid: Arc<dyn Shape> = match solids.len() {
            1 => solids.remove(0),
            _ => Arc::new(Union::new(solids, 0.0).expect("there are several")),
        };
        let inertial = inertial(robot, group).filter(|_| !is_fixed);
        if inertial.is_none() && !is_fixed {
            let message = format!(
                "{}:{}: link `{}` has no inertia; its density is {DENSITY} kg/m³",
                path.display(),
                link.line,
                link.name
            );
            self.warn(table.place("urdf"), message, "");
        }
        let Pose { position, rotation } = frames[group.first];
        let whole = Transformed::new(solid.clone(), position, rotation, DVec3::ONE).expect("lengths and a turn");
        Some(BodyPlan {
            name: link.name.clone(),
            shape: PlacedShape {
                whole: Arc::new(whole),
                unplaced: solid,
                at: position,
                rotation,
                mesh: None,
            },
            motion: if is_fixed { Motion::Fixed } else { Motion::Dynamic },
            density: DENSITY,
            mass: inertial.map(|inertial| inertial.mass),
            center: inertial.map(|inertial| inertial.center),
            inertia: inertial.map(|inertial| inertial.inertia),
            friction: self.friction(table, "friction").unwrap_or(FRICTION),
            restitution: 0.0,
            from: f64::NEG_INFINITY,
            until: f64::INFINITY,
            velocity: DVec3::ZERO,
            angular_velocity: DVec3::ZERO,
            color: None,
            opacity: if is_mark { 0.0 } else { 1.0 },
            place: self.place(&table.span),
        })
    }

    fn solid(&self, geometry: &Geometry, urdf: &Path, span: Range<usize>) -> Option<Arc<dyn Shape>> {
        let checked = "lengths were checked";
        Some(match geometry {
            Geometry::Box(size) => Arc::new(Cuboid::new(*size).expect(checked)),
            Geometry::Cylinder { radius, length } => Arc::new(Cylinder::new(*radius, *length).expect(checked)),
            Geometry::Capsule { radius, length } => {
                Arc::new(Capsule::new(*radius, length + 2.0 * radius).expect(checked))
            }
            Geometry::Sphere(radius) => Arc::new(Sphere::new(*radius).expect(checked)),
            Geometry::Mesh { file, scale } => {
                let solid = load_mesh(self.reader, file, &mesh_path(urdf, file), &span)?.0;
                match Transformed::new(solid, DVec3::ZERO, DQuat::IDENTITY, *scale) {
                    Ok(solid) => Arc::new(solid),
                    Err(error) => {
                        self.error(span, format!("{file}: {error}"), "");
                        return None;
                    }
                }
            }
        })
    }
}

/// Returns the path of a mesh: relative to the robot's file or, for `package://NAME/PATH`, to a folder above it that has PATH.
fn mesh_path(urdf: &Path, file: &str) -> PathBuf {
    let folder = urdf.parent().unwrap_or(Path::new(""));
    let Some((_, inside)) = file.strip_prefix("package://").and_then(|rest| rest.split_once('/')) else {
        return folder.join(file.strip_prefix("file://").unwrap_or(file));
    };
    let mut candidates = folder.ancestors().map(|above| above.join(inside));
    candidates
        .find(|path| path.is_file())
        .unwrap_or_else(|| folder.join(inside))
}

/// Returns the frames of the links in the world at time 0.
fn frames(robot: &Robot, table: &Fields, starts: &[f64]) -> Vec<Pose> {
    let root = Pose {
        position: table.vector("at").unwrap_or_default(),
        rotation: table
            .turn("rotate")
            .map_or(DQuat::IDENTITY, barchan_world::Turn::rotation),
    };
    let mut frames = vec![root; robot.links.len()];
    for link in robot.parents_first() {
        if let Some(k) = robot.parent_joint(link) {
            let joint = &robot.joints[k];
            let moved = match joint.motion {
                RobotMotion::Turn => Pose {
                    position: DVec3::ZERO,
                    rotation: DQuat::from_axis_angle(joint.axis, starts[k]),
                },
                RobotMotion::Slide => Pose {
                    position: joint.axis * starts[k],
                    rotation: DQuat::IDENTITY,
                },
                RobotMotion::None | RobotMotion::All => Pose::IDENTITY,
            };
            frames[link] = frames[joint.parent].then(joint.origin).then(moved);
        }
    }
    frames
}

/// Returns the links in groups that move as one, parents before their children.
fn groups(robot: &Robot) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut places: BTreeMap<usize, (usize, Pose)> = BTreeMap::new();
    for link in robot.parents_first() {
        let joint = robot.parent_joint(link).map(|k| &robot.joints[k]);
        let place = match joint.filter(|joint| joint.motion == RobotMotion::None) {
            Some(joint) => {
                let (group, parent) = places[&joint.parent];
                (group, parent.then(joint.origin))
            }
            None => {
                groups.push(Group {
                    first: link,
                    links: Vec::new(),
                });
                (groups.len() - 1, Pose::IDENTITY)
            }
        };
        places.insert(link, place);
        groups[place.0].links.push((link, place.1));
    }
    groups
}

/// Returns mass and inertia of a group in the frame of its body: I = Σ I_i + m_i (r² 1 - r rᵀ) about the common center.
fn inertial(robot: &Robot, group: &Group) -> Option<Inertial> {
    let part = |(k, frame): &(usize, Pose)| {
        let own = robot.links[*k].inertial.filter(|own| own.mass > 0.0)?;
        let axes = DMat3::from_quat(frame.rotation);
        Some(Inertial {
            mass: own.mass,
            center: frame.point(own.center),
            inertia: axes * own.inertia * axes.transpose(),
        })
    };
    let parts: Vec<Inertial> = group.links.iter().filter_map(part).collect();
    let mass: f64 = parts.iter().map(|part| part.mass).sum();
    let center = parts.iter().map(|part| part.mass * part.center).sum::<DVec3>() / mass;
    let about_center = parts.iter().map(|part| {
        let arm = part.center - center;
        let outer = DMat3::from_cols(arm * arm.x, arm * arm.y, arm * arm.z);
        part.inertia + part.mass * (DMat3::from_diagonal(DVec3::splat(arm.length_squared())) - outer)
    });
    let inertia = about_center.fold(DMat3::ZERO, |sum, part| sum + part);
    (!parts.is_empty()).then_some(Inertial { mass, center, inertia })
}

/// Returns the points at which a joint holds its bodies, whose frames are given, so that its position is `start` [m, rad] at time 0.
fn at_start(joint: &RobotJoint, start: f64, child: &Pose, bodies: [&Pose; 2]) -> JointPlace {
    let slid = match joint.motion {
        RobotMotion::Slide => child.rotation * joint.axis * start,
        _ => DVec3::ZERO,
    };
    JointPlace::Frames([bodies[0].local(child.position - slid), bodies[1].local(child.position)])
}

/// Returns the motor that holds a joint where it starts; one without limits stands still.
fn motor(joint: &RobotJoint, start: f64) -> Motor {
    let target = match joint.limits {
        Some(_) => Target::Position {
            at: start,
            speed: joint.velocity,
        },
        None => Target::Speed(0.0),
    };
    Motor {
        target,
        limit: joint.effort,
    }
}
