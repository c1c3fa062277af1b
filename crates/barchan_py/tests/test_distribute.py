import csv
import os
import signal
import threading
import time

import barchan
import numpy as np
import pyarrow as pa
import pytest
from barchan import distribute

VARY = {"materials.sand.angle_of_repose": [20, 40], "seed": range(2)}
#: Long enough for a worker to be killed in the middle of a run.
FRAMES = 20


def files(folder):
    """The bytes of a sweep's results: positions of all runs, and the table."""
    names = ["*/guides/*.arrow", "*/grains/*.arrow", "*/bodies/*.arrow"]
    paths = [path for name in names for path in sorted((folder / "runs").glob(name))]
    paths += [folder / "table.csv", folder / "table.arrow"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    from conftest import SCENE

    out = tmp_path_factory.mktemp("alone")
    table = barchan.sweep(SCENE, VARY, out, frames=FRAMES)
    return out, table


def test_a_sweep_is_a_table_with_a_row_per_run(alone):
    out, table = alone
    assert list(table["materials.sand.angle_of_repose"]) == [20, 20, 40, 40]
    assert list(table["seed"]) == [0, 1, 0, 1]
    assert (table["frame"] == FRAMES).all() and "error" not in table
    assert pa.table(table).num_rows == 4
    rows = list(csv.DictReader((out / "table.csv").open()))
    assert float(rows[2]["kinetic_energy"]) == table["kinetic_energy"][2]
    last = barchan.Cache(out / "runs" / "0002")[FRAMES]
    assert table["high_z"][2] == last.guides.position[:, 2].max()
    assert table["blade.position_x"][2] == last.bodies["position"][1, 0]


def test_processes_write_the_same_bytes(alone, tmp_path, scene):
    seen = []
    barchan.sweep(scene, VARY, tmp_path, frames=FRAMES, workers=2, progress=lambda *now: seen.append(now))
    assert files(tmp_path) == files(alone[0])
    assert [now[0] for now in seen] == [1, 2, 3, 4]
    assert any("materials.sand.angle_of_repose=40, seed=1" in title for _, _, title in seen)


def test_a_process_that_is_killed_is_replaced(alone, tmp_path, scene, monkeypatch):
    killed = []
    popen = distribute.subprocess.Popen

    def start(*words, **options):
        process = popen(*words, **options)
        if not killed:
            killed.append(process.pid)
            os.kill(process.pid, signal.SIGKILL)
        return process

    monkeypatch.setattr(distribute.subprocess, "Popen", start)
    barchan.sweep(scene, VARY, tmp_path, frames=FRAMES, workers=2)
    assert killed and files(tmp_path) == files(alone[0])


def test_a_sweep_goes_on_where_it_was_broken_off(alone, tmp_path, scene):
    def stop(done, total, title):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        barchan.sweep(scene, VARY, tmp_path, frames=FRAMES, progress=stop)
    first = (tmp_path / "rows" / "0000.json").stat().st_mtime_ns
    seen = []
    barchan.sweep(scene, VARY, tmp_path, frames=FRAMES, progress=lambda *now: seen.append(now))
    assert len(seen) == 2 and (tmp_path / "rows" / "0000.json").stat().st_mtime_ns == first
    assert files(tmp_path) == files(alone[0])
    with pytest.raises(barchan.InputError, match="another sweep"):
        barchan.sweep(scene, {"seed": [1]}, tmp_path, frames=FRAMES)


def test_runs_share_settled_guides_bit_for_bit(tmp_path, scene):
    settling = {"fill.0.settle": 0.3}
    vary = {"refine.radius": [0.02, 0.03], "duration": [0.1]}
    barchan.sweep(scene, vary, tmp_path / "a", set=settling, frames=3)
    assert [path.name for path in (tmp_path / "a" / "settled").iterdir()] == ["0000"]
    direct = barchan.Simulation(scene, set={**settling, "refine.radius": 0.03})
    direct.advance(3)
    shared = barchan.Cache(tmp_path / "a" / "runs" / "0001")[3]
    assert np.array_equal(shared.guides.position, direct.guides.position)
    assert np.array_equal(shared.grains.position, direct.grains.position)
    barchan.sweep(scene, {"seed": [1, 2]}, tmp_path / "b", set=settling, frames=1)
    assert not (tmp_path / "b" / "settled").exists()


def test_errors_name_their_run(tmp_path, guides_only):
    with pytest.raises(barchan.InputError, match=r"run 0001 \(fill.0.radius=-1\)"):
        barchan.sweep(guides_only, {"fill.0.radius": [0.05, -1]}, tmp_path / "a")
    fast = {"fill.0.velocity": [[0, 0, 0], [0, 0, -1e5]]}
    with pytest.warns(UserWarning, match=r"run 0001 \(fill.0.velocity"):
        table = barchan.sweep(guides_only, fast, tmp_path / "b", set={"solver.kind": "dem"}, frames=40)
    assert table["error"][0] is None and table["error"][1]
    with pytest.raises(ValueError, match="workers"):
        barchan.sweep(guides_only, {"seed": [1]}, tmp_path / "c", workers=0)


def test_pictures_of_a_cache_are_drawn_by_processes(tmp_path, scene):
    out = barchan.Simulation(scene).run(tmp_path / "out", 2)
    look = {"size": (32, 24), "engine": "cpu"}
    alone = barchan.render_frames(out, tmp_path / "alone", **look)
    both = barchan.render_frames(barchan.Cache(out), tmp_path / "both", workers=2, **look)
    assert [path.name for path in both] == ["000000.png", "000001.png", "000002.png"]
    assert [path.read_bytes() for path in both] == [path.read_bytes() for path in alone]
    with pytest.raises(barchan.RunError, match="frame 0: "):
        barchan.render_frames(out, tmp_path / "no", camera="no", **look)


def test_a_lost_worker_of_dask_changes_nothing(alone, tmp_path, scene):
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    )
    with cluster, distributed.Client(cluster) as client:
        workers = client.run(os.getpid)
        assert len(set(workers.values())) == 2
        killed = []

        def kill():
            # In the middle of a task: some frames of a run are written, but not all.
            end = time.monotonic() + 60
            while time.monotonic() < end and not killed:
                for address, tasks in client.processing().items():
                    if tasks and list(tmp_path.glob("runs/*/frames.jsonl")):
                        killed.append(workers[address])
                        os.kill(workers[address], signal.SIGKILL)
                        break
                time.sleep(0.01)

        thread = threading.Thread(target=kill)
        thread.start()
        barchan.sweep(scene, VARY, tmp_path, frames=FRAMES, client=client)
        thread.join()
    assert killed
    assert files(tmp_path) == files(alone[0])
