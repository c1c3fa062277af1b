"""Blender reads USD, Alembic, OpenVDB, PLY and the bodies of glTF: what its importers make of the files, frame by frame.

Points of glTF are read with VTK: Blender 5.0 mixes up the attributes of applications if there are several.
"""

import sys

import bpy
import numpy as np

from truth import Truth, same, same_triangles, summary

bpy.utils.expose_bundled_modules()
import openvdb  # noqa: E402  Blender's own.

truth = Truth(sys.argv[1])
KINDS = {"FLOAT": ("value", 1), "INT": ("value", 1), "FLOAT_VECTOR": ("vector", 3), "FLOAT_COLOR": ("color", 4), "BYTE_COLOR": ("color", 4)}
BODIES = {"paddle, left": "paddle__left", "lid": "lid"}


def empty():
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = round(truth.rate)


def evaluated(name, frame):
    bpy.context.scene.frame_set(frame)
    return bpy.data.objects[name].evaluated_get(bpy.context.evaluated_depsgraph_get())


def attribute(data, name):
    found = data.attributes[name]
    key, lanes = KINDS[found.data_type]
    values = np.empty(len(found.data) * lanes, "i4" if found.data_type == "INT" else "f4")
    found.data.foreach_get(key, values)
    return values if lanes == 1 else values.reshape(-1, lanes)


def corners(found):
    """Corners of an object's triangles in the world."""
    mesh = found.to_mesh()
    mesh.calc_loop_triangles()
    index = np.array([t.vertices[:] for t in mesh.loop_triangles])
    points = np.array([found.matrix_world @ v.co for v in mesh.vertices])
    return points[index]


def bodies(program):
    for name, imported in BODIES.items():
        for frame in truth.frames:
            found = evaluated(imported, frame)
            if name in truth.bodies(frame):
                same_triangles(f"{program} bodies", corners(found), truth.posed(name, frame), 2e-6)


empty()
bpy.ops.wm.usd_import(filepath=f"{sys.argv[1]}/usd/sand.usdc", import_visible_only=False)
for part in ("guides", "grains"):
    for frame in truth.frames:
        cloud, table = evaluated(part, frame).data, truth.table(part, frame)
        same("usd position", attribute(cloud, "position"), table["position"])
        same("usd radius", attribute(cloud, "radius"), table["radius"])
        same("usd velocity", attribute(cloud, "velocity"), table["velocity"])
        same("usd material", attribute(cloud, "material"), table["material"])
        same("usd displayColor", attribute(cloud, "displayColor")[:, :3], truth.colors(part, frame), 0.01)
        for name in table.keys() - {"position", "velocity", "radius", "material", "id"}:
            same(f"usd {name}", attribute(cloud, name), table[name])
bodies("usd")

empty()
bpy.ops.wm.alembic_import(filepath=f"{sys.argv[1]}/alembic/sand.abc")
for part in ("guides", "grains"):
    for frame in truth.frames:
        cloud, table = evaluated(part, frame).data, truth.table(part, frame)
        # Blender turns y up back to z up, vectors of a solver too.
        same("alembic position", attribute(cloud, "position"), table["position"])
        same("alembic radius", attribute(cloud, "radius"), table["radius"])
        same("alembic velocity", attribute(cloud, "velocity"), table["velocity"])
        same("alembic material", attribute(cloud, "material"), table["material"])
        same("alembic color", attribute(cloud, "Cd")[:, :3], truth.colors(part, frame), 0.01)
        for name in table.keys() - {"position", "velocity", "radius", "material", "id"}:
            same(f"alembic {name}", attribute(cloud, name), table[name])
bodies("alembic")

for part in ("guides", "grains"):
    for frame in truth.frames:
        table = truth.table(part, frame)
        path = f"{sys.argv[1]}/vdb/{part}/{frame:06}.vdb"
        (density, velocity), metadata = openvdb.readAll(path)
        voxel = density.transform.voxelSize()[0]
        volume = (4 / 3 * np.pi * table["radius"].astype("f8") ** 3).sum()
        sums, momentum, center = 0.0, np.zeros(3), np.zeros(3)
        for value in density.citerOnValues():
            sums += value.value * value.count
            center += value.value * np.array(value.min)
            momentum += value.value * np.array(velocity.getConstAccessor().getValue(value.min))
        each = 4 / 3 * np.pi * table["radius"].astype("f8")[:, None] ** 3
        same("vdb volume", sums * voxel**3 / volume, 1, 1e-5)
        same("vdb center", center / sums * voxel, (each * table["position"]).sum(0) / volume, 1e-5)
        same("vdb momentum", momentum * voxel**3 / volume, (each * table["velocity"]).sum(0) / volume, 1e-5)
        same("vdb voxels", density.activeVoxelCount(), velocity.activeVoxelCount())
# The grids as Blender's volume object sees it.
empty()
name, folder = f"{truth.frames[-1]:06}.vdb", f"{sys.argv[1]}/vdb/grains"
bpy.ops.object.volume_import(filepath=f"{folder}/{name}", files=[{"name": name}], directory=folder)
volume = bpy.context.object.data
volume.grids.load()
same("vdb names", [g.name for g in volume.grids] == ["density", "velocity"], True)

for part in ("guides", "grains"):
    for frame in truth.frames:
        table = truth.table(part, frame)
        empty()
        bpy.ops.wm.ply_import(filepath=f"{sys.argv[1]}/ply/{part}/{frame:06}.ply", import_attributes=True)
        mesh = bpy.context.object.data
        same("ply position", attribute(mesh, "position"), table["position"])
        for name in ("radius", "material", "id"):
            same(f"ply {name}", attribute(mesh, name), table[name])
        same("ply velocity", np.stack([attribute(mesh, f"velocity_{axis}") for axis in "xyz"], 1), table["velocity"])
        same("ply color", attribute(mesh, "Col")[:, :3], truth.colors(part, frame), 0.01)
    for frame in truth.frames:
        empty()
        bpy.ops.wm.ply_import(filepath=f"{sys.argv[1]}/ply/bodies/{frame:06}.ply")
        expected = [truth.posed(name, frame) for name in truth.bodies(frame) if name in BODIES]
        same_triangles("ply bodies", corners(bpy.context.object), np.concatenate(expected), 2e-6)
empty()
bpy.ops.import_scene.gltf(filepath=f"{sys.argv[1]}/gltf/bodies.glb")
for name in BODIES:
    for frame in truth.frames:
        found = evaluated(name, frame)
        if name in truth.bodies(frame):
            same_triangles("gltf bodies", corners(found), truth.posed(name, frame), 2e-6)
        else:
            same("gltf absent bodies", found.scale[:], [0, 0, 0])
summary("Blender", bpy.app.version_string)
