"""Independent work in several processes, or on the workers of a Dask client: runs of a sweep, frames of a cache.

A task is repeated if its process dies. What tasks write does not depend on where they run.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from pathlib import Path

from . import _barchan

#: Attempts at a task whose process dies.
ATTEMPTS = 3


def sweep(scene, vary, out=None, *, set=None, frames=None, workers=1, client=None, progress=None):
    """Runs a scene for every combination of values, and returns the table of results.

    ``vary`` maps keys, as in ``set``, to lists of values; the last key changes fastest. ``out`` is the folder of the
    runs and of ``table.arrow`` and ``table.csv``; a sweep that was broken off there continues. Runs with equal guides
    after settling share them. ``workers`` is a number of processes on this machine; ``client`` a Dask client, whose
    workers see the same folder. ``progress`` is True, or a function of the number of finished runs, of all, and the
    title of the run that just finished.

    Failed runs have an ``error`` in the table; they are tried again when the sweep is repeated. Raises ``RunError`` if
    all of them fail.
    """
    vary = {key: values if isinstance(values, (str, list, tuple)) else list(values) for key, values in vary.items()}
    if out is None:
        name = Path(scene).stem if isinstance(scene, (str, os.PathLike)) and "\n" not in str(scene) else "scene"
        out = Path("sweeps") / name
    out = Path(out).absolute()
    batches = _barchan.begin_sweep(scene, vary, out, set=set, frames=frames)
    errors = []
    total = sum(map(len, batches))
    done = 0

    def finished(title, error):
        nonlocal done
        done += 1
        if error is not None:
            errors.append(error)
        _show(progress, done, total, title)

    for batch in batches:
        tasks = [(title, ("run_sweep", str(out), number)) for number, title in batch]
        _distribute(tasks, workers, client, finished)
    table = _barchan.sweep_table(out)
    if errors and len(errors) == total:
        raise _barchan.RunError("\n".join(errors))
    for error in errors:
        _warn(error)
    return table


def render_frames(cache, out, *, workers=1, client=None, progress=None, **look):
    """Draws every frame of a cache into the folder ``out``, as numbered pictures, and returns their paths.

    ``look`` holds the arguments of ``render``. Without a fixed camera or range, each picture has its own.
    """
    cache = cache if isinstance(cache, _barchan.Cache) else _barchan.Cache(cache)
    path, out = Path(cache.path).absolute(), Path(out).absolute()
    out.mkdir(parents=True, exist_ok=True)
    pictures = [out / f"{number:06}.png" for number in cache.frames]
    tasks = [
        (f"frame {number}", ("render", str(path), str(picture), number, look))
        for number, picture in zip(cache.frames, pictures)
    ]
    errors, done = [], 0

    def finished(title, error):
        nonlocal done
        done += 1
        if error is not None:
            errors.append(error)
        _show(progress, done, len(tasks), title)

    _distribute(tasks, workers, client, finished)
    if errors:
        raise _barchan.RunError("\n".join(errors))
    return pictures


def do_task(kind, path, *rest):
    """Does one task in this process; returns None, or the message of its error."""
    try:
        if kind == "run_sweep":
            _barchan.run_sweep(path, *rest)
        elif kind == "render":
            picture, number, look = rest
            _barchan.render(path, picture, frame=number, **look)
        else:
            raise ValueError(f"there is no task {kind!r}")
    except Exception as error:  # A failed task must not end the others.
        return str(error)
    return None


def _distribute(tasks, workers, client, finished):
    """Does tasks, pairs of title and arguments; calls ``finished`` with title and error after each."""
    if client is not None:
        _on_dask(tasks, client, finished)
    elif workers < 1:
        raise ValueError("workers must be 1 or more")
    elif workers == 1:
        for title, task in tasks:
            finished(title, _named(title, do_task(*task)))
    else:
        _in_processes(tasks, workers, finished)


def _named(title, error):
    return None if error is None else error if error.startswith(title) else f"{title}: {error}"


def _on_dask(tasks, client, finished):
    from distributed import as_completed

    # Keys are titles, so that dashboards and logs name the task. A new key per call: the folder tells what is done.
    tag = os.urandom(4).hex()
    titles = {}
    futures = []
    for title, task in tasks:
        future = client.submit(do_task, *task, key=f"{title} {tag}", pure=False)
        titles[future.key] = title
        futures.append(future)
    for future in as_completed(futures):
        title = titles[future.key]
        failure = future.exception()
        error = future.result() if failure is None else f"{type(failure).__name__}: {failure}"
        finished(title, _named(title, error))


def _in_processes(tasks, workers, finished):
    """Each task gets a process of its own, so that one that dies harms no other."""
    queue = deque(tasks)
    lock = threading.Lock()
    stopped = threading.Event()
    running = {}
    failures = []
    threads_each = max(1, (os.cpu_count() or 1) // workers)
    environment = {"RAYON_NUM_THREADS": str(threads_each), **os.environ}

    def attend(slot):
        try:
            while not stopped.is_set():
                with lock:
                    if not queue:
                        return
                    title, task = queue.popleft()
                error = _in_process(task, environment, running, slot, stopped)
                with lock:
                    if not stopped.is_set():
                        finished(title, _named(title, error))
        except BaseException as failure:  # Raised again in the caller's thread.
            failures.append(failure)
            stopped.set()

    threads = [threading.Thread(target=attend, args=(slot,)) for slot in range(min(workers, len(tasks)))]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except BaseException:
        stopped.set()
        for process in list(running.values()):
            # As Ctrl-C: a run leaves a checkpoint.
            process.send_signal(signal.SIGINT)
        for thread in threads:
            thread.join()
        raise
    if failures:
        raise failures[0]


def _in_process(task, environment, running, slot, stopped):
    command = [sys.executable, "-c", "from barchan.distribute import _main; _main()"]
    for _ in range(ATTEMPTS):
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )
        running[slot] = process
        out, err = process.communicate(json.dumps(task))
        del running[slot]
        if process.returncode == 0:
            return json.loads(out)
        if process.returncode > 0 or stopped.is_set():
            return err.strip() or f"its process ended with code {process.returncode}"
    return f"its process was killed {ATTEMPTS} times"


def _main():
    """Does the task on standard input, and prints its error as JSON."""
    task = json.load(sys.stdin)
    print(json.dumps(do_task(*task)))


def _show(progress, done, total, title):
    if callable(progress):
        progress(done, total, title)
    elif progress:
        print(f"{done} of {total}: {title}", file=sys.stderr, flush=True)


def _warn(text):
    import warnings

    warnings.warn(text, stacklevel=3)
