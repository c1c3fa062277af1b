"""VTK reads the .vtp files and the points of glTF, OVITO the particles among the .vtp files."""

import os
import sys

import numpy as np

os.environ["QT_QPA_PLATFORM"] = "offscreen"
import vtk  # noqa: E402
from vtk.util.numpy_support import vtk_to_numpy  # noqa: E402

from truth import Truth, same, same_triangles, summary, y_up  # noqa: E402

truth = Truth(sys.argv[1])


def read(path):
    reader = vtk.vtkXMLPolyDataReader()
    reader.SetFileName(path)
    reader.Update()
    return reader.GetOutput()


for part in ("guides", "grains"):
    for frame in truth.frames:
        table, data = truth.table(part, frame), read(f"{sys.argv[1]}/vtk/{part}/{frame:06}.vtp")
        same("vtk Points", vtk_to_numpy(data.GetPoints().GetData()), table["position"])
        same("vtk vertices", data.GetNumberOfVerts(), len(table["id"]))
        for name in table.keys() - {"position"}:
            same(f"vtk {name}", vtk_to_numpy(data.GetPointData().GetArray(name)), table[name])
        same("vtk color", vtk_to_numpy(data.GetPointData().GetArray("color")), truth.colors(part, frame), 0.01)
for frame in truth.frames:
    data = read(f"{sys.argv[1]}/vtk/bodies/{frame:06}.vtp")
    points = vtk_to_numpy(data.GetPoints().GetData())
    polygons = vtk_to_numpy(data.GetPolys().GetConnectivityArray()).reshape(-1, 3)
    owners = vtk_to_numpy(data.GetCellData().GetArray("body"))[data.GetNumberOfVerts() :]
    names = data.GetFieldData().GetAbstractArray("name")
    for row in range(names.GetNumberOfValues()):
        if (name := names.GetValue(row)) != "floor":
            same_triangles("vtk bodies", points[polygons[owners == row]], truth.posed(name, frame), 1e-6)


def first_leaf(data):
    return data if data.IsA("vtkPolyData") else first_leaf(data.GetBlock(0))


for part in ("guides", "grains"):
    for frame in truth.frames:
        reader = vtk.vtkGLTFReader()
        reader.SetFileName(f"{sys.argv[1]}/gltf/{part}/{frame:06}.glb")
        reader.Update()
        table, data = truth.table(part, frame), first_leaf(reader.GetOutput())
        same("gltf POSITION", vtk_to_numpy(data.GetPoints().GetData()), y_up(table["position"]))
        for name in table.keys() - {"position"}:
            expected = y_up(table[name]) if table[name].ndim == 2 else table[name]
            same(f"gltf _{name.upper()}", vtk_to_numpy(data.GetPointData().GetArray(f"_{name.upper()}")), expected)
        same("gltf COLOR_0", vtk_to_numpy(data.GetPointData().GetArray("COLOR_0")), truth.colors(part, frame), 0.01)
summary("VTK", vtk.VTK_VERSION)

import ovito  # noqa: E402
from ovito.io import import_file  # noqa: E402

for part in ("guides", "grains"):
    pipeline = import_file(f"{sys.argv[1]}/vtk/{part}/*.vtp")
    same("ovito frames", pipeline.num_frames, len(truth.frames))
    for k, frame in enumerate(truth.frames):
        particles, table = pipeline.compute(k).particles, truth.table(part, frame)
        same("ovito Position", particles["Position"], table["position"], 1e-7)
        same("ovito Particle Identifier", particles["Particle Identifier"], table["id"])
        same("ovito Radius", particles["Radius"], table["radius"], 1e-7)
        for name in table.keys() - {"position", "id", "radius"}:
            same(f"ovito {name}", particles[name], table[name], 1e-6)
        same("ovito color", particles["color"], truth.colors(part, frame), 0.01)
summary("VTK and OVITO", ovito.version_string)
