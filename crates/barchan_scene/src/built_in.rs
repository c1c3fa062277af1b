//! Built-in scenes.

use crate::Document;

/// A scene that comes with the program.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn {
    /// Name of the scene.
    pub name: &'static str,
    /// One-line description.
    pub about: &'static str,
    /// Text of the scene.
    pub text: &'static str,
}

macro_rules! scenes {
    ($($name:literal: $about:literal,)*) => {
        /// Every built-in scene: the files of the folder `scenes`.
        pub const BUILT_IN: &[BuiltIn] = &[$(BuiltIn {
            name: $name,
            about: $about,
            text: include_str!(concat!("../../../scenes/", $name, ".toml")),
        }),*];
    };
}

scenes! {
    "hourglass": "sand runs through the neck of a glass",
    "sandcastle": "an excavator digs into a castle of sand",
    "excavator": "an excavator lifts a bucket of sand and lowers it again",
    "squirrel": "a heavy squirrel is thrown into a castle of sand",
    "bulldozer": "a blade pushes through a bed of sand",
    "pile": "sand is poured onto rough ground until it rests",
    "column": "a column of sand collapses when its wall is gone",
    "drum": "sand tumbles in a turning drum",
    "truck": "a box of sand starts, drives and stops",
    "buggy": "a buggy with a motor in each wheel drives through sand",
    "wet": "a dry column falls, a wet one stands",
    "spheres": "three balls of different weight are tossed into a pool of sand",
    "splash": "a heavy ball is shot into a pool of sand",
    "piles": "three heaps of sand with angles of repose of 30, 45 and 60 degrees",
    "slope-55": "a heap of sand at three resolutions",
    "ladder": "sand is poured over a rope ladder, whose ropes are cut in the end",
    "silo": "sand runs out of a silo, is caught and counted",
    "hourglass-clumps": "27,427 tetrahedra run through an hourglass",
    "hourglass-clumps-small": "hourglass-clumps with fewer of them",
    "splash-clumps": "a steel ball falls into 45,494 tetrahedra before a glass wall",
    "splash-clumps-small": "splash-clumps with fewer of them",
    "avalanche": "70,000 tetrahedra sweep gates and a wall away",
    "avalanche-small": "avalanche with fewer of them",
    "bulldozer-clumps": "a bulldozer clears tetrahedra and blocks away",
    "bulldozer-clumps-small": "bulldozer-clumps with fewer of them",
    "rings": "1000 rings of 110 spheres fall onto poles",
    "rings-small": "rings with fewer of them",
}

/// Returns the text of the built-in scene called `name`, for [`parse_scene`](crate::parse_scene).
pub fn built_in(name: &str) -> Option<Document> {
    let scene = BUILT_IN.iter().find(|scene| scene.name == name)?;
    Some(Document::new(scene.name, scene.text))
}
