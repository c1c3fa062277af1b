//! Robots in URDF, the Unified Robot Description Format of ROS: links, their solids and inertias, and joints.

use std::str::FromStr;

use barchan_world::Pose;
use barchan_world::spec::quantities::{FARTHEST, LENGTHS};
use glam::{DMat3, DQuat, DVec3, EulerRot};
use roxmltree::{Document, Node};

/// A robot as its file describes it.
#[derive(Debug)]
pub(crate) struct Robot {
    pub name: String,
    pub links: Vec<Link>,
    pub joints: Vec<RobotJoint>,
}

/// A rigid part.
#[derive(Debug)]
pub(crate) struct Link {
    pub name: String,
    /// Line in the file.
    pub line: u32,
    pub inertial: Option<Inertial>,
    /// Solids of collisions or, without them, of visuals, in the frame of the link.
    pub solids: Vec<(Pose, Geometry)>,
}

/// Mass and inertia of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inertial {
    /// Mass [kg].
    pub mass: f64,
    /// Center of mass in the frame of the link [m].
    pub center: DVec3,
    /// Inertia about the center of mass in the axes of the link [kg m²].
    pub inertia: DMat3,
}

/// A solid about its own origin.
#[derive(Debug)]
pub(crate) enum Geometry {
    /// Side lengths [m].
    Box(DVec3),
    /// Along z.
    Cylinder { radius: f64, length: f64 },
    /// Along z; `length` is that of the cylinder between its ends [m].
    Capsule { radius: f64, length: f64 },
    /// Radius [m].
    Sphere(f64),
    /// A file, relative to that of the robot, and its scale [-].
    Mesh { file: String, scale: DVec3 },
}

/// Motion that a joint allows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RobotMotion {
    /// Turning about the axis, with limits or without.
    Turn,
    /// Sliding along the axis.
    Slide,
    None,
    All,
}

/// A joint of two links.
#[derive(Debug)]
pub(crate) struct RobotJoint {
    pub name: String,
    /// Line in the file.
    pub line: u32,
    pub motion: RobotMotion,
    /// Links by their place in the list.
    pub parent: usize,
    pub child: usize,
    /// Frame of the child in that of the parent at position zero.
    pub origin: Pose,
    /// Axis in the frame of the child [-].
    pub axis: DVec3,
    /// Least and greatest position [m, rad].
    pub limits: Option<[f64; 2]>,
    /// Largest force [N] or torque [N m].
    pub effort: f64,
    /// Highest speed [m/s, rad/s].
    pub velocity: f64,
    /// Damping [N s/m, N m s/rad].
    pub damping: f64,
    /// Parts of the description that have no effect here.
    pub ignored: Vec<&'static str>,
}

/// A mistake in a file, and its line.
#[derive(Debug, PartialEq)]
pub(crate) struct Mistake {
    pub line: u32,
    pub what: String,
}

type Found<T> = Result<T, Mistake>;

/// Largest mass [kg], inertia [kg m²], force, speed and damping that is read.
const LARGEST: f64 = 1e15;

impl Robot {
    /// Reads the text of a file.
    pub fn parse(text: &str) -> Found<Self> {
        let document = Document::parse(text).map_err(|error| Mistake {
            line: error.pos().row,
            what: error.to_string(),
        })?;
        let root = document.root_element();
        if root.tag_name().name() != "robot" {
            return Err(mistake(root, format!("`{}` is no `robot`", root.tag_name().name())));
        }
        let links: Vec<Link> = children(root, "link").map(link).collect::<Found<_>>()?;
        if let Some(node) = children(root, "link").nth(doubled(links.iter().map(|link| link.name.as_str()))) {
            return Err(mistake(node, "there is a link of this name before"));
        }
        let joints = children(root, "joint").map(|node| joint(node, &links));
        let joints: Vec<RobotJoint> = joints.collect::<Found<_>>()?;
        if let Some(node) = children(root, "joint").nth(doubled(joints.iter().map(|joint| joint.name.as_str()))) {
            return Err(mistake(node, "there is a joint of this name before"));
        }
        let robot = Self {
            name: text_of(root, "name").unwrap_or("robot").to_owned(),
            links,
            joints,
        };
        robot.check_tree(root)?;
        Ok(robot)
    }

    /// Returns the joint that holds a link to its parent.
    pub fn parent_joint(&self, link: usize) -> Option<usize> {
        self.joints.iter().position(|joint| joint.child == link)
    }

    /// Returns the links, parents before their children.
    pub fn parents_first(&self) -> Vec<usize> {
        let is_root = |k: &usize| self.parent_joint(*k).is_none();
        let mut order: Vec<usize> = (0..self.links.len()).filter(is_root).collect();
        let mut next = 0;
        while let Some(&parent) = order.get(next) {
            order.extend(
                self.joints
                    .iter()
                    .filter(|joint| joint.parent == parent)
                    .map(|joint| joint.child),
            );
            next += 1;
        }
        order
    }

    /// Fails unless all links hang from one root.
    fn check_tree(&self, root: Node<'_, '_>) -> Found<()> {
        for (k, joint) in self.joints.iter().enumerate() {
            if self.joints[..k].iter().any(|before| before.child == joint.child) {
                let what = format!("link `{}` has two parents", self.links[joint.child].name);
                return Err(Mistake { line: joint.line, what });
            }
        }
        let is_root = |link: &usize| self.parent_joint(*link).is_none();
        let roots: Vec<&str> = (0..self.links.len())
            .filter(is_root)
            .map(|k| self.links[k].name.as_str())
            .collect();
        match roots[..] {
            [_] if self.parents_first().len() == self.links.len() => Ok(()),
            [_] => Err(mistake(root, "some joints form a circle")),
            [] => Err(mistake(root, "it has no link that hangs from no other")),
            _ => Err(mistake(
                root,
                format!(
                    "these links hang from no other, one must be the root: {}",
                    roots.join(", ")
                ),
            )),
        }
    }
}

/// Returns the place of the first name that is there before; beyond all without one.
fn doubled<'a>(names: impl Iterator<Item = &'a str> + Clone) -> usize {
    let all: Vec<&str> = names.collect();
    (0..all.len())
        .find(|&k| all[..k].contains(&all[k]))
        .unwrap_or(usize::MAX)
}

fn mistake(node: Node<'_, '_>, what: impl Into<String>) -> Mistake {
    Mistake {
        line: line(node),
        what: what.into(),
    }
}

fn line(node: Node<'_, '_>) -> u32 {
    node.document().text_pos_at(node.range().start).row
}

fn children<'a, 'i>(node: Node<'a, 'i>, name: &'static str) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(move |child| child.has_tag_name(name))
}

fn child<'a, 'i>(node: Node<'a, 'i>, name: &'static str) -> Option<Node<'a, 'i>> {
    children(node, name).next()
}

fn text_of<'a>(node: Node<'a, '_>, key: &str) -> Option<&'a str> {
    node.attribute(key).map(str::trim).filter(|text| !text.is_empty())
}

fn required<'a>(node: Node<'a, '_>, key: &str) -> Found<&'a str> {
    text_of(node, key).ok_or_else(|| mistake(node, format!("`{}` must have `{key}`", node.tag_name().name())))
}

/// Returns the number `key`, from `low` to `high`.
fn number(node: Node<'_, '_>, key: &str, low: f64, high: f64) -> Found<Option<f64>> {
    let Some(text) = text_of(node, key) else {
        return Ok(None);
    };
    let number = f64::from_str(text).ok().filter(|x| (low..=high).contains(x));
    let expected = || {
        mistake(
            node,
            format!("`{key}` must be a number from {low:e} to {high:e}, got `{text}`"),
        )
    };
    number.map(Some).ok_or_else(expected)
}

/// Returns the number `key`, which must be there.
fn needed(node: Node<'_, '_>, key: &str, low: f64, high: f64) -> Found<f64> {
    required(node, key)?;
    Ok(number(node, key, low, high)?.unwrap_or_default())
}

/// Returns the three numbers `key`.
fn vector(node: Node<'_, '_>, key: &str) -> Found<Option<DVec3>> {
    let Some(text) = text_of(node, key) else {
        return Ok(None);
    };
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let is_good = |v: &DVec3| text.split_whitespace().count() == 3 && v.abs().max_element() <= FARTHEST;
    let vector = numbers
        .try_into()
        .ok()
        .map(|v: [f64; 3]| DVec3::from(v))
        .filter(is_good);
    vector
        .map(Some)
        .ok_or_else(|| mistake(node, format!("`{key}` must be three numbers, got `{text}`")))
}

/// Returns the `origin` of an element: turned about the fixed axes x, y and z in turn.
fn origin(node: Node<'_, '_>) -> Found<Pose> {
    let Some(origin) = child(node, "origin") else {
        return Ok(Pose::IDENTITY);
    };
    let [roll, pitch, yaw] = vector(origin, "rpy")?.unwrap_or_default().to_array();
    Ok(Pose {
        position: vector(origin, "xyz")?.unwrap_or_default(),
        rotation: DQuat::from_euler(EulerRot::ZYX, yaw, pitch, roll),
    })
}

fn link(node: Node<'_, '_>) -> Found<Link> {
    let solids = |name| -> Found<Vec<(Pose, Geometry)>> {
        children(node, name)
            .map(|part| Ok((origin(part)?, geometry(part)?)))
            .collect()
    };
    let collisions = solids("collision")?;
    Ok(Link {
        name: required(node, "name")?.to_owned(),
        line: line(node),
        inertial: child(node, "inertial").map(inertial).transpose()?,
        solids: match collisions.is_empty() {
            true => solids("visual")?,
            false => collisions,
        },
    })
}

fn inertial(node: Node<'_, '_>) -> Found<Inertial> {
    let missing = |name: &str| mistake(node, format!("`inertial` must have `{name}`"));
    let mass = child(node, "mass").ok_or_else(|| missing("mass"))?;
    let moments = child(node, "inertia").ok_or_else(|| missing("inertia"))?;
    let moment = |key: &str| needed(moments, key, 0.0, LARGEST);
    let product = |key: &str| Ok(number(moments, key, -LARGEST, LARGEST)?.unwrap_or_default());
    let (x, y, z) = (moment("ixx")?, moment("iyy")?, moment("izz")?);
    let (xy, xz, yz) = (product("ixy")?, product("ixz")?, product("iyz")?);
    let own = DMat3::from_cols_array(&[x, xy, xz, xy, y, yz, xz, yz, z]);
    let origin = origin(node)?;
    let axes = DMat3::from_quat(origin.rotation);
    Ok(Inertial {
        mass: needed(mass, "value", 0.0, LARGEST)?,
        center: origin.position,
        inertia: axes * own * axes.transpose(),
    })
}

fn geometry(part: Node<'_, '_>) -> Found<Geometry> {
    let shape = child(part, "geometry").and_then(|node| node.children().find(Node::is_element));
    let shape = shape.ok_or_else(|| mistake(part, format!("`{}` has no geometry", part.tag_name().name())))?;
    let length = |key: &str| needed(shape, key, LENGTHS[0], LENGTHS[1]);
    Ok(match shape.tag_name().name() {
        "box" => {
            let size = vector(shape, "size")?.filter(|size| size.min_element() >= LENGTHS[0]);
            Geometry::Box(size.ok_or_else(|| mistake(shape, "`box` must have `size`: three lengths"))?)
        }
        "cylinder" => Geometry::Cylinder {
            radius: length("radius")?,
            length: length("length")?,
        },
        "capsule" => Geometry::Capsule {
            radius: length("radius")?,
            length: length("length")?,
        },
        "sphere" => Geometry::Sphere(length("radius")?),
        "mesh" => Geometry::Mesh {
            file: required(shape, "filename")?.to_owned(),
            scale: vector(shape, "scale")?.unwrap_or(DVec3::ONE),
        },
        other => {
            let known = "box, cylinder, capsule, sphere, mesh";
            return Err(mistake(shape, format!("unknown geometry `{other}`; allowed: {known}")));
        }
    })
}

fn joint(node: Node<'_, '_>, links: &[Link]) -> Found<RobotJoint> {
    let end = |name| -> Found<usize> {
        let end = child(node, name).ok_or_else(|| mistake(node, format!("`joint` must have `{name}`")))?;
        let link = required(end, "link")?;
        let found = links.iter().position(|known| known.name == link);
        found.ok_or_else(|| mistake(end, format!("there is no link `{link}`")))
    };
    let kind = required(node, "type")?;
    let motion = match kind {
        "revolute" | "continuous" => RobotMotion::Turn,
        "prismatic" => RobotMotion::Slide,
        "fixed" => RobotMotion::None,
        "floating" => RobotMotion::All,
        other => {
            let known = "revolute, continuous, prismatic, fixed, floating";
            return Err(mistake(
                node,
                format!("joints of type `{other}` cannot be simulated; allowed: {known}"),
            ));
        }
    };
    let axis = child(node, "axis")
        .map(|axis| vector(axis, "xyz"))
        .transpose()?
        .flatten();
    let axis = axis.unwrap_or(DVec3::X);
    let limit = child(node, "limit");
    let of_limit = |key: &str, low: f64| -> Found<Option<f64>> {
        limit.map_or(Ok(None), |limit| number(limit, key, low, LARGEST))
    };
    let (low, high) = (of_limit("lower", -LARGEST)?, of_limit("upper", -LARGEST)?);
    let limits = match (low.unwrap_or_default(), high.unwrap_or_default()) {
        _ if !["revolute", "prismatic"].contains(&kind) => None,
        (low, high) if low < high => Some([low, high]),
        (low, high) => {
            return Err(mistake(
                node,
                format!("a {kind} joint must have `limit` with lower < upper, got {low} and {high}"),
            ));
        }
    };
    let dynamics = child(node, "dynamics");
    let damping = dynamics.map_or(Ok(None), |dynamics| number(dynamics, "damping", 0.0, LARGEST))?;
    let friction = dynamics.map_or(Ok(None), |dynamics| number(dynamics, "friction", 0.0, LARGEST))?;
    let mimic = child(node, "mimic").map(|_| "mimic");
    Ok(RobotJoint {
        name: required(node, "name")?.to_owned(),
        line: line(node),
        motion,
        parent: end("parent")?,
        child: end("child")?,
        origin: origin(node)?,
        axis: axis
            .try_normalize()
            .ok_or_else(|| mistake(node, "the axis has no direction"))?,
        limits,
        effort: of_limit("effort", 0.0)?.unwrap_or(f64::INFINITY),
        velocity: of_limit("velocity", 0.0)?.unwrap_or(f64::INFINITY),
        damping: damping.unwrap_or_default(),
        ignored: friction
            .filter(|&f| f > 0.0)
            .map(|_| "friction")
            .into_iter()
            .chain(mimic)
            .collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(inner: &str) -> (u32, String) {
        let text = format!("<robot name=\"r\">\n<link name=\"a\"/>\n<link name=\"b\"/>\n{inner}\n</robot>");
        let found = Robot::parse(&text).map(|robot| robot.name).unwrap_err();
        (found.line, found.what)
    }

    #[test]
    fn mistakes_have_their_line() {
        let joint = |rest: &str| {
            format!("<joint name=\"j\" type=\"revolute\"><parent link=\"a\"/><child link=\"b\"/>{rest}</joint>")
        };
        for (text, line, what) in [
            (
                String::new(),
                1,
                "these links hang from no other, one must be the root: a, b",
            ),
            (
                joint(""),
                4,
                "a revolute joint must have `limit` with lower < upper, got 0 and 0",
            ),
            (
                joint("\n<limit lower=\"x\"/>"),
                5,
                "`lower` must be a number from -1e15 to 1e15, got `x`",
            ),
            (
                joint("<axis xyz=\"0 0 0\"/><limit lower=\"0\" upper=\"1\"/>"),
                4,
                "the axis has no direction",
            ),
            (
                joint("<origin xyz=\"1 2\"/><limit lower=\"0\" upper=\"1\"/>"),
                4,
                "`xyz` must be three numbers, got `1 2`",
            ),
            (
                joint("").replace("revolute", "planar"),
                4,
                "joints of type `planar` cannot be simulated; allowed: revolute, continuous, prismatic, fixed, floating",
            ),
            (
                joint("<limit lower=\"0\" upper=\"1\"/>").replace("\"b\"", "\"c\""),
                4,
                "there is no link `c`",
            ),
            (
                "<link name=\"a\"/>".to_owned(),
                4,
                "there is a link of this name before",
            ),
            ("<link/>".to_owned(), 4, "`link` must have `name`"),
            (
                "<link name=\"c\"><collision/></link>".to_owned(),
                4,
                "`collision` has no geometry",
            ),
            (
                "<link name=\"c\"><visual><geometry><cone/></geometry></visual></link>".to_owned(),
                4,
                "unknown geometry `cone`; allowed: box, cylinder, capsule, sphere, mesh",
            ),
            (
                "<link name=\"c\"><collision><geometry><sphere radius=\"-1\"/></geometry></collision></link>"
                    .to_owned(),
                4,
                "`radius` must be a number from 1e-7 to 1e9, got `-1`",
            ),
            (
                "<link name=\"c\"><inertial><mass value=\"1\"/></inertial></link>".to_owned(),
                4,
                "`inertial` must have `inertia`",
            ),
        ] {
            assert_eq!(refused(&text), (line, what.to_owned()), "{text}");
        }
        let circle = "<joint name=\"j\" type=\"fixed\"><parent link=\"a\"/><child link=\"b\"/></joint>\
            <joint name=\"k\" type=\"fixed\"><parent link=\"b\"/><child link=\"a\"/></joint>";
        assert_eq!(refused(circle).1, "it has no link that hangs from no other");
        assert_eq!(refused("<joint").0, 5);
        assert!(Robot::parse("<sdf/>").unwrap_err().what.contains("no `robot`"));
    }
}
