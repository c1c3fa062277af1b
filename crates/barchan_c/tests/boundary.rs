//! The C functions, called as C calls them.

use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;
use std::ptr;

use barchan_c::*;

const SCENE: &str = r#"
duration = 1
[materials.sand]
density = 1600
[[fill]]
material = "sand"
radius = 0.04
shape = { box = { size = [0.4, 0.4, 0.2] }, at = [0, 0, 0.1] }
[[body]]
name = "ground"
shape = { half_space = { normal = [0, 0, 1] } }
[[body]]
name = "blade"
motion = "driven"
shape = { box = { size = [0.1, 0.4, 0.2] }, at = [-0.3, 0, 0.1] }
"#;

fn text(text: &str) -> CString {
    CString::new(text).unwrap()
}

fn last_error() -> String {
    // SAFETY: a text of the library.
    unsafe { CStr::from_ptr(barchan_last_error()) }
        .to_str()
        .unwrap()
        .to_owned()
}

fn create(scene: &str) -> *mut Simulation {
    // SAFETY: a text, and no list.
    unsafe { barchan_create(text(scene).as_ptr(), ptr::null(), 0) }
}

fn column(simulation: *mut Simulation, name: &str) -> Column {
    let mut column = MaybeUninit::uninit();
    // SAFETY: a simulation of the test; the column is read only if it was written.
    unsafe {
        let status = barchan_guides(simulation, text(name).as_ptr(), column.as_mut_ptr());
        assert_eq!(status, Status::Ok, "{}", last_error());
        column.assume_init()
    }
}

fn positions(simulation: *mut Simulation) -> Vec<f32> {
    let found = column(simulation, "position");
    assert_eq!((found.width, found.kind), (3, Kind::F32));
    // SAFETY: as the column says.
    unsafe { std::slice::from_raw_parts(found.data.cast(), found.rows * found.width) }.to_vec()
}

fn body(simulation: *mut Simulation, name: &str) -> Body {
    let mut body = MaybeUninit::uninit();
    // SAFETY: as for columns.
    unsafe {
        assert_eq!(
            barchan_body(simulation, text(name).as_ptr(), body.as_mut_ptr()),
            Status::Ok
        );
        body.assume_init()
    }
}

#[test]
fn a_driven_blade_pushes_guides_and_feels_them() {
    let simulation = create(SCENE);
    assert!(!simulation.is_null(), "{}", last_error());
    let before = positions(simulation);
    // Read again, the column lies in the same memory.
    assert_eq!(column(simulation, "position").data, column(simulation, "position").data);
    let velocity = [0.5, 0.0, 0.0];
    let (mut time, mut frame) = (0.0, 0);
    // SAFETY: a simulation of the test and valid pointers.
    unsafe {
        let blade = text("blade");
        assert_eq!(
            barchan_set_velocity(simulation, blade.as_ptr(), velocity.as_ptr(), ptr::null()),
            Status::Ok
        );
        assert_eq!(barchan_advance(simulation, 20), Status::Ok);
        assert_eq!(barchan_time(simulation, &mut time, &mut frame), Status::Ok);
    }
    assert_eq!((frame, time), (20, 20.0 / 60.0));
    let blade = body(simulation, "blade");
    assert!((blade.position[0] + 0.3 - 0.5 * time).abs() < 1e-9, "{blade:?}");
    assert!(blade.force[0] < 0.0, "{blade:?}");
    assert_eq!(before.len(), positions(simulation).len());
    assert_ne!(before, positions(simulation));
    // SAFETY: not used again.
    unsafe { barchan_free(simulation) };
}

#[test]
fn a_saved_simulation_continues_with_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let path = text(folder.path().to_str().unwrap());
    let one = create(SCENE);
    // SAFETY: simulations of the test.
    unsafe {
        assert_eq!(barchan_advance(one, 3), Status::Ok);
        assert_eq!(barchan_save(one, path.as_ptr()), Status::Ok, "{}", last_error());
        let two = barchan_resume(path.as_ptr());
        assert!(!two.is_null(), "{}", last_error());
        for simulation in [one, two] {
            assert_eq!(barchan_advance(simulation, 3), Status::Ok);
        }
        assert_eq!(positions(one), positions(two));
        barchan_free(one);
        barchan_free(two);
    }
}

#[test]
fn wrong_input_is_refused_with_its_place() {
    assert!(create(&SCENE.replace("radius", "raduis")).is_null());
    let said = last_error();
    assert!(
        said.contains("scene:7:1") && said.contains("did you mean `radius`?"),
        "{said}"
    );
    assert!(create("no such scene").is_null());
    assert!(last_error().contains("neither a file nor a built-in scene"));
    let simulation = create(SCENE);
    let set = [text("solver.kind=dem")];
    let set: Vec<_> = set.iter().map(|one| one.as_ptr()).collect();
    let far = [f64::NAN, 0.0, 0.0];
    let refused = |status: Status, message: &str| {
        assert_eq!(status, Status::WrongInput, "{message}");
        assert!(last_error().contains(message), "{} for {message}", last_error());
    };
    // SAFETY: null pointers are allowed, the others are of the test.
    unsafe {
        let mut column = MaybeUninit::uninit();
        refused(barchan_advance(ptr::null_mut(), 1), "null pointer");
        refused(
            barchan_guides(simulation, ptr::null(), column.as_mut_ptr()),
            "name is a null pointer",
        );
        refused(
            barchan_guides(simulation, text("heat").as_ptr(), column.as_mut_ptr()),
            "no column `heat`",
        );
        refused(
            barchan_grains(simulation, text("id").as_ptr(), column.as_mut_ptr()),
            "no [refine]",
        );
        refused(
            barchan_guides(simulation, text("id").as_ptr(), ptr::null_mut()),
            "result is a null pointer",
        );
        refused(
            barchan_guides(simulation, c"\xff".as_ptr(), column.as_mut_ptr()),
            "utf-8",
        );
        let drive =
            |name: &str, linear: *const f64| barchan_set_velocity(simulation, text(name).as_ptr(), linear, ptr::null());
        refused(drive("ground", ptr::null()), "only driven and dynamic bodies");
        refused(drive("blad", ptr::null()), "did you mean `blade`?");
        refused(drive("blade", far.as_ptr()), "finite");
        assert!(barchan_create(ptr::null(), ptr::null(), 0).is_null());
        assert!(barchan_create(text(SCENE).as_ptr(), ptr::null(), 1).is_null());
        let dem = barchan_create(text(SCENE).as_ptr(), set.as_ptr(), 1);
        assert!(!dem.is_null(), "{}", last_error());
        barchan_free(dem);
        barchan_free(simulation);
        barchan_free(ptr::null_mut());
    }
}
