//! The C interface: a simulation behind a pointer, columns that are read without a copy, driven bodies.
//!
//! Functions that can fail return a [`Status`] or a null pointer, and leave a message for [`barchan_last_error`]. No panic
//! crosses the boundary. The header `include/barchan.h` is generated from this file; a test compares them.

mod handle;

use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::ptr;

use barchan::world::Twist;
pub use handle::{Body, Column, Kind, Simulation, Status};
use handle::{Failure, Particles, failed, input, set_error};

/// Runs `work`, and turns an error or a panic into a message and a status.
fn guarded(work: impl FnOnce() -> Result<(), Failure>) -> Status {
    // Whatever a panic leaves half done is rejected later: see `Simulation::state`.
    let failure = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => return Status::Ok,
        Ok(Err(failure)) => failure,
        Err(panic) => failed(format!("internal error: {}", handle::panic_text(&*panic))),
    };
    set_error(&failure.message);
    failure.status
}

/// Reads a text.
///
/// # Safety
/// `text` is null or ends with a zero byte.
unsafe fn text<'a>(text: *const c_char, what: &str) -> Result<&'a str, Failure> {
    if text.is_null() {
        return Err(input(format!("{what} is a null pointer")));
    }
    // SAFETY: as above.
    let text = unsafe { CStr::from_ptr(text) }.to_str();
    text.map_err(|error| input(format!("{what}: {error}")))
}

/// Borrows the simulation behind a pointer.
///
/// # Safety
/// `simulation` is null or of `barchan_create` or `barchan_resume`, not freed, and not used by another thread meanwhile.
unsafe fn borrowed<'a>(simulation: *mut Simulation) -> Result<&'a mut Simulation, Failure> {
    // SAFETY: as above.
    unsafe { simulation.as_mut() }.ok_or_else(|| input("the simulation is a null pointer"))
}

/// Writes `value` to `out`.
///
/// # Safety
/// `out` is null or may be written to.
unsafe fn put<T>(out: *mut T, value: T) -> Result<(), Failure> {
    if out.is_null() {
        return Err(input("the result is a null pointer"));
    }
    // SAFETY: as above.
    unsafe { out.write(value) };
    Ok(())
}

/// Returns the version of the library.
#[unsafe(no_mangle)]
pub extern "C" fn barchan_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Returns the message of the last error on this thread, valid until the next error on it; an empty text if there was
/// none.
#[unsafe(no_mangle)]
pub extern "C" fn barchan_last_error() -> *const c_char {
    handle::last_error()
}

/// Reads `count` texts.
///
/// # Safety
/// `texts` is null, or points to as many texts as [`text`] takes.
unsafe fn all_texts(texts: *const *const c_char, count: usize, what: &str) -> Result<Vec<String>, Failure> {
    if texts.is_null() && count > 0 {
        return Err(input(format!("{what} is a null pointer")));
    }
    // SAFETY: as above.
    let one = |k| unsafe { text(*texts.add(k), what) }.map(str::to_owned);
    (0..count).map(one).collect()
}

/// Gives a simulation away, or a null pointer.
fn given(make: impl FnOnce() -> Result<Simulation, Failure>) -> *mut Simulation {
    let mut made = ptr::null_mut();
    guarded(|| {
        made = Box::into_raw(Box::new(make()?));
        Ok(())
    });
    made
}

/// Builds a simulation. `scene` is the name of a built-in scene, the path of a scene file, or a TOML text, which has line
/// breaks; `set` holds `set_count` changes `KEY=VALUE`. Returns null on an error.
///
/// # Safety
/// `scene` ends with a zero byte; `set` points to `set_count` such texts, or is null if there are none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barchan_create(
    scene: *const c_char,
    set: *const *const c_char,
    set_count: usize,
) -> *mut Simulation {
    given(|| {
        // SAFETY: the caller's promise.
        let (scene, set) = unsafe { (text(scene, "scene")?, all_texts(set, set_count, "set")?) };
        Simulation::create(scene, set)
    })
}

/// Continues from the folder of `barchan_save`, or of a cache with a checkpoint. Returns null on an error.
///
/// # Safety
/// `path` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barchan_resume(path: *const c_char) -> *mut Simulation {
    // SAFETY: the caller's promise.
    given(|| Simulation::resume(Path::new(unsafe { text(path, "path") }?)))
}

/// Frees a simulation and its columns. A null pointer is allowed.
///
/// # Safety
/// `simulation` is null or of `barchan_create` or `barchan_resume`, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barchan_free(simulation: *mut Simulation) {
    guarded(|| {
        if !simulation.is_null() {
            // SAFETY: the caller's promise.
            drop(unsafe { Box::from_raw(simulation) });
        }
        Ok(())
    });
}

/// Advances by `frames` frames.
///
/// # Safety
/// `simulation` is of `barchan_create` or `barchan_resume`, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barchan_advance(simulation: *mut Simulation, frames: u64) -> Status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { borrowed(simulation) }?.advance(frames))
}

/// Writes the time [s] to `time`, and the number of frames since the start to `frame`.
///
/// # Safety
/// `simulation` is of `barchan_create` or `barchan_resume`; the others may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barchan_time(simulation: *mut Simulation, time: *mut f64, frame: *mut u64) -> Status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let state = unsafe { borrowed(simulation) }?.state()?;
        // SAFETY: the caller's promise.
        unsafe {
            put(time, state.world().time)?;
            put(frame, state.frame_number())
        }
    })
}

/// Writes a column of the guides to `column`: `id`, `position` [m], `velocity` [m/s], `radius` [m], `material`, or one of
/// the solver's. The memory belongs to the simulation, and is valid until it is advanced or freed.
///
/// # Safety
/// `simulation` is of `barchan_create` or `barchan_resume`; `name` ends with a zero byte; `column` may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barchan_guides(
    simulation: *mut Simulation,
    name: *const c_char,
    column: *mut Column,
) -> Status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe {
        put(
            column,
            borrowed(simulation)?.column(Particles::Guides, text(name, "name")?)?,
        )
    })
}

/// Like `barchan_guides`, for the grains.
///
/// # Safety
/// As for `barchan_guides`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barchan_grains(
    simulation: *mut Simulation,
    name: *const c_char,
    column: *mut Column,
) -> Status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe {
        put(
            column,
            borrowed(simulation)?.column(Particles::Grains, text(name, "name")?)?,
        )
    })
}

/// Writes the state of the body called `name` to `body`.
///
/// # Safety
/// `simulation` is of `barchan_create` or `barchan_resume`; `name` ends with a zero byte; `body` may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barchan_body(simulation: *mut Simulation, name: *const c_char, body: *mut Body) -> Status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { put(body, borrowed(simulation)?.body(text(name, "name")?)?) })
}

/// Sets the velocity of the center of mass [m/s] and the angular velocity [rad/s] of a body; a null pointer is zero. A
/// driven body keeps them, a dynamic one starts with them.
///
/// # Safety
/// `simulation` is of `barchan_create` or `barchan_resume`; `name` ends with a zero byte; the others are null or point to
/// three numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barchan_set_velocity(
    simulation: *mut Simulation,
    name: *const c_char,
    linear: *const f64,
    angular: *const f64,
) -> Status {
    guarded(|| {
        let vector = |numbers: *const f64| {
            // SAFETY: the caller's promise.
            let numbers = unsafe { numbers.cast::<[f64; 3]>().as_ref() };
            numbers.copied().unwrap_or_default()
        };
        let twist = Twist {
            linear: vector(linear).into(),
            angular: vector(angular).into(),
        };
        // SAFETY: the caller's promise.
        let (simulation, name) = unsafe { (borrowed(simulation)?, text(name, "name")?) };
        simulation.set_velocity(name, twist)
    })
}

/// Saves the state into the folder `path`, for `barchan_resume`.
///
/// # Safety
/// `simulation` is of `barchan_create` or `barchan_resume`; `path` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn barchan_save(simulation: *mut Simulation, path: *const c_char) -> Status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { borrowed(simulation)?.save(Path::new(text(path, "path")?)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_status_and_a_message() {
        assert_eq!(guarded(|| panic!("broken {}", 7)), Status::Failed);
        // SAFETY: a text of the library.
        let message = unsafe { CStr::from_ptr(barchan_last_error()) };
        assert_eq!(message.to_str(), Ok("internal error: broken 7"));
    }
}
