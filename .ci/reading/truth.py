"""The cache itself, read with pyarrow: what every export is compared with."""

import json
import pathlib

import numpy as np
import pyarrow.feather as feather


class Truth:
    def __init__(self, cache):
        self.dir = pathlib.Path(cache)
        manifest = json.loads((self.dir / "manifest.json").read_text())
        self.rate = manifest["frame_rate"]
        self.frames = [entry["frame"] for entry in manifest["frames"]]

    def table(self, part, frame):
        """Columns of guides or grains in the order of their ids."""
        table = feather.read_table(self.dir / part / f"{frame:06}.arrow")
        columns = {name: values(table[name]) for name in table.column_names}
        order = np.argsort(columns["id"])
        return {name: column[order] for name, column in columns.items()}

    def bodies(self, frame):
        """Position and rotation (x, y, z, w) of each body."""
        rows = feather.read_table(self.dir / "bodies" / f"{frame:06}.arrow").to_pylist()
        return {row["name"]: (np.array(row["position"]), np.array(row["rotation"])) for row in rows}

    def mesh(self, name):
        """Vertices and triangles of a body's surface in its frame."""
        stage = json.loads((self.dir / "stage.json").read_text())
        file = next(body["mesh"] for body in stage["bodies"] if body["name"] == name)
        return read_ply(self.dir / "meshes" / file)

    def posed(self, name, frame):
        """Corners of a body's triangles in the world, (n, 3, 3)."""
        vertices, triangles = self.mesh(name)
        position, rotation = self.bodies(frame)[name]
        return (turned(rotation, vertices) + position)[triangles]

    def colors(self, part, frame):
        """Linear colors by the text export, to 1/255 in sRGB."""
        rows = np.genfromtxt(self.dir / "csv" / part / f"{frame:06}.csv", delimiter=",", names=True)
        return linear(np.stack([rows[channel] for channel in ("red", "green", "blue")], axis=1) / 255)


def values(column):
    array = column.combine_chunks()
    if hasattr(array, "chunks"):
        array = array.chunk(0)
    if str(array.type).startswith("fixed_size_list"):
        return array.flatten().to_numpy().reshape(len(array), -1)
    return array.to_numpy()


def linear(srgb):
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def srgb(linear):
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * np.maximum(linear, 0) ** (1 / 2.4) - 0.055)


def turned(rotation, points):
    axis, w = rotation[:3], rotation[3]
    twice = 2 * np.cross(axis, points)
    return points + w * twice + np.cross(axis, twice)


def read_ply(path):
    data = path.read_bytes()
    end = data.index(b"end_header\n") + len(b"end_header\n")
    count = {line.split()[1]: int(line.split()[2]) for line in data[:end].decode().splitlines() if line.startswith("element")}
    vertices = np.frombuffer(data, "<f8", 3 * count["vertex"], end).reshape(-1, 3)
    faces = np.frombuffer(data, np.dtype([("n", "u1"), ("corners", "<i4", 3)]), count["face"], end + vertices.nbytes)
    return vertices, faces["corners"]


def y_up(vectors):
    """(x, y, z) as formats with y upwards have it."""
    return np.stack([vectors[..., 0], vectors[..., 2], -vectors[..., 1]], axis=-1)


def same(what, found, expected, tolerance=0.0):
    """Fails unless both are equal, NaN included, to within `tolerance`."""
    found, expected = np.asarray(found, "f8"), np.asarray(expected, "f8")
    if found.shape != expected.shape:
        raise SystemExit(f"{what}: shape {found.shape}, expected {expected.shape}")
    if not np.array_equal(np.isnan(found), np.isnan(expected)):
        raise SystemExit(f"{what}: NaN in other places")
    error = np.nanmax(np.abs(found - expected), initial=0.0)
    if error > tolerance:
        raise SystemExit(f"{what}: differs by {error}, allowed {tolerance}")
    compared.add(what)


def same_triangles(what, found, expected, tolerance):
    """Compares triangles as corners (n, 3, 3), whatever their order and first corner; their orientation counts."""

    def canonical(corners):
        corners = np.asarray(corners, "f8").reshape(-1, 3, 3)
        first = np.array([min(range(3), key=lambda k: tuple(np.round(t[k], 4))) for t in corners])
        rolled = np.stack([corners[np.arange(len(corners)), (first + k) % 3] for k in range(3)], axis=1)
        return rolled[np.lexsort(np.round(rolled.reshape(len(rolled), -1), 4).T)]

    same(what, canonical(found), canonical(expected), tolerance)


#: Names of what was compared, for the summary.
compared = set()


def summary(program, version):
    print(f"{program} {version}: {len(compared)} comparisons: {', '.join(sorted(compared))}")
