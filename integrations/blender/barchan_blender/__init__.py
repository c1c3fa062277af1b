# SPDX-License-Identifier: GPL-3.0-or-later
"""Sand in Blender: sends meshes to barchan, runs it, and imports the cache as point clouds and meshes."""

import pathlib
import shutil

import bpy
from bpy.props import EnumProperty, FloatProperty, FloatVectorProperty, PointerProperty, StringProperty

from . import cache, process, scene

ROLES = [
    ("NONE", "None", "Not part of the simulation"),
    ("FILL", "Sand", "Filled with sand at the start"),
    ("FIXED", "Fixed", "A body that stands still"),
    ("SCRIPTED", "Animated", "A body that moves as its animation says"),
    ("DYNAMIC", "Dynamic", "A body that the sand moves"),
]


class Settings(bpy.types.PropertyGroup):
    """Settings of a simulation, kept in the scene."""

    folder: StringProperty(name="Folder", subtype="DIR_PATH", default="//barchan", description="Scene file, meshes and cache")
    solver: EnumProperty(
        name="Solver",
        items=[("pbd", "PBD", "Fast"), ("sph", "SPH", "Sand as a continuum"), ("dem", "DEM", "Every contact: slow, exact")],
    )
    radius: FloatProperty(name="Guide radius", default=0.03, min=1e-4, subtype="DISTANCE", description="Radius of the simulated particles")
    grain_radius: FloatProperty(name="Grain radius", default=0.01, min=1e-4, subtype="DISTANCE", description="Radius of the grains that are drawn")
    angle: FloatProperty(name="Angle of repose", default=34.0, min=1.0, max=60.0, description="Slope of a heap [degrees]")
    color: FloatVectorProperty(name="Color", subtype="COLOR", size=3, default=(0.539, 0.352, 0.147), min=0, max=1)
    settle: FloatProperty(name="Settle", default=0.5, min=0.0, max=60.0, description="Seconds of settling before the first frame")


class Preferences(bpy.types.AddonPreferences):
    bl_idname = __package__

    program: StringProperty(name="Program", subtype="FILE_PATH", default="barchan", description="The program barchan")

    def draw(self, context):
        self.layout.prop(self, "program")


def program(context):
    """The program barchan of the preferences, or the one on the path."""
    addon = context.preferences.addons.get(__package__)
    found = shutil.which(addon.preferences.program if addon else "barchan")
    if found is None:
        raise process.Failed("the program barchan is not found: enter its path in the add-on's preferences")
    return found


def folder(context):
    return pathlib.Path(bpy.path.abspath(context.scene.barchan.folder))


class BARCHAN_OT_import(bpy.types.Operator):
    """Import a cache of barchan: point clouds by frame, and bodies"""

    bl_idname = "barchan.import_cache"
    bl_label = "Import cache"
    bl_options = {"REGISTER", "UNDO"}

    directory: StringProperty(subtype="DIR_PATH", description="Folder of the cache")
    part: EnumProperty(name="Particles", items=[("grains", "Grains", "The fine ones"), ("guides", "Guides", "The simulated ones")])

    def invoke(self, context, event):
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context):
        try:
            cache.load(context, program(context), pathlib.Path(bpy.path.abspath(self.directory)), self.part)
        except process.Failed as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


class BARCHAN_OT_export(bpy.types.Operator):
    """Write a scene file of all objects that have a role"""

    bl_idname = "barchan.export_scene"
    bl_label = "Write scene"

    def execute(self, context):
        try:
            path = scene.write(context, folder(context))
            process.run([program(context), "check", str(path)])
        except process.Failed as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, f"wrote {path}")
        return {"FINISHED"}


class BARCHAN_OT_simulate(bpy.types.Operator):
    """Write the scene, simulate it and import the cache; Esc stops"""

    bl_idname = "barchan.simulate"
    bl_label = "Simulate"

    def start(self, context):
        path = scene.write(context, folder(context))
        self.cache = folder(context) / "cache"
        self.run = process.Run([program(context), "run", str(path), "-o", str(self.cache), "--force"])

    def execute(self, context):
        """Waits for the end: for scripts and without a window."""
        try:
            self.start(context)
            context.window_manager.progress_begin(0, 1)
            for share in self.run.progress():
                context.window_manager.progress_update(share)
            context.window_manager.progress_end()
            cache.load(context, program(context), self.cache, "grains")
        except process.Failed as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}

    def invoke(self, context, event):
        try:
            self.start(context)
        except process.Failed as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        context.window_manager.progress_begin(0, 1)
        self.timer = context.window_manager.event_timer_add(0.2, window=context.window)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if event.type == "ESC":
            self.run.stop()
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        context.window_manager.progress_update(self.run.share())
        context.workspace.status_text_set(self.run.line)
        if self.run.is_running():
            return {"RUNNING_MODAL"}
        context.window_manager.event_timer_remove(self.timer)
        context.window_manager.progress_end()
        context.workspace.status_text_set(None)
        try:
            self.run.finish()
            cache.load(context, program(context), self.cache, "grains")
        except process.Failed as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


class BARCHAN_PT_panel(bpy.types.Panel):
    bl_label = "barchan"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "barchan"

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        if context.object and context.object.type == "MESH":
            layout.prop(context.object, "barchan_role")
        for name in ("folder", "solver", "radius", "grain_radius", "angle", "color", "settle"):
            layout.prop(context.scene.barchan, name)
        layout.operator("barchan.export_scene")
        layout.operator("barchan.simulate")
        layout.operator("barchan.import_cache")


CLASSES = [Settings, Preferences, BARCHAN_OT_import, BARCHAN_OT_export, BARCHAN_OT_simulate, BARCHAN_PT_panel]


def register():
    for one in CLASSES:
        bpy.utils.register_class(one)
    bpy.types.Scene.barchan = PointerProperty(type=Settings)
    bpy.types.Object.barchan_role = EnumProperty(name="Role", items=ROLES, description="Part that the object has in a simulation by barchan")


def unregister():
    del bpy.types.Object.barchan_role
    del bpy.types.Scene.barchan
    for one in reversed(CLASSES):
        bpy.utils.unregister_class(one)
