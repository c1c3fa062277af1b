//! Keys and gamepads.

use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use barchan::scene::Lever;
use eframe::egui::Key;

/// Every key with its action, for the window and the documentation.
pub(crate) const HELP: &[(&str, &str)] = &[
    ("?, F1", "show or hide the keys"),
    ("Space", "play, pause"),
    ("Right, Left", "next frame; previous frame of a cache"),
    ("Home", "restart from the beginning"),
    ("left mouse", "turn the view, or use the tool"),
    ("right mouse", "move the view; turn it while a tool is chosen"),
    ("wheel", "zoom"),
    ("W A S D, Q E", "walk, down and up"),
    ("F", "reset the view"),
    ("G", "show grains, guides or both"),
    ("C", "color by the next column"),
    ("X", "wireframe bodies"),
    ("1 to 5", "view, push, pour, grab, drop"),
    ("P", "screenshot"),
    ("M", "start or end a movie"),
    ("T", "drive: arrows tracks, A D swing, W S stick, I K boom, J L bucket"),
];

/// Returns the keys that move a lever to -1 and to 1.
pub(crate) fn keys_of(lever: Lever) -> [Key; 2] {
    match lever {
        Lever::Drive => [Key::ArrowDown, Key::ArrowUp],
        Lever::Steer => [Key::ArrowRight, Key::ArrowLeft],
        Lever::Swing => [Key::D, Key::A],
        Lever::Boom => [Key::K, Key::I],
        Lever::Stick => [Key::S, Key::W],
        Lever::Bucket => [Key::L, Key::J],
    }
}

/// Number of axes of a gamepad.
const AXES: usize = 8;
/// Dead zone of an axis [-].
const DEAD_ZONE: f64 = 0.15;
/// Interval between searches for a gamepad.
const SEARCH_INTERVAL: Duration = Duration::from_secs(2);

/// Positions of the first gamepad's axes, from -1 to 1; `None` without a gamepad.
type Axes = Mutex<Option<[f64; AXES]>>;

/// The first gamepad, through the joystick interface of the Linux kernel. The portable library (gilrs) needs a system
/// package at build time.
pub(crate) struct Gamepad {
    read: Arc<Axes>,
    axes: Option<[f64; AXES]>,
}

impl Gamepad {
    /// Starts to search for a gamepad.
    pub fn open() -> Self {
        let read = Arc::new(Axes::new(None));
        #[cfg(target_os = "linux")]
        {
            let axes = Arc::downgrade(&read);
            std::thread::spawn(move || {
                while let Some(axes) = axes.upgrade() {
                    let found = (0..4).find_map(|k| std::fs::File::open(format!("/dev/input/js{k}")).ok());
                    if let Some(file) = found {
                        follow(file, &axes);
                    }
                    drop(axes);
                    std::thread::sleep(SEARCH_INTERVAL);
                }
            });
        }
        Self { read, axes: None }
    }

    /// Updates the positions of the axes.
    pub fn read(&mut self) {
        self.axes = *self.read.lock().unwrap_or_else(PoisonError::into_inner);
    }

    /// Returns true if a gamepad is connected.
    pub fn is_there(&self) -> bool {
        self.axes.is_some()
    }

    /// Returns the position of a lever, from -1 to 1, with the layout of ISO 10968: the left stick swings and moves the
    /// stick, the right one moves boom and bucket, the directional pad drives.
    pub fn lever(&self, lever: Lever) -> f64 {
        let axis = |k: usize| {
            let value = self.axes.map_or(0.0, |axes| axes[k]);
            if value.abs() < DEAD_ZONE { 0.0 } else { value }
        };
        match lever {
            Lever::Swing => -axis(0),
            Lever::Stick => -axis(1),
            Lever::Bucket => -axis(3),
            Lever::Boom => axis(4),
            Lever::Steer => -axis(6),
            Lever::Drive => -axis(7),
        }
    }
}

/// Reads the events of a gamepad until it is disconnected.
fn follow(mut file: impl Read, axes: &Axes) {
    let mut event = [0; 8];
    while file.read_exact(&mut event).is_ok() {
        let mut axes = axes.lock().unwrap_or_else(PoisonError::into_inner);
        let axes = axes.get_or_insert([0.0; AXES]);
        if let Some((k, value)) = axis(event) {
            axes[k] = value;
        }
    }
    *axes.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

/// Returns number and position of the axis in an event of the kernel's joystick interface: time (4 bytes), value (2),
/// kind (1), number (1).
fn axis(event: [u8; 8]) -> Option<(usize, f64)> {
    // The highest bit marks the initial state of an axis.
    let is_axis = event[6] & 0x7F == 2;
    let value = f64::from(i16::from_ne_bytes([event[4], event[5]])) / f64::from(i16::MAX);
    let k = usize::from(event[7]);
    (is_axis && k < AXES).then_some((k, value.clamp(-1.0, 1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(value: i16, kind: u8, number: u8) -> [u8; 8] {
        let [a, b] = value.to_ne_bytes();
        [1, 2, 3, 4, a, b, kind, number]
    }

    #[test]
    fn events_of_axes_are_read_and_others_are_not() {
        assert_eq!(axis(event(i16::MAX, 2, 3)), Some((3, 1.0)));
        assert_eq!(axis(event(i16::MIN, 0x82, 0)), Some((0, -1.0)));
        assert_eq!(axis(event(1, 1, 0)), None);
        assert_eq!(axis(event(1, 2, 200)), None);
    }

    #[test]
    fn a_gamepad_that_is_pulled_out_is_gone_and_its_levers_rest() {
        let events = [event(-16384, 2, 0), event(3000, 2, 1)].concat();
        let axes = Axes::new(None);
        follow(&events[..], &axes);
        assert_eq!(*axes.lock().unwrap(), None);
        let pad = |axes| Gamepad {
            read: Arc::new(Axes::new(None)),
            axes,
        };
        let mut places = [0.0; AXES];
        (places[0], places[1]) = (-0.5, 0.09);
        let held = pad(Some(places));
        assert_eq!((held.lever(Lever::Swing), held.lever(Lever::Stick)), (0.5, 0.0));
        assert_eq!(pad(None).lever(Lever::Swing), 0.0);
    }

    #[test]
    fn no_two_levers_share_a_key() {
        let mut keys: Vec<Key> = Lever::ALL.iter().flat_map(|&lever| keys_of(lever)).collect();
        let count = keys.len();
        keys.sort_by_key(|key| key.name());
        keys.dedup();
        assert_eq!(keys.len(), count);
    }
}
