//! `barchan view` from a user's view: on a screen (Xvfb), by mouse and keys; and without a screen.
#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::cargo::cargo_bin_cmd;
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{
    BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, ClientMessageEvent, ConnectionExt as _, EventMask, ImageFormat,
    InputFocus, KEY_PRESS_EVENT, KEY_RELEASE_EVENT, MOTION_NOTIFY_EVENT, MapState, Window,
};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::rust_connection::RustConnection;

const SIZE: [u16; 2] = [1280, 760];
/// Time without change after which a picture is final: while things move, pictures are drawn smaller.
const STILL: Duration = Duration::from_secs(2);
const SCENE: &str = r#"
name = "drop"
duration = 0.5
frame_rate = 60
[materials.sand]
density = 1600
[[fill]]
material = "sand"
radius = 0.03
packing = "lattice"
shape = { box = { size = [0.3, 0.3, 0.3] }, at = [0, 0, 0.5] }
[[body]]
name = "ground"
shape = { half_space = { normal = [0, 0, 1] } }
"#;

/// Returns true if the machine must provide what the tests need.
fn required() -> bool {
    std::env::var_os("BARCHAN_GPU_REQUIRED").is_some()
}

/// A process that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A virtual screen.
struct Screen {
    _server: Running,
    name: String,
    connection: RustConnection,
    root: Window,
}

impl Screen {
    fn open() -> Option<Self> {
        let size = format!("{}x{}x24", SIZE[0], SIZE[1]);
        let server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", &size, "-nolisten", "tcp"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut server) = server else {
            assert!(!required(), "Xvfb is required here, but does not start");
            eprintln!("skipped: there is no Xvfb");
            return None;
        };
        let mut number = String::new();
        BufReader::new(server.stdout.take().unwrap())
            .read_line(&mut number)
            .unwrap();
        let name = format!(":{}", number.trim());
        let (connection, screen) = x11rb::connect(Some(&name)).unwrap();
        let root = connection.setup().roots[screen].root;
        Some(Self {
            _server: Running(server),
            name,
            connection,
            root,
        })
    }

    /// Returns the picture in the middle of the window: blue, green, red and an unused byte per pixel.
    fn picture(&self) -> Vec<u8> {
        let [width, height] = [SIZE[0] - 320, SIZE[1] - 60];
        let image = self
            .connection
            .get_image(ImageFormat::Z_PIXMAP, self.root, 320, 0, width, height, u32::MAX);
        image.unwrap().reply().unwrap().data
    }

    /// Waits for a picture that `is_good` and no longer changes.
    fn wait(&self, what: &str, is_good: impl Fn(&[u8]) -> bool) -> Vec<u8> {
        let start = Instant::now();
        loop {
            let picture = self.picture();
            if is_good(&picture) {
                std::thread::sleep(STILL);
                let later = self.picture();
                if later == picture || what.starts_with("playing") {
                    return later;
                }
            }
            assert!(start.elapsed() < Duration::from_secs(120), "{what}: it does not come");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn fake(&self, kind: u8, detail: u8, x: i16, y: i16) {
        let none = x11rb::CURRENT_TIME;
        self.connection
            .xtest_fake_input(kind, detail, none, self.root, x, y, 0)
            .unwrap()
            .check()
            .unwrap();
        std::thread::sleep(Duration::from_millis(60));
    }

    /// Presses a key by its keysym; for letters this is their character code.
    fn press(&self, keysym: u32) {
        let setup = self.connection.setup();
        let (low, high) = (setup.min_keycode, setup.max_keycode);
        let mapping = self.connection.get_keyboard_mapping(low, high - low + 1);
        let mapping = mapping.unwrap().reply().unwrap();
        let per_key = usize::from(mapping.keysyms_per_keycode);
        let row = mapping.keysyms.chunks(per_key).position(|row| row.contains(&keysym));
        let code = low + row.expect("the keyboard has it") as u8;
        self.fake(KEY_PRESS_EVENT, code, 0, 0);
        self.fake(KEY_RELEASE_EVENT, code, 0, 0);
    }

    /// Drags the mouse with a button held.
    fn drag(&self, button: u8, from: [i16; 2], to: [i16; 2]) {
        self.fake(MOTION_NOTIFY_EVENT, 0, from[0], from[1]);
        self.fake(BUTTON_PRESS_EVENT, button, 0, 0);
        // Software draws the window slowly; everything within one of its frames is one event.
        std::thread::sleep(Duration::from_millis(400));
        for k in 1..=4 {
            let at = [0, 1].map(|axis| from[axis] + (to[axis] - from[axis]) * k / 4);
            self.fake(MOTION_NOTIFY_EVENT, 0, at[0], at[1]);
            std::thread::sleep(Duration::from_millis(200));
        }
        std::thread::sleep(Duration::from_millis(400));
        self.fake(BUTTON_RELEASE_EVENT, button, 0, 0);
    }

    /// Returns the open window, with keyboard focus.
    fn window(&self) -> Window {
        let start = Instant::now();
        loop {
            let tree = self.connection.query_tree(self.root).unwrap().reply().unwrap();
            let shown = |window: &Window| {
                let attributes = self.connection.get_window_attributes(*window).unwrap().reply();
                let geometry = self.connection.get_geometry(*window).unwrap().reply();
                attributes.is_ok_and(|a| a.map_state == MapState::VIEWABLE) && geometry.is_ok_and(|g| g.width > 200)
            };
            if let Some(window) = tree.children.into_iter().find(shown) {
                let focus = self
                    .connection
                    .set_input_focus(InputFocus::PARENT, window, x11rb::CURRENT_TIME);
                focus.unwrap().check().unwrap();
                return window;
            }
            assert!(start.elapsed() < Duration::from_secs(60), "no window comes");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Asks a window to close, as its close button does.
    fn close(&self, window: Window) {
        let atom = |name: &str| {
            let reply = self.connection.intern_atom(false, name.as_bytes()).unwrap().reply();
            reply.unwrap().atom
        };
        let data = [atom("WM_DELETE_WINDOW"), 0, 0, 0, 0];
        let event = ClientMessageEvent::new(32, window, atom("WM_PROTOCOLS"), data);
        let sent = self.connection.send_event(false, window, EventMask::NO_EVENT, event);
        sent.unwrap().check().unwrap();
    }
}

fn colors(picture: &[u8]) -> usize {
    let mut all: Vec<[u8; 3]> = picture.chunks(4).map(|p| [p[0], p[1], p[2]]).collect();
    all.sort_unstable();
    all.dedup();
    all.len()
}

/// Opens the window in a folder.
fn view(screen: &Screen, folder: &Path, what: &str) -> Running {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("barchan"));
    command
        .current_dir(folder)
        .args(["view", what])
        .env("DISPLAY", &screen.name);
    command.env_remove("WAYLAND_DISPLAY").env_remove("XDG_RUNTIME_DIR");
    command.stderr(Stdio::piped());
    Running(command.spawn().unwrap())
}

/// Waits for a successful end without messages of the program or of a library.
fn ends_well(mut running: Running) {
    let start = Instant::now();
    loop {
        if let Some(status) = running.0.try_wait().unwrap() {
            let mut said = String::new();
            running.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            assert!(status.success() && said.is_empty(), "{status}: {said}");
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "it does not close");
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn has_adapter() -> bool {
    let found = std::fs::read_dir("/usr/share/vulkan/icd.d").is_ok_and(|mut files| files.next().is_some());
    assert!(found || !required(), "a GPU is required here");
    if !found {
        eprintln!("skipped: there is no GPU, not even a software one");
    }
    found
}

#[test]
fn a_cache_is_played_scrubbed_colored_and_photographed() {
    let Some(screen) = Screen::open().filter(|_| has_adapter()) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("drop.toml"), SCENE).unwrap();
    let mut run = cargo_bin_cmd!("barchan");
    run.current_dir(folder.path())
        .args(["run", "drop.toml", "-o", "cache"])
        .assert()
        .success();

    let running = view(&screen, folder.path(), "cache");
    let window = screen.window();
    let first = screen.wait("the first picture", |picture| colors(picture) > 300);
    screen.press(0x20);
    screen.wait("playing", |picture| picture != first);
    screen.press(0x20);
    let paused = screen.wait("pausing", |_| true);
    // The bar below the picture: far to the right, then to the left.
    let bar = SIZE[1] as i16 - 14;
    screen.drag(1, [1000, bar], [1120, bar]);
    let late = screen.wait("scrubbing", |picture| picture != paused);
    screen.drag(1, [1120, bar], [800, bar]);
    let early = screen.wait("scrubbing back", |picture| picture != late);
    screen.press(u32::from(b'c'));
    let colored = screen.wait("coloring", |picture| picture != early);
    assert!(colors(&colored) > 300, "an empty picture");
    screen.drag(1, [700, 300], [850, 340]);
    screen.wait("turning", |picture| picture != colored);
    screen.press(u32::from(b'p'));
    let file = folder.path().join("barchan-001.png");
    let start = Instant::now();
    while !file.exists() {
        assert!(start.elapsed() < Duration::from_secs(60), "no screenshot");
        std::thread::sleep(Duration::from_millis(50));
    }
    screen.close(window);
    ends_well(running);
    assert!(std::fs::metadata(&file).unwrap().len() > 10_000, "an empty screenshot");
}

#[test]
fn a_scene_is_simulated_live() {
    let Some(screen) = Screen::open().filter(|_| has_adapter()) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("drop.toml"), SCENE).unwrap();
    let running = view(&screen, folder.path(), "drop.toml");
    let window = screen.window();
    let first = screen.wait("the first picture", |picture| colors(picture) > 300);
    screen.press(0x20);
    let fallen = screen.wait("playing until it rests", |picture| picture != first);
    assert!(colors(&fallen) > 300, "an empty picture");
    screen.close(window);
    ends_well(running);
}

#[test]
fn without_a_display_it_says_so_and_what_to_do() {
    let mut command = cargo_bin_cmd!("barchan");
    command
        .args(["view", "hourglass"])
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY");
    let output = command.assert().code(1).get_output().clone();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("no display") && said.contains("barchan render"), "{said}");
}

#[test]
fn without_an_adapter_it_says_what_to_install() {
    let Some(screen) = Screen::open() else { return };
    let mut command = cargo_bin_cmd!("barchan");
    command
        .args(["view", "hourglass"])
        .env("DISPLAY", &screen.name)
        .env_remove("WAYLAND_DISPLAY");
    // The Vulkan loader finds no driver.
    command
        .env("VK_DRIVER_FILES", "/nothing")
        .env("VK_ICD_FILENAMES", "/nothing");
    let output = command
        .timeout(Duration::from_secs(60))
        .assert()
        .code(1)
        .get_output()
        .clone();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("mesa-vulkan-drivers") && said.contains("barchan render"),
        "{said}"
    );
}
