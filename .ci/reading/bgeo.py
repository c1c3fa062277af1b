"""Reads .bgeo.sc as Houdini's documentation describes it: Blosc chunks with an index, binary JSON, paged attributes.

No reader of this format is in PyPI, and Houdini is not free: this one was written from the public description
(https://www.sidefx.com/docs/houdini/io/formats/geo.html) and shares no code with the writer.
"""

import struct
import sys

import numpy as np

from truth import Truth, same, same_triangles, summary

TYPES = {0x11: "<i1", 0x12: "<i2", 0x13: "<i4", 0x14: "<i8", 0x18: "<f2", 0x19: "<f4", 0x1A: "<f8", 0x21: "<u1", 0x22: "<u2"}


def unpacked(path):
    data = open(path, "rb").read()
    assert data[:4] == b"scf1" and data[-4:] == b"1fcs", "marks of a seekable file"
    (about,) = struct.unpack(">Q", data[4:12])
    (length,) = struct.unpack(">Q", data[-12:-4])
    numbers = struct.unpack(f">{length // 8}Q", data[-12 - length : -12])
    *ends, block, last = numbers
    start = 12 + about
    starts = [start] + [start + end for end in ends]
    out = b""
    for k, at in enumerate(starts):
        version, _, flags, _, size, _, packed = struct.unpack_from("<BBBBIII", data, at)
        assert version == 2 and flags & 2, "a stored Blosc chunk"
        assert packed == size + 16 and size == (last if k + 1 == len(starts) else block), "lengths of chunks"
        out += data[at + 16 : at + packed]
    assert starts[-1] + packed == len(data) - 12 - length, "nothing between chunks and index"
    return out


class Json:
    def __init__(self, data):
        assert data[:5] == b"\x7fNSJb"
        self.data, self.at = data, 5

    def take(self, kind):
        (value,) = struct.unpack_from(kind, self.data, self.at)
        self.at += struct.calcsize(kind)
        return value

    def length(self):
        first = self.take("<B")
        return first if first < 0xF1 else self.take({0xF2: "<H", 0xF4: "<I", 0xF8: "<Q"}[first])

    def value(self):
        code = self.take("<B")
        if code == 0x5B or code == 0x7B:
            items, end = [], {0x5B: 0x5D, 0x7B: 0x7D}[code]
            while self.data[self.at] != end:
                items.append(self.value())
            self.at += 1
            return items if code == 0x5B else dict(zip(items[::2], items[1::2]))
        if code == 0x27:
            count = self.length()
            self.at += count
            return self.data[self.at - count : self.at].decode()
        if code in (0x30, 0x31):
            return code == 0x31
        if code == 0x40:
            kind = np.dtype(TYPES[self.take("<B")])
            count = self.length()
            self.at += count * kind.itemsize
            return np.frombuffer(self.data, kind, count, self.at - count * kind.itemsize)
        kind = np.dtype(TYPES[code])
        self.at += kind.itemsize
        return np.frombuffer(self.data, kind, 1, self.at - kind.itemsize)[0]


def pairs(items):
    return dict(zip(items[::2], items[1::2]))


def numbers(body, count):
    """Values of a numeric attribute, page by page and group of components by group."""
    values = pairs(pairs(body)["values"])
    size, page = int(values["size"]), int(values["pagesize"])
    out, at, raw = np.empty((count, size), values["rawpagedata"].dtype), 0, values["rawpagedata"]
    assert len(raw) == count * size, "no page is missing"
    for first in range(0, count, page):
        rows, column = min(page, count - first), 0
        for lanes in values["packing"]:
            out[first : first + rows, column : column + lanes] = raw[at : at + rows * lanes].reshape(rows, lanes)
            at += rows * lanes
            column += lanes
    return out[:, 0] if size == 1 else out


def read(path):
    reader = Json(unpacked(path))
    top = pairs(reader.value())
    assert reader.at == len(reader.data), "one document"
    count = int(top["pointcount"])
    attributes = pairs(top["attributes"])
    found = {pairs(head)["name"]: numbers(body, count) for head, body in attributes["pointattributes"]}
    return top, found, attributes


truth = Truth(sys.argv[1])
NAMES = {"position": "P", "velocity": "v", "radius": "pscale", "angular_velocity": "w"}
for part in ("guides", "grains"):
    for frame in truth.frames:
        top, found, _ = read(f"{sys.argv[1]}/bgeo/{part}/{frame:06}.bgeo.sc")
        table = truth.table(part, frame)
        for name, column in table.items():
            same(NAMES.get(name, name), found[NAMES.get(name, name)], column)
        same("Cd", found["Cd"], truth.colors(part, frame), 0.01)
        # Frame 0 lacks what a solver adds in its first step; the export has it.
        expected = {NAMES.get(name, name) for name in truth.table(part, truth.frames[-1])} | {"Cd"}
        same("attributes", set(found) == expected, True)
for frame in truth.frames:
    top, found, attributes = read(f"{sys.argv[1]}/bgeo/bodies/{frame:06}.bgeo.sc")
    (_, run), = top["primitives"]
    run = pairs(run)
    same("polygons", run["nvertices_rle"], [3, top["primitivecount"]])
    corners = pairs(pairs(top["topology"])["pointref"])["indices"].reshape(-1, 3)
    (head, body), = attributes["primitiveattributes"]
    body = pairs(body)
    owners = np.array(body["strings"])[pairs(body["indices"])["arrays"][0]]
    for name in truth.bodies(frame):
        if name != "floor":
            # Houdini's polygons are clockwise seen from outside.
            triangles = found["P"][corners[owners == name]][:, ::-1]
            same_triangles("body surfaces", triangles, truth.posed(name, frame), 1e-6)
summary("own reader", "of the documented format")
