//! Progress before the first frame.

use std::sync::Mutex;

use barchan::scene::{Document, parse_scene};
use barchan::{Phase, Simulation};

const SCENE: &str = r#"
    name = "phases"
    duration = 1
    frame_rate = 30
    [materials.sand]
    density = 1600
    [[fill]]
    material = "sand"
    radius = 0.04
    settle = 0.2
    shape = { box = { size = [0.4, 0.4, 0.4] } }
    [[fill]]
    material = "sand"
    radius = 0.05
    shape = { box = { size = [0.3, 0.3, 0.3] }, at = [2, 0, 0] }
    [[body]]
    name = "floor"
    shape = { half_space = { normal = [0, 0, 1], offset = -0.3 } }
    [refine]
    radius = 0.02
"#;

#[test]
fn phases_come_in_order_and_their_shares_grow() {
    let (scene, _) = parse_scene(&Document::new("phases", SCENE)).unwrap();
    let seen = Mutex::new(Vec::new());
    let watched = Simulation::watched(&scene, &|phase| seen.lock().unwrap().push(phase)).unwrap();
    let seen: Vec<Phase> = seen.into_inner().unwrap();
    let mut names: Vec<&str> = seen.iter().map(Phase::name).collect();
    names.dedup();
    assert_eq!(
        names,
        ["packing guides", "building bodies", "settling", "seeding grains"]
    );
    for pair in seen.windows(2).filter(|pair| pair[0].name() == pair[1].name()) {
        assert!(pair[0].share() <= pair[1].share(), "{pair:?}");
    }
    assert!(
        seen.iter().all(|phase| (0.0..=1.0).contains(&phase.share())),
        "{seen:?}"
    );
    // Six frames settle 0.2 s at 30 per second.
    let settling: Vec<String> = seen
        .iter()
        .filter(|p| p.name() == "settling")
        .map(Phase::to_string)
        .collect();
    assert_eq!(settling.first().unwrap(), "settling 0.00 of 0.2 s");
    assert_eq!(settling.last().unwrap(), "settling 0.17 of 0.2 s");
    assert!(
        seen.iter()
            .any(|p| p.to_string().starts_with("packing guides, fill 2 of 2")),
        "{seen:?}"
    );
    // Observation changes nothing.
    let unwatched = Simulation::new(&scene).unwrap();
    let place = |simulation: &Simulation| {
        (0..simulation.world().guides.len())
            .map(|i| simulation.world().place(i))
            .collect::<Vec<_>>()
    };
    assert_eq!(place(&watched), place(&unwatched));
}
