//! The window as a user meets it, without a screen.

use std::path::Path;
use std::time::{Duration, Instant};

use barchan::render::{Image, Renderer};
use barchan::running::{Go, RunOptions, run};
use barchan::scene::{Document, Scene, parse_scene};
use barchan_viewer::{Source, ViewerApp};
use eframe::egui::accesskit::Role;
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
"#;

fn scene() -> Scene {
    parse_scene(&Document::new("drop", SCENE)).unwrap().0
}

fn window(source: Source, pictures: &Path) -> Harness<'static, Option<ViewerApp>> {
    let pictures = pictures.to_owned();
    let mut source = Some(source);
    Harness::builder().with_size([700.0, 400.0]).build_ui_state(
        move |ui, app: &mut Option<ViewerApp>| {
            let open = |source| ViewerApp::new(source, Renderer::Cpu, pictures.clone(), ui.ctx().clone()).unwrap();
            if let Some(source) = source.take() {
                *app = Some(open(source));
            }
            app.as_mut().unwrap().ui(ui);
        },
        None,
    )
}

/// Lets the window run until it shows what `ready` waits for; gives the picture.
fn wait(window: &mut Harness<Option<ViewerApp>>, ready: impl Fn(&ViewerApp) -> bool) -> Image {
    let start = Instant::now();
    loop {
        window.step();
        let app = window.state().as_ref().unwrap();
        if ready(app) {
            return app.shot().unwrap().image.clone();
        }
        assert!(start.elapsed() < Duration::from_secs(60), "{:?}", app.message());
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn click(window: &mut Harness<Option<ViewerApp>>, label: &str) {
    window.get_by_label(label).click();
    window.step();
}

fn frame(app: &ViewerApp) -> usize {
    app.shot().map_or(usize::MAX, |shot| shot.frame)
}

/// Number of different colours.
fn colors(image: &Image) -> usize {
    let mut all = image.pixels.clone();
    all.sort_unstable();
    all.dedup();
    all.len()
}

#[test]
fn a_scene_is_simulated_paused_stepped_and_begun_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = window(Source::live(scene()).unwrap(), folder.path());
    // The size of the window arrives after the first picture.
    let first = wait(&mut window, |app| {
        app.shot().is_some_and(|shot| shot.image.width != 640)
    });
    assert!(colors(&first) > 100, "an empty picture");
    click(&mut window, "play");
    wait(&mut window, |app| frame(app) >= 8 && frame(app) < usize::MAX);
    click(&mut window, "pause");
    let fallen = wait(&mut window, |app| app.shot().is_some());
    assert_ne!(first.pixels, fallen.pixels);
    std::thread::sleep(Duration::from_millis(300));
    wait(&mut window, |_| true);
    let paused = frame(window.state().as_ref().unwrap());
    click(&mut window, "step");
    wait(&mut window, |app| frame(app) == paused + 1);
    click(&mut window, "restart");
    let again = wait(&mut window, |app| frame(app) == 0);
    assert!(again.pixels == first.pixels, "the beginning looks otherwise");
    click(&mut window, "screenshot");
    assert!(folder.path().join("barchan-001.png").exists());
}

#[test]
fn settings_act_on_a_running_simulation() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = window(Source::live(scene()).unwrap(), folder.path());
    wait(&mut window, |app| app.shot().is_some());
    let slider = window.get_by_role_and_label(Role::Slider, "gravity [m/s²]");
    slider.focus();
    // Arrows move the focus until the slider has taken them.
    window.run_steps(3);
    for _ in 0..200 {
        window.key_press(eframe::egui::Key::ArrowLeft);
        window.step();
    }
    click(&mut window, "step");
    wait(&mut window, |app| frame(app) == 1);
    // Without gravity nothing moves.
    let app = window.state().as_ref().unwrap();
    let speed = app.shot().unwrap().stats.max_speed;
    let falling = 9.81 / 60.0;
    assert!(speed < 0.75 * falling, "{speed} m/s");
}

#[test]
fn a_cache_is_scrubbed_and_played() {
    let folder = tempfile::tempdir().unwrap();
    let options = RunOptions {
        dir: folder.path().join("cache"),
        frames: Some(12),
        start_frame: 0,
        resume: false,
        scene: Default::default(),
    };
    run(&scene(), &options, &mut |_| Go::On).unwrap();
    let mut window = window(Source::cache(&options.dir).unwrap(), folder.path());
    let first = wait(&mut window, |app| {
        app.shot().is_some_and(|shot| shot.image.width != 640)
    });
    let slider = window.get_by_role_and_label(Role::Slider, "frame");
    slider.focus();
    // Arrows move the focus until the slider has taken them.
    window.run_steps(3);
    for k in 1..=9 {
        window.key_press(eframe::egui::Key::ArrowRight);
        wait(&mut window, |app| frame(app) == k);
    }
    let later = wait(&mut window, |app| frame(app) == 9);
    assert_ne!(first.pixels, later.pixels);
    click(&mut window, "play");
    wait(&mut window, |app| frame(app) != 9);
}
