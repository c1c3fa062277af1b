import json
import shutil
import subprocess

import barchan
import numpy as np
import pyarrow as pa
import pytest


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    from conftest import SCENE

    out = tmp_path_factory.mktemp("run") / "out"
    seen = []
    simulation = barchan.Simulation(SCENE)
    assert simulation.run(out, 4, progress=lambda *now: seen.append(now)) == out
    assert [now[:2] for now in seen] == [(done, 4) for done in range(5)]
    return barchan.Cache(out)


def test_frames_of_a_cache_are_those_of_the_simulation(cache, scene):
    simulation = barchan.Simulation(scene)
    assert len(cache) == 5 and cache.frames == [0, 1, 2, 3, 4] and cache.frame_rate == 60
    for frame in cache:
        assert frame.time == simulation.time
        assert np.array_equal(frame.guides.position, simulation.guides.position)
        assert np.array_equal(frame.grains.position, simulation.grains.position)
        assert frame.stats["guides"] == len(frame.guides)
        simulation.advance()
    assert cache[-1].number == 4 and cache[2].bodies["name"] == ["ground", "blade"]
    assert cache.stats[3]["frame"] == 3
    for missing in [5, -6, 2**40]:
        with pytest.raises(IndexError, match="there are 0 to 4"):
            cache[missing]


def test_a_cache_of_python_resumes_and_is_read_by_the_program(cache, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(cache.path, copy)
    resumed = barchan.Simulation.resume(copy)
    assert resumed.frame_number == 4
    program = shutil.which("barchan")
    assert program, "the wheel installs the program"
    said = subprocess.run([program, "info", copy, "--json"], capture_output=True, text=True, check=True)
    first = json.loads(said.stdout.splitlines()[0])
    assert first["frame"] == 0 and first["guides"] == len(cache[0].guides) > 0


def test_arrow_programs_read_a_frame_without_a_copy(cache):
    frame = cache[4]
    table = pa.table(frame.to_arrow("grains"))
    assert table.num_rows == len(frame.grains) and table.column_names == frame.grains.columns
    values = table["position"].chunk(0).values.to_numpy(zero_copy_only=True)
    assert np.shares_memory(values, frame.grains.position)
    assert pa.table(frame.to_arrow("bodies"))["name"].to_pylist() == ["ground", "blade"]
    with pytest.raises(barchan.InputError, match="no part"):
        frame.to_arrow("water")
    # The stream outlives its table.
    stream = pa.RecordBatchReader.from_stream(cache[3].to_arrow())
    assert stream.read_all().num_rows == len(cache[3].guides)


def test_existing_caches_are_replaced_only_by_force(cache, scene):
    simulation = barchan.Simulation(scene)
    with pytest.raises(barchan.InputError, match="is a cache already"):
        simulation.run(cache.path, 1)
    with pytest.raises(barchan.InputError):
        barchan.Cache("no such folder")


def test_an_error_of_the_progress_function_stops_the_run(tmp_path, scene):
    def stop(done, total, time):
        if done == 2:
            raise RuntimeError("enough")

    simulation = barchan.Simulation(scene)
    with pytest.raises(RuntimeError, match="enough"):
        simulation.run(tmp_path / "out", 1000, progress=stop)
    assert 3 <= len(barchan.Cache(tmp_path / "out")) < 1000


def test_pictures_are_arrays_and_files(cache, tmp_path, scene):
    look = {"size": (64, 48), "engine": "cpu"}
    image = barchan.render(barchan.Simulation(scene), tmp_path / "a.png", **look)
    assert image.shape == (48, 64, 3) and image.dtype == np.uint8 and image.std() > 5
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert np.array_equal(barchan.render(cache, frame=0, **look), image)
    speed = barchan.render(cache.path, frame=4, color="speed", range=(0, 1), guides=True, **look)
    assert not np.array_equal(speed, image)
    for wrong in [{"size": (0, 5)}, {"camera": "no"}, {"color": "no"}, {"map": "no"}, {"fov": 0}, {"frame": 9}]:
        with pytest.raises(barchan.InputError):
            barchan.render(cache, **{**look, **wrong})
    with pytest.raises(barchan.InputError, match="makes movies"):
        barchan.render(cache, "a.mp4")


def test_samples_fill_and_cover_shapes():
    ball = {"sphere": {"radius": 0.1}}
    inside = barchan.sample(ball, 0.01)
    assert inside.position.dtype == np.float64
    distances = np.linalg.norm(inside.position, axis=1)
    assert len(inside) > 400 and (distances + inside.radius).max() < 0.1001
    mixed = barchan.sample("{ sphere = { radius = 0.1 } }", (0.01, 0.02), packing="random", seed=2)
    assert 0.01 <= mixed.radius.min() < mixed.radius.max() <= 0.02
    shell = barchan.sample(ball, 0.01, surface=True)
    assert np.linalg.norm(shell.position, axis=1) == pytest.approx(0.1, abs=2e-3)
    assert (shell.normal * shell.position).sum(axis=1).min() > 0
    for wrong in [{"radius": 0}, {"radius": -1}, {"radius": float("nan")}, {"packing": "magic", "radius": 0.01}]:
        with pytest.raises(barchan.InputError):
            barchan.sample(ball, **wrong)
    with pytest.raises(barchan.InputError, match="raduis"):
        barchan.sample({"sphere": {"raduis": 0.1}}, 0.01)


def test_grains_are_added_to_a_cache(tmp_path, guides_only):
    out = barchan.Simulation(guides_only).run(tmp_path / "out", 2)
    done = barchan.refine(out, radius=0.02)
    assert done["frames"] == 3
    assert len(barchan.Cache(out)[2].grains) == done["grains"] > len(barchan.Cache(out)[2].guides)
    with pytest.raises(barchan.InputError, match="--force|already|grains"):
        barchan.refine(out, radius=0.02)


def test_a_validation_returns_its_rows(tmp_path):
    rows = barchan.validate(["weight"], out=tmp_path / "validation")
    assert rows and all(row["case"] == "weight" and row["pass"] is not False for row in rows)
    with pytest.raises(barchan.InputError, match="magic"):
        barchan.validate(["magic"], out=tmp_path / "validation")


def test_scenes_are_listed_and_checked(scene):
    assert "column" in dict(barchan.scenes())
    assert barchan.check(scene) == [] or all("scene:" in warning for warning in barchan.check(scene))
    with pytest.raises(barchan.InputError):
        barchan.check(scene, set={"fill.0.radius": -1})
