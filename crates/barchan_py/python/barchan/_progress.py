"""Progress as one line on standard error."""

import sys


def show(done, total, time=None):
    """Shows that ``done`` of ``total`` frames are done, at ``time`` [s]."""
    now = "" if time is None else f", {time:.3f} s"
    end = "\n" if done >= total else ""
    print(f"\rframe {done}/{total}{now}", end=end, file=sys.stderr, flush=True)
