from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

__version__: str

Path = str | PathLike[str]
Scene = str | PathLike[str] | Mapping[str, Any]
Vector = tuple[float, float, float] | Sequence[float] | NDArray[Any]
Progress = bool | Callable[[int, int, float | None], object] | None

class Error(Exception):
    """Base of all errors of barchan."""

class InputError(Error):
    """The input is wrong; the message names the place and what is allowed."""

class RunError(Error):
    """The work failed."""

class Table:
    """Named columns of equal length. Columns are attributes and items: numpy arrays that cannot be written to and share
    memory with the table. Arrow programs read it by `__arrow_c_stream__`, without a copy."""

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
    def __len__(self) -> int: ...
    def __contains__(self, name: str) -> bool: ...
    def __getitem__(self, name: str) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...
    @property
    def id(self) -> NDArray[np.uint32]:
        """Stable number [-]."""
    @property
    def position(self) -> NDArray[np.float32]:
        """Position of the center [m]."""
    @property
    def velocity(self) -> NDArray[np.float32]:
        """Mean velocity over the last frame [m/s]."""
    @property
    def radius(self) -> NDArray[np.float32]:
        """Radius [m]."""
    @property
    def material(self) -> NDArray[np.uint8]:
        """Number of the material [-]."""
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class Frame:
    """One frame: of a simulation, or of a cache, whose parts are read when they are first used."""

    @property
    def number(self) -> int:
        """Frame number."""
    @property
    def time(self) -> float:
        """Time [s]."""
    @property
    def guides(self) -> Table | None:
        """The simulated particles, if the cache has them."""
    @property
    def grains(self) -> Table | None:
        """The refined particles, if there are any."""
    @property
    def bodies(self) -> Table | None:
        """Poses of bodies, and the forces and torques of the guides on them."""
    @property
    def stats(self) -> dict[str, Any]:
        """Statistics of the frame."""
    def to_arrow(self, part: Literal["guides", "grains", "bodies"] = "guides") -> Table:
        """Returns a part for Arrow programs: an object with `__arrow_c_stream__`."""

class Body:
    """A rigid body of a simulation, as it is now. Vectors are numpy arrays of their own."""

    @property
    def name(self) -> str:
        """Name in the scene file."""
    @property
    def motion(self) -> Literal["fixed", "scripted", "driven", "dynamic"]:
        """Kind of motion: fixed, scripted, driven or dynamic."""
    @property
    def mass(self) -> float:
        """Mass [kg]."""
    @property
    def pose(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Position of the body's frame [m] and its rotation (x, y, z, w)."""
    @property
    def position(self) -> NDArray[np.float64]:
        """Position of the body's frame [m]."""
    @property
    def rotation(self) -> NDArray[np.float64]:
        """Rotation of the body's frame: x, y, z, w."""
    @property
    def center(self) -> NDArray[np.float64]:
        """Center of mass [m]."""
    @property
    def linear_velocity(self) -> NDArray[np.float64]:
        """Velocity of the center of mass [m/s]."""
    @property
    def angular_velocity(self) -> NDArray[np.float64]:
        """Angular velocity [rad/s]."""
    @property
    def force(self) -> NDArray[np.float64]:
        """Mean force of the guides over the last frame [N]."""
    @property
    def torque(self) -> NDArray[np.float64]:
        """Mean torque of the guides about the center of mass over the last frame [N m]."""
    def set_velocity(self, linear: Vector = (0, 0, 0), angular: Vector = (0, 0, 0)) -> None:
        """Sets the velocity of the center of mass [m/s] and the angular velocity [rad/s]; what is not given is zero. A
        driven body keeps it, a dynamic one starts with it."""

class Bodies:
    """The bodies of a simulation, by name: `simulation.bodies["wheel"]`."""

    def keys(self) -> list[str]:
        """Names of the bodies, as in the scene file."""
    def values(self) -> list[Body]:
        """The bodies, in the order of their names."""
    def items(self) -> list[tuple[str, Body]]:
        """Names and bodies."""
    def __len__(self) -> int: ...
    def __contains__(self, name: str) -> bool: ...
    def __getitem__(self, name: str) -> Body: ...
    def __iter__(self) -> Iterator[str]: ...

class Simulation:
    """A scene being simulated, frame by frame.

    The scene is the name of a built-in one, a path, a TOML text or a dictionary; `set` changes its values, as `--set` of
    the program does. Ctrl-C stops the construction at once, and `advance` after the current frame."""

    def __init__(self, scene: Scene, *, set: Mapping[str, Any] | None = None) -> None: ...
    @staticmethod
    def resume(path: Path) -> Simulation:
        """Continues from the folder of `save`, or of a cache with a checkpoint, bit-identically."""
    def advance(self, frames: int = 1) -> None:
        """Advances by a number of frames. Other Python threads run meanwhile."""
    @property
    def time(self) -> float:
        """Time [s]."""
    @property
    def frame_number(self) -> int:
        """Number of frames since the start."""
    @property
    def name(self) -> str:
        """Name of the scene."""
    @property
    def solver(self) -> str:
        """Name of the solver."""
    @property
    def frame_rate(self) -> float:
        """Frames per second [1/s]."""
    @property
    def guides(self) -> Table:
        """The simulated particles of the current frame."""
    @property
    def grains(self) -> Table | None:
        """The refined particles of the current frame, if the scene has any."""
    @property
    def bodies(self) -> Bodies:
        """The rigid bodies, by name."""
    @property
    def stats(self) -> dict[str, Any]:
        """Statistics of the current frame."""
    def frame(self) -> Frame:
        """Returns the current frame, which later steps do not change."""
    def run(self, out: Path, frames: int | None = None, *, progress: Progress = None, force: bool = False) -> Any:
        """Writes this frame and the next ones into a cache: `frames` more, by default to the end of the scene's duration.
        `progress` is True, or a function of the number of finished frames, of all, and the time [s]."""
    def save(self, path: Path) -> None:
        """Saves the state into a folder, for `resume`."""

class Cache:
    """A cache on disk, as it was when opened: `cache[42]` is frame 42, `cache[-1]` the last one."""

    def __init__(self, path: Path) -> None: ...
    @property
    def path(self) -> Any:
        """Its folder."""
    @property
    def scene(self) -> dict[str, Any]:
        """The scene as it was read: its name, text and changed values."""
    @property
    def frame_rate(self) -> float:
        """Frames per second [1/s]."""
    @property
    def frames(self) -> list[int]:
        """Numbers of the frames."""
    @property
    def times(self) -> list[float]:
        """Times of the frames [s]."""
    @property
    def stats(self) -> list[dict[str, Any]]:
        """Statistics of all frames, one dictionary each."""
    def __len__(self) -> int: ...
    def __getitem__(self, number: int) -> Frame: ...
    def __iter__(self) -> Iterator[Frame]: ...

def scenes() -> list[tuple[str, str]]:
    """Returns the names of the built-in scenes with their descriptions."""

def check(scene: Scene, *, set: Mapping[str, Any] | None = None) -> list[str]:
    """Checks a scene without running it, and returns its warnings."""

def sample(
    shape: Path | Mapping[str, Any],
    radius: float | tuple[float, float],
    *,
    packing: Literal["dense", "random", "lattice"] = "dense",
    surface: bool = False,
    offset: float = 0.0,
    seed: int = 1,
) -> Table:
    """Samples a mesh file or a shape, such as `"{ sphere = { radius = 1 } }"` or a dictionary, with particles: a table with
    `position` and `radius` [m]. `radius` is a number, or the smallest and largest one; `packing` is "dense", "random" or
    "lattice". `surface` covers the surface instead, `offset` [m] from it, with `normal` as a further column."""

def refine(
    path: Path,
    *,
    radius: float | None = None,
    output: Path | None = None,
    guide_radius: float | None = None,
    frame_rate: float = 60.0,
    scene: Scene | None = None,
    set: Mapping[str, Any] | None = None,
    floor: float | None = None,
    bodies: Sequence[Path] = (),
    force: bool = False,
    progress: Progress = None,
) -> dict[str, Any]:
    """Adds grains to a cache of guides, or to a folder of particle files of another program, as `barchan refine` does.
    Returns the cache and counts."""

def render(
    what: Simulation | Cache | Path,
    path: Path | None = None,
    *,
    frame: int | None = None,
    size: tuple[int, int] = (1280, 720),
    guides: bool = False,
    compare: bool = False,
    wireframe: bool = False,
    camera: str | None = None,
    position: Vector | None = None,
    target: Vector | None = None,
    fov: float | None = None,
    color: str = "material",
    range: tuple[float, float] | None = None,
    map: str = "viridis",
    engine: Literal["auto", "cpu", "gpu"] = "auto",
) -> NDArray[np.uint8]:
    """Draws a simulation, or a frame of a cache, and returns the picture as an array of rows, columns and red green blue.
    `path` also writes it as a PNG file.

    `range` holds the numbers at both ends of the color bar; `camera` is one of the scene's, or "fit"; `fov` is in
    degrees; `engine` is "auto", "cpu" or "gpu"."""

def validate(
    cases: Sequence[str] = (),
    *,
    set: Mapping[str, Any] | None = None,
    quick: bool = True,
    seeds: int | None = None,
    jobs: int = 1,
    out: Path = "validation",
) -> list[dict[str, Any]]:
    """Compares a solver with experiments and closed forms, as `barchan validate` does, and returns a dictionary per row.
    Without `cases` all are run; `out` keeps finished runs, which are not repeated."""

def begin_sweep(
    scene: Scene,
    vary: Mapping[str, Sequence[Any]],
    out: Path,
    *,
    set: Mapping[str, Any] | None = None,
    frames: int | None = None,
) -> list[list[tuple[int, str]]]:
    """Plans a sweep in the folder `out`, or continues the one there. Returns two lists of runs to do, the second after the
    first: pairs of number and title."""

def run_sweep(path: Path, number: int, *, progress: Progress = None) -> dict[str, Any]:
    """Does run `number` of the sweep in the folder `path`, and returns its row."""

def sweep_table(path: Path) -> Table:
    """Writes the table of the sweep in the folder `path`, and returns it."""
