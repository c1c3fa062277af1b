//! Tests of the window as a user sees it, without a screen.

use std::path::Path;
use std::time::{Duration, Instant};

use barchan::Look;
use barchan::render::{Engine, Image};
use barchan::running::{Go, RunOptions, run};
use barchan::scene::{Document, Scene, parse_scene};
use barchan_viewer::{Note, Order, Player, Setting, Shot, Source, ViewerApp};
use eframe::egui::accesskit::Role;
use eframe::egui::{Event, Key, Modifiers, PointerButton, Pos2, pos2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

const SCENE: &str = r#"
name = "drop"
duration = 0.3
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
[[camera]]
position = [0, -2, 0.6]
target = [0, 0, 0.3]
"#;

const MACHINE: &str = r#"
[[body]]
name = "arm"
motion = "scripted"
shape = { box = { size = [0.8, 0.1, 0.1] }, at = [0.4, 0, 0] }
keys = [{ time = 0, at = [-1, 0, 0.2] }]
[[control]]
lever = "swing"
body = "arm"
turn = [0, 0, 1]
speed = 90
"#;

type Window = Harness<'static, Option<ViewerApp>>;

fn scene(text: &str) -> Scene {
    parse_scene(&Document::new("drop", text)).unwrap().0
}

fn window(source: Source, folder: &Path) -> Window {
    let folder = folder.to_owned();
    let mut source = Some(source);
    Harness::builder().with_size([700.0, 1200.0]).build_ui_state(
        move |ui, app: &mut Option<ViewerApp>| {
            if let Some(source) = source.take() {
                *app = Some(ViewerApp::new(source, Engine::Cpu, folder.clone(), ui.ctx().clone()));
            }
            app.as_mut().unwrap().ui(ui);
        },
        None,
    )
}

fn app(window: &Window) -> &ViewerApp {
    window.state().as_ref().unwrap()
}

/// Runs the window until `ready` holds; returns the picture.
fn wait(window: &mut Window, ready: impl Fn(&ViewerApp) -> bool) -> Image {
    let start = Instant::now();
    loop {
        window.step();
        if ready(app(window)) {
            return app(window).shot().unwrap().image.clone();
        }
        assert!(start.elapsed() < Duration::from_secs(60), "{:?}", app(window).message());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Returns the first picture in the window's own size.
fn opened(window: &mut Window) -> Image {
    wait(window, |app| {
        app.shot()
            .is_some_and(|shot| !shot.is_preview && shot.image.width < 600)
    })
}

fn click(window: &mut Window, label: &str) {
    window.get_by_label(label).click();
    window.step();
}

fn frame(app: &ViewerApp) -> usize {
    app.shot().map_or(0, |shot| shot.frame)
}

fn events(window: &mut Window, events: impl IntoIterator<Item = Event>) {
    for event in events {
        window.event(event);
    }
    window.step();
}

fn button(at: Pos2, pressed: bool) -> [Event; 2] {
    let press = Event::PointerButton {
        pos: at,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    [Event::PointerMoved(at), press]
}

/// Counts distinct colors.
fn colors(image: &Image) -> usize {
    let mut all = image.pixels.clone();
    all.sort_unstable();
    all.dedup();
    all.len()
}

#[test]
fn a_window_opens_at_once_and_says_what_it_is_doing() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = SCENE.replace("radius = 0.03", "radius = 0.01\nsettle = 0.2");
    text = text.replace("packing = \"lattice\"", "packing = \"dense\"");
    let start = Instant::now();
    let mut window = window(Source::scene(scene(&text)), folder.path());
    let mut said = false;
    while app(&window).shot().is_none() {
        window.step();
        said |= app(&window)
            .doing()
            .is_some_and(|doing| doing.contains("settling drop"));
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "{:?}",
            app(&window).message()
        );
    }
    assert!(said, "nothing was said until the first picture");
}

#[test]
fn a_scene_is_simulated_paused_stepped_and_begun_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = window(Source::scene(scene(SCENE)), folder.path());
    let first = opened(&mut window);
    assert!(colors(&first) > 100, "an empty picture");
    click(&mut window, "play");
    let fallen = wait(&mut window, |app| frame(app) >= 8);
    click(&mut window, "pause");
    assert_ne!(first.pixels, fallen.pixels);
    // Orders are obeyed in turn: a frame that was in the works when the pause came is gone after the restart.
    click(&mut window, "restart");
    let again = wait(&mut window, |app| frame(app) == 0 && !app.shot().unwrap().is_preview);
    assert!(again.pixels == first.pixels, "the beginning looks otherwise");
    std::thread::sleep(Duration::from_millis(300));
    wait(&mut window, |_| true);
    assert_eq!(frame(app(&window)), 0, "it went on");
    click(&mut window, "step");
    wait(&mut window, |app| frame(app) > 0);
    click(&mut window, "screenshot");
    wait(&mut window, |app| {
        app.message().is_some_and(|said| said.ends_with(".png"))
    });
    assert_eq!(frame(app(&window)), 1, "more than one step");
    assert!(folder.path().join("barchan-001.png").exists());
}

#[test]
fn settings_act_on_a_running_simulation() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = window(Source::scene(scene(SCENE)), folder.path());
    opened(&mut window);
    let slider = window.get_by_role_and_label(Role::Slider, "gravity [m/s²]");
    slider.focus();
    // Arrow keys move the focus until the slider has captured them.
    window.run_steps(3);
    for _ in 0..200 {
        window.key_press(Key::ArrowLeft);
        window.step();
    }
    click(&mut window, "step");
    wait(&mut window, |app| frame(app) == 1);
    // Without gravity nothing moves.
    let speed = app(&window).shot().unwrap().stats.max_speed;
    let falling = 9.81 / 60.0;
    assert!(speed < 0.75 * falling, "{speed} m/s");
}

#[test]
fn grains_are_seeded_when_they_are_asked_for_and_follow() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = window(Source::scene(scene(SCENE)), folder.path());
    let guides = opened(&mut window);
    assert_eq!(app(&window).shot().unwrap().stats.grains, 0);
    // The check box, not the radio button.
    window.get_by_role_and_label(Role::CheckBox, "grains").click();
    let grains = wait(&mut window, |app| app.shot().unwrap().stats.grains > 500);
    assert_ne!(guides.pixels, grains.pixels);
    click(&mut window, "step");
    wait(&mut window, |app| {
        frame(app) == 1 && app.shot().unwrap().stats.grains > 500
    });
}

#[test]
fn sand_is_poured_where_the_mouse_is_held() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = window(Source::scene(scene(SCENE)), folder.path());
    opened(&mut window);
    let before = app(&window).shot().unwrap().stats.mass;
    click(&mut window, "pour sand");
    let at = pos2(480.0, 800.0);
    events(&mut window, button(at, true));
    wait(&mut window, |app| app.shot().unwrap().stats.mass > 1.05 * before);
    events(&mut window, button(at, false));
    click(&mut window, "pause");
    assert!(app(&window).shot().unwrap().stats.ledger_closes);
}

#[test]
fn keys_are_shown_when_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = window(Source::scene(scene(SCENE)), folder.path());
    opened(&mut window);
    let shown = |window: &Window| window.query_by_label("show or hide the keys").is_some();
    assert!(!shown(&window));
    for key in [Key::Questionmark, Key::F1] {
        window.key_press(key);
        window.run_steps(3);
        assert!(shown(&window), "{key:?}");
        window.key_press(Key::Escape);
        window.run_steps(3);
        assert!(!shown(&window), "Escape");
    }
    click(&mut window, "keys (?)");
    window.run_steps(3);
    assert!(shown(&window));
}

#[test]
fn the_color_bar_is_beside_the_picture_not_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = window(Source::scene(scene(SCENE)), folder.path());
    opened(&mut window);
    assert!(app(&window).shot().unwrap().legend.is_none());
    window.key_press(Key::C);
    wait(&mut window, |app| app.shot().unwrap().legend.is_some());
    let bare = wait(&mut window, |app| !app.shot().unwrap().is_preview);
    let legend = app(&window).shot().unwrap().legend.clone().unwrap();
    assert_eq!(legend.title, "speed [m/s]");
    // The screenshot includes the legend.
    let mut labeled = bare.clone();
    legend.draw(&mut labeled);
    assert!(bare.pixels != labeled.pixels, "no room for the bar");
    click(&mut window, "screenshot");
    wait(&mut window, |app| {
        app.message().is_some_and(|said| said.ends_with(".png"))
    });
    let mut bytes = Vec::new();
    labeled.write_png(&mut bytes).unwrap();
    assert!(
        std::fs::read(folder.path().join("barchan-001.png")).unwrap() == bytes,
        "no bar in the screenshot"
    );
}

/// Runs a player without a window until `ready` holds.
fn shot(player: &Player, ready: impl Fn(&Shot) -> bool) -> Shot {
    let start = Instant::now();
    loop {
        if let Some(shot) = player.shot().filter(&ready) {
            return shot;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "no picture");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn solvers_have_the_passes_that_they_can_be_given() {
    for (solver, label) in [
        ("pbd", Some("iterations")),
        ("sph", Some("most pressure passes")),
        ("dem", None),
        ("mpm", None),
    ] {
        let text = format!("{SCENE}\n[solver]\nkind = \"{solver}\"\n").replace("radius = 0.03", "radius = 0.05");
        let look = Look {
            size: [64, 36],
            ..Look::default()
        };
        let mut player = Player::start(Source::scene(scene(&text)), Engine::Cpu, look, || ());
        shot(&player, |_| true);
        let ready = std::iter::from_fn(|| player.note()).find_map(|note| match note {
            Note::Ready(ready, _) => Some(ready),
            _ => None,
        });
        let passes = ready.unwrap().settings.unwrap().passes;
        assert_eq!(passes.map(|passes| passes.label), label);
        if solver == "sph" {
            let step = |player: &mut Player, most: u32, frame: usize| {
                player.order(Order::Set(Setting::Passes(most)));
                player.order(Order::Step);
                let stats = shot(player, |shot| shot.frame == frame).stats;
                stats
                    .extras
                    .iter()
                    .find(|extra| extra.0 == "pressure_iterations")
                    .unwrap()
                    .1
            };
            // In free fall the solver takes the minimum number of iterations, which the maximum may undercut.
            assert!(step(&mut player, 100, 1) >= 3.0);
            assert_eq!(step(&mut player, 1, 2), 1.0);
            assert!(step(&mut player, 100, 3) >= 3.0);
        }
    }
}

#[test]
fn keys_drive_a_machine_and_its_force_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let text = SCENE.to_owned() + MACHINE;
    let mut window = window(Source::scene(scene(&text)), folder.path());
    opened(&mut window);
    let place = |app: &ViewerApp| app.shot().unwrap().driven[0].rotation;
    let start = place(app(&window));
    let key = |pressed: bool| Event::Key {
        key: Key::A,
        physical_key: None,
        pressed,
        repeat: false,
        modifiers: Modifiers::NONE,
    };
    events(&mut window, [key(true)]);
    wait(&mut window, |app| place(app)[2] > start[2] + 0.1);
    events(&mut window, [key(false)]);
    assert!(window.query_by_label_contains("arm: ").is_some(), "no force is shown");
}

#[test]
fn a_movie_has_the_frames_that_were_played() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = window(Source::scene(scene(SCENE)), folder.path());
    opened(&mut window);
    click(&mut window, "record");
    for k in 1..=4 {
        click(&mut window, "step");
        wait(&mut window, |app| frame(app) == k);
    }
    window.get_by_label_contains("stop recording").click();
    wait(&mut window, |app| {
        app.message().is_some_and(|said| said.contains("5 images"))
    });
    let bytes = std::fs::metadata(folder.path().join("barchan-001.mp4")).unwrap().len();
    assert!(bytes > 2000, "{bytes} bytes");
}

#[test]
fn a_cache_is_scrubbed_and_played() {
    let folder = tempfile::tempdir().unwrap();
    let options = RunOptions {
        dir: folder.path().join("cache"),
        frames: Some(12),
        start_frame: None,
        resume: false,
        force: false,
        scene: Default::default(),
    };
    run(&scene(SCENE), &options, &mut |_| Go::On).unwrap();
    let mut window = window(Source::cache(&options.dir), folder.path());
    let first = opened(&mut window);
    let slider = window.get_by_role_and_label(Role::Slider, "frame");
    slider.focus();
    // Arrow keys move the focus until the slider has captured them.
    window.run_steps(3);
    for k in 1..=9 {
        window.key_press(Key::ArrowRight);
        wait(&mut window, |app| frame(app) == k);
    }
    let later = wait(&mut window, |app| frame(app) == 9);
    assert_ne!(first.pixels, later.pixels);
    click(&mut window, "play");
    wait(&mut window, |app| frame(app) != 9);
}

#[test]
fn what_cannot_be_opened_is_told_in_the_window() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = window(Source::cache(&folder.path().join("nothing")), folder.path());
    let start = Instant::now();
    while app(&window).message().is_none() {
        window.step();
        assert!(start.elapsed() < Duration::from_secs(60));
    }
    assert!(app(&window).message().unwrap().contains("nothing"));
}
