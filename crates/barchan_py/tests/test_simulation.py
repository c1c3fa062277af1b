import gc
import signal
import threading
import time

import barchan
import numpy as np
import pytest


def test_a_built_in_scene_runs_with_any_solver():
    # Few guides; the scene settles, so the wall is there while the sand comes to rest.
    small = {"fill.0.radius": 0.05, "fill.0.settle": 0.05, "refine.radius": 0.03}
    for solver in ["pbd", "sph", "dem"]:
        simulation = barchan.Simulation("column", set={"solver.kind": solver, **small})
        assert simulation.solver == solver
        simulation.advance()
        assert simulation.time == pytest.approx(1 / 60)
        assert simulation.stats["guides"] == len(simulation.guides) > 50


def test_a_scene_is_a_name_a_path_a_text_or_a_dictionary(tmp_path, scene):
    text = 'duration = 1\n[materials.sand]\ndensity = 1600\n[[fill]]\nmaterial = "sand"\nradius = 0.1\n'
    text += "shape = { sphere = { radius = 0.3 } }\n"
    path = tmp_path / "ball.toml"
    path.write_text(text)
    counts = {len(barchan.Simulation(one).guides) for one in [text, path, str(path)]}
    assert len(counts) == 1
    numpy_scene = {**scene, "gravity": np.array([0, 0, -1.62]), "seed": np.int64(7)}
    assert barchan.Simulation(numpy_scene).name == "box"


def test_columns_are_views_that_keep_their_frame_alive(scene):
    simulation = barchan.Simulation(scene)
    position = simulation.guides.position
    assert position.dtype == np.float32 and position.shape == (len(simulation.guides), 3)
    assert simulation.guides.velocity.shape == position.shape
    assert simulation.guides.radius == pytest.approx(0.04)
    assert simulation.guides.id.dtype == np.uint32 and simulation.guides.material.dtype == np.uint8
    # No copy: the same memory each time, and not to be written to.
    assert np.shares_memory(position, simulation.guides.position)
    assert not position.flags.writeable
    with pytest.raises(ValueError):
        position[0] = 0
    with pytest.raises(ValueError):
        position.flags.writeable = True
    before = position.copy()
    simulation.advance(3)
    assert not np.array_equal(simulation.guides.position, before)
    grains = simulation.grains.position
    held = grains.copy()
    del simulation
    gc.collect()
    # Fill freed memory with other numbers.
    _ = [np.full_like(held, 7) for _ in range(50)]
    assert np.array_equal(position, before) and np.array_equal(grains, held)


def test_solver_columns_and_unknown_ones(guides_only):
    simulation = barchan.Simulation(guides_only, set={"solver.kind": "sph"})
    simulation.advance()
    guides = simulation.guides
    assert guides["density"].shape == (len(guides),) and "density" in guides
    assert set(guides.columns) <= set(dir(guides))
    with pytest.raises(AttributeError, match="there are: id, position"):
        _ = guides.heat
    with pytest.raises(KeyError, match="heat"):
        _ = guides["heat"]
    assert simulation.grains is None


def test_a_driven_blade_moves_and_feels_the_sand(guides_only):
    simulation = barchan.Simulation(guides_only)
    blade = simulation.bodies["blade"]
    blade.set_velocity((0.5, 0, 0))
    simulation.advance(20)
    assert blade.position[0] == pytest.approx(-0.3 + 0.5 * 20 / 60)
    assert blade.force[0] < 0 and np.isfinite(blade.torque).all()
    assert np.array_equal(blade.pose[1], [0, 0, 0, 1]) and blade.motion == "driven"
    assert list(simulation.bodies) == ["ground", "blade"] and len(simulation.bodies) == 2
    with pytest.raises(KeyError, match="did you mean `blade`"):
        simulation.bodies["blad"]
    with pytest.raises(barchan.InputError, match="only driven and dynamic"):
        simulation.bodies["ground"].set_velocity((1, 0, 0))
    for wrong in [(np.nan, 0, 0), (np.inf, 0, 0), (1e9, 0, 0)]:
        with pytest.raises(barchan.InputError, match="finite"):
            blade.set_velocity(wrong)
    with pytest.raises((TypeError, ValueError)):
        blade.set_velocity((1, 0))


def test_a_frame_does_not_change_when_the_simulation_goes_on(scene):
    simulation = barchan.Simulation(scene)
    frame = simulation.frame()
    held = frame.grains.position.copy()
    simulation.advance(2)
    assert (frame.number, frame.time) == (0, 0)
    assert np.array_equal(frame.grains.position, held)
    assert frame.bodies["name"] == ["ground", "blade"]
    assert frame.stats["mass"] == pytest.approx(simulation.stats["mass"])


def test_a_saved_state_continues_with_the_same_bits(tmp_path, scene):
    one = barchan.Simulation(scene, set={"seed": 3})
    one.advance(3)
    one.save(tmp_path / "state")
    two = barchan.Simulation.resume(tmp_path / "state")
    assert two.frame_number == 3
    for simulation in [one, two]:
        simulation.advance(4)
    assert np.array_equal(one.guides.position, two.guides.position)
    assert np.array_equal(one.grains.position, two.grains.position)


def test_two_simulations_advance_at_once_without_a_difference(guides_only):
    alone = barchan.Simulation(guides_only)
    alone.advance(10)
    both = [barchan.Simulation(guides_only) for _ in range(2)]
    threads = [threading.Thread(target=simulation.advance, args=(10,)) for simulation in both]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for simulation in both:
        assert np.array_equal(simulation.guides.position, alone.guides.position)


def test_a_simulation_in_use_by_another_thread_refuses(guides_only):
    simulation = barchan.Simulation(guides_only)
    refusals, advancing = [], threading.Thread(target=simulation.advance, args=(60,))
    advancing.start()
    # The interpreter runs meanwhile: the lock is released.
    while advancing.is_alive():
        try:
            simulation.guides
        except barchan.RunError as error:
            refusals.append(str(error))
    advancing.join()
    assert any("by another thread" in refusal for refusal in refusals)
    assert simulation.frame_number == 60


def interrupted(work):
    """Returns the seconds that work takes to end after Ctrl-C."""
    sent = []

    def interrupt():
        time.sleep(0.5)
        sent.append(time.monotonic())
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        work()
    took = time.monotonic() - sent[0]
    thread.join()
    return took


def test_ctrl_c_ends_construction_and_advancing(tmp_path, guides_only):
    long = {"fill.0.settle": 1000}
    assert interrupted(lambda: barchan.Simulation(guides_only, set=long)) < 5
    simulation = barchan.Simulation(guides_only)
    assert interrupted(lambda: simulation.advance(10**9)) < 5
    assert interrupted(lambda: simulation.run(tmp_path / "out", 10**6)) < 5
    # It can be used again at once.
    number = simulation.frame_number
    simulation.advance()
    assert simulation.frame_number == number + 1
    assert len(barchan.Cache(tmp_path / "out")) > 1


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("duration = 1\n[materials.sand]\ndensity = -5\n", "scene:3:11"),
        ({"duration": 1, "materials": {"sand": {"desnity": 5}}}, "scene:2:"),
        ("no such scene", "neither a file nor a built-in scene"),
        ("colum", "did you mean `column`"),
        ("", "no such scene|neither|cannot read"),
        ({"duration": float("nan")}, "scene:1:"),
        ({"duration": 10**400}, "scene:1:"),
        ({"name": "a\0b\x7f\n\"'\\"}, "materials|fill|duration"),
    ],
)
def test_wrong_scenes_are_errors_with_their_place(source, place):
    with pytest.raises(barchan.InputError, match=place):
        barchan.Simulation(source)


def test_wrong_values_are_type_errors(guides_only):
    for source in [None, 5, b"\xff", object(), ["column"], {1: 2}, {"seed": object()}, {"seed": None}]:
        with pytest.raises((TypeError, barchan.InputError)):
            barchan.Simulation(source)
    nested = {}
    nested["a"] = nested
    with pytest.raises(barchan.InputError, match="nested"):
        barchan.Simulation(nested)
    with pytest.raises(barchan.InputError, match="solver.kind"):
        barchan.Simulation(guides_only, set={"solver.kind": "magic"})
    simulation = barchan.Simulation(guides_only)
    for frames in [-1, 1.5, "3", 2**70]:
        with pytest.raises((TypeError, OverflowError)):
            simulation.advance(frames)


def test_a_run_that_fails_is_an_error_and_not_a_crash(guides_only):
    huge = {"fill.0.velocity": [0, 0, -1e5], "solver.kind": "dem"}
    simulation = barchan.Simulation(guides_only, set=huge)
    with pytest.raises(barchan.Error):
        simulation.advance(100)


def test_warnings_of_a_scene_are_warnings_of_python(guides_only):
    floating = {**guides_only, "body": guides_only["body"][1:]}
    with pytest.warns(UserWarning, match="nothing is below this fill(.|\n)*scene:"):
        barchan.Simulation(floating)
