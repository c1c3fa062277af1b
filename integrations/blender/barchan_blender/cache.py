# SPDX-License-Identifier: GPL-3.0-or-later
"""Imports a cache: barchan exports it as USD, which Blender streams frame by frame."""

import json
import tempfile
import pathlib

import bpy

from . import process


def load(context, program, directory, part):
    """Imports `part` of the cache, `grains` or `guides`, and its bodies; returns the new objects."""
    try:
        manifest = json.loads((directory / "manifest.json").read_text())
    except (OSError, ValueError):
        raise process.Failed(f"{directory} is no cache of barchan") from None
    if not any(part in frame for frame in manifest["frames"]):
        part = "guides"
    out = pathlib.Path(tempfile.mkdtemp()) if not is_writable(directory) else directory / "usd"
    process.run([program, "export", str(directory), "--to", "usd", "-o", str(out)])
    before = set(bpy.data.objects)
    bpy.ops.wm.usd_import(filepath=str(out / "sand.usdc"), import_visible_only=False, set_frame_range=True)
    other = {"grains": "guides", "guides": "grains"}[part]
    new = [o for o in bpy.data.objects if o not in before]
    for one in new:
        if one.type == "POINTCLOUD" and one.name.split(".")[0] == other:
            bpy.data.objects.remove(one)
    new = [o for o in bpy.data.objects if o not in before]
    for one in new:
        if one.type in {"POINTCLOUD", "MESH"} and not one.data.materials:
            one.data.materials.append(material(one.type))
    context.scene.render.fps = round(manifest["frame_rate"])
    return new


def is_writable(directory):
    try:
        with tempfile.TemporaryFile(dir=directory):
            return True
    except OSError:
        return False


def material(kind):
    """A material whose color is the attribute that barchan exports."""
    name = {"POINTCLOUD": "barchan sand", "MESH": "barchan body"}[kind]
    if name in bpy.data.materials:
        return bpy.data.materials[name]
    made = bpy.data.materials.new(name)
    made.use_nodes = True
    nodes, links = made.node_tree.nodes, made.node_tree.links
    shader = next(node for node in nodes if node.type == "BSDF_PRINCIPLED")
    shader.inputs["Roughness"].default_value = 0.8
    color = nodes.new("ShaderNodeAttribute")
    color.attribute_name = "displayColor"
    links.new(color.outputs["Color"], shader.inputs["Base Color"])
    return made
