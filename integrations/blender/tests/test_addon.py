# SPDX-License-Identifier: GPL-3.0-or-later
"""Headless test of the add-on: Blender's meshes become a scene, barchan runs it, the cache comes back.

Usage: python test_addon.py PROGRAM FOLDER [PICTURE]
"""

import json
import pathlib
import sys

import bpy
import numpy as np
from mathutils import Vector

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import barchan_blender  # noqa: E402
from barchan_blender import cache, process, scene  # noqa: E402

program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
bpy.ops.wm.read_factory_settings(use_empty=True)
barchan_blender.register()
barchan_blender.program = lambda context: program

context = bpy.context
settings = context.scene.barchan
settings.folder, settings.radius, settings.grain_radius, settings.settle = str(folder), 0.03, 0.012, 0.1
context.scene.render.fps, context.scene.frame_start, context.scene.frame_end = 24, 1, 9


def add(name, role, kind, **place):
    kind(**place)
    context.object.name, context.object.barchan_role = name, role
    return context.object


floor = add("floor", "FIXED", bpy.ops.mesh.primitive_cube_add, size=2, location=(0, 0, -1))
add("heap", "FILL", bpy.ops.mesh.primitive_cylinder_add, radius=0.25, depth=0.4, location=(0, 0, 0.21))
stone = add("stone", "DYNAMIC", bpy.ops.mesh.primitive_uv_sphere_add, radius=0.1, location=(0.1, 0, 0.8))
blade = add("blade", "SCRIPTED", bpy.ops.mesh.primitive_cube_add, size=1, location=(-0.6, 0, 0.15), scale=(0.05, 0.5, 0.25))
blade.keyframe_insert("location", frame=1)
blade.location.x, blade.rotation_euler.z = -0.3, 0.5
blade.keyframe_insert("location", frame=9)
blade.keyframe_insert("rotation_euler", frame=9)

# The button does all of it: writes the scene, runs barchan, imports the cache.
seen = []
share = process.Run.share
process.Run.share = lambda run: seen.append(share(run)) or seen[-1]
assert bpy.ops.barchan.simulate() == {"FINISHED"}
assert 0.0 <= min(seen) and max(seen) <= 1.0 and seen == sorted(seen), f"progress {seen}"
for one in context.scene.objects:
    if one.barchan_role != "NONE":
        one.hide_render = True

manifest = json.loads((folder / "cache" / "manifest.json").read_text())
assert len(manifest["frames"]) == 9 and manifest["frame_rate"] == 24
(grains,) = [o for o in bpy.data.objects if o.type == "POINTCLOUD"]
import pyarrow.feather as feather  # noqa: E402

for frame in (0, 4, 8):
    context.scene.frame_set(frame)
    cloud = grains.evaluated_get(context.evaluated_depsgraph_get()).data
    table = feather.read_table(folder / "cache" / "grains" / f"{frame:06}.arrow").sort_by("id")
    for name, column, lanes in (("position", "position", 3), ("radius", "radius", 1)):
        found = np.empty(len(cloud.points) * lanes, "f4")
        cloud.attributes[name].data.foreach_get("vector" if lanes == 3 else "value", found)
        expected = table[column].combine_chunks()
        expected = (expected.flatten() if lanes == 3 else expected).to_numpy()
        assert np.array_equal(found, expected), f"{name} of frame {frame}"
    assert len(cloud.points) == manifest["frames"][frame]["grains"]
    # The animated body is where Blender's animation has it; frame 0 of the cache is frame 1 of the animation.
    imported = next(o for o in bpy.data.objects if o.name.startswith("blade") and o is not blade)
    place = imported.evaluated_get(context.evaluated_depsgraph_get()).matrix_world.translation.copy()
    context.scene.frame_set(frame + 1)
    original = blade.evaluated_get(context.evaluated_depsgraph_get()).matrix_world.translation
    assert (place - original).length < 1e-5, f"{place} {original}"
assert grains.data.materials[0].name == "barchan sand"

# Mistakes are told, not swallowed.
for role in [o for o in context.scene.objects if o.barchan_role == "FILL"]:
    role.barchan_role = "NONE"
for work, said in (
    (lambda: scene.write(context, folder), "no object is filled"),
    (lambda: cache.load(context, program, folder / "nowhere", "grains"), "is no cache"),
    (lambda: process.run([program, "check", "nowhere.toml"]), "nowhere.toml"),
):
    try:
        work()
    except process.Failed as error:
        assert said in str(error), error
    else:
        raise SystemExit(f"no error: {said}")

if len(sys.argv) > 3:
    context.scene.frame_set(8)
    bpy.ops.object.camera_add(location=(1.3, -1.7, 1.1))
    camera = context.object
    camera.rotation_euler = (Vector((0, 0, 0.1)) - camera.location).to_track_quat("-Z", "Y").to_euler()
    context.scene.camera = camera
    bpy.ops.object.light_add(type="SUN", rotation=(0.7, 0.2, -0.6))
    context.object.data.energy = 4
    world = bpy.data.worlds.new("sky")
    world.use_nodes = True
    world.node_tree.nodes["Background"].inputs["Color"].default_value = (0.5, 0.65, 0.9, 1)
    context.scene.world = world
    render = context.scene.render
    render.engine, context.scene.cycles.samples = "CYCLES", 24
    render.resolution_x, render.resolution_y, render.resolution_percentage = 640, 400, 100
    render.filepath = sys.argv[3]
    bpy.ops.render.render(write_still=True)
barchan_blender.unregister()
print(f"add-on in Blender {bpy.app.version_string}: {len(grains.data.points)} points, 3 frames compared")
