"""Simulates granular material (sand, gravel, grain, snow) in high resolution.

>>> import barchan
>>> simulation = barchan.Simulation("column", set={"solver.kind": "dem"})
>>> simulation.advance()
>>> simulation.guides.position.shape
(3626, 3)
"""

from ._barchan import (
    Bodies,
    Body,
    Cache,
    Error,
    Frame,
    InputError,
    RunError,
    Simulation,
    Table,
    __version__,
    check,
    refine,
    render,
    sample,
    scenes,
    validate,
)
from .distribute import render_frames, sweep

__all__ = [
    "Bodies",
    "Body",
    "Cache",
    "Error",
    "Frame",
    "InputError",
    "RunError",
    "Simulation",
    "Table",
    "__version__",
    "check",
    "refine",
    "render",
    "render_frames",
    "sample",
    "scenes",
    "sweep",
    "validate",
]
