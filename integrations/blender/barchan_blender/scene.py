# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes objects of Blender as a scene file of barchan, with their meshes beside it."""

import json
import math
import re

import bpy
from mathutils import Matrix

from .process import Failed


def number(value):
    return f"{value:.9g}"


def vector(values):
    return "[" + ", ".join(number(value) for value in values) + "]"


def text(value):
    """A TOML string."""
    return json.dumps(value)


def write_obj(path, vertices, faces):
    lines = [f"v {number(x)} {number(y)} {number(z)}" for x, y, z in vertices]
    lines += ["f " + " ".join(str(corner + 1) for corner in face) for face in faces]
    path.write_text("\n".join(lines) + "\n")


def mesh(found, matrix):
    """Vertices, turned by `matrix`, and triangles of an evaluated object."""
    data = found.to_mesh()
    data.calc_loop_triangles()
    vertices = [matrix @ vertex.co for vertex in data.vertices]
    faces = [tuple(triangle.vertices) for triangle in data.loop_triangles]
    # A mirrored object has its faces inside out.
    if matrix.determinant() < 0:
        faces = [face[::-1] for face in faces]
    found.to_mesh_clear()
    return vertices, faces


def keys(context, name):
    """Positions and rotations of an animated object at all frames of the scene, from the first one on."""
    scene, lines = context.scene, []
    rate = scene.render.fps / scene.render.fps_base
    now = scene.frame_current
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        found = bpy.data.objects[name].evaluated_get(context.evaluated_depsgraph_get())
        place, turn, _ = found.matrix_world.decompose()
        axis, angle = turn.to_axis_angle()
        lines.append(
            f"    {{ time = {number((frame - scene.frame_start) / rate)}, at = {vector(place)}, "
            f"rotate = {{ axis = {vector(axis)}, angle = {number(math.degrees(angle))} }} }},"
        )
    scene.frame_set(now)
    return lines


def write(context, folder):
    """Writes `scene.toml` and meshes into `folder`; returns its path."""
    scene, settings = context.scene, context.scene.barchan
    objects = [o for o in scene.objects if o.type == "MESH" and o.barchan_role != "NONE"]
    if not any(o.barchan_role == "FILL" for o in objects):
        raise Failed("no object is filled with sand: give one the role Sand")
    folder.mkdir(parents=True, exist_ok=True)
    rate = scene.render.fps / scene.render.fps_base
    color = "".join(f"{round(255 * channel_srgb(channel)):02x}" for channel in settings.color)
    lines = [
        f"name = {text(re.sub('[^A-Za-z0-9_-]', '_', scene.name))}",
        f"duration = {number(max(scene.frame_end - scene.frame_start, 1) / rate)}",
        f"frame_rate = {number(rate)}",
        f"gravity = {vector(scene.gravity)}",
        "",
        "[solver]",
        f"kind = {text(settings.solver)}",
        "",
        "[materials.sand]",
        "density = 1600",
        f"angle_of_repose = {number(settings.angle)}",
        f'color = "#{color}"',
        "",
        "[refine]",
        f"radius = {number(settings.grain_radius)}",
    ]
    for k, one in enumerate(objects):
        found = one.evaluated_get(context.evaluated_depsgraph_get())
        matrix = found.matrix_world.copy()
        if one.barchan_role == "SCRIPTED":
            # Keys place the frame of the body; its size belongs to the mesh.
            place, turn, _ = matrix.decompose()
            matrix = (Matrix.Translation(place) @ turn.to_matrix().to_4x4()).inverted() @ matrix
        file = f"{k:03}.obj"
        write_obj(folder / file, *mesh(found, matrix))
        if one.barchan_role == "FILL":
            lines += ["", "[[fill]]", 'material = "sand"', f"radius = {number(settings.radius)}"]
            lines += [f"shape = {{ mesh = {text(file)} }}", f"settle = {number(settings.settle)}"]
            continue
        motion = one.barchan_role.lower()
        lines += ["", "[[body]]", f"name = {text(one.name)}", f"motion = {text(motion)}"]
        lines.append(f"shape = {{ mesh = {text(file)} }}")
        if motion == "dynamic":
            lines.append("density = 2500")
        if motion == "scripted":
            lines += ["keys = [", *keys(context, one.name), "]"]
    path = folder / "scene.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def channel_srgb(linear):
    return 12.92 * linear if linear <= 0.0031308 else 1.055 * linear ** (1 / 2.4) - 0.055
