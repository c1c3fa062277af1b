"""Pixar's USD reads sand.usdc: values, metadata, and its own validators."""

import sys

import numpy as np
from pxr import Usd, UsdGeom, UsdValidation

from truth import Truth, same, same_triangles, summary

truth = Truth(sys.argv[1])
stage = Usd.Stage.Open(f"{sys.argv[1]}/usd/sand.usdc")
same("up axis", UsdGeom.GetStageUpAxis(stage) == "Z", True)
same("unit", UsdGeom.GetStageMetersPerUnit(stage), 1)
same("rate", stage.GetTimeCodesPerSecond(), truth.rate)
same("first and last frame", [stage.GetStartTimeCode(), stage.GetEndTimeCode()], [truth.frames[0], truth.frames[-1]])
for part in ("guides", "grains"):
    points = UsdGeom.Points(stage.GetPrimAtPath(f"/sand/{part}"))
    same("samples", points.GetPointsAttr().GetTimeSamples(), truth.frames)
    for frame in truth.frames:
        table = truth.table(part, frame)
        same("points", points.GetPointsAttr().Get(frame), table["position"])
        same("velocities", points.GetVelocitiesAttr().Get(frame), table["velocity"])
        same("ids", points.GetIdsAttr().Get(frame), table["id"])
        same("widths", points.GetWidthsAttr().Get(frame), 2 * table["radius"])
        extent = np.array(points.GetExtentAttr().Get(frame))
        reach = table["radius"].max()
        same("extent", extent, [table["position"].min(0) - reach, table["position"].max(0) + reach], 1e-6)
        primvars = UsdGeom.PrimvarsAPI(points)
        same("displayColor", primvars.GetPrimvar("displayColor").Get(frame), truth.colors(part, frame), 0.01)
        for name in table.keys() - {"position", "velocity", "id", "radius"}:
            primvar = primvars.GetPrimvar(name)
            same("interpolation", primvar.GetInterpolation() == "vertex", True)
            same(name, primvar.Get(frame), table[name])
for name, prim in (("paddle, left", "paddle__left"), ("lid", "lid")):
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath(f"/sand/bodies/{prim}"))
    corners = np.array(mesh.GetFaceVertexIndicesAttr().Get()).reshape(-1, 3)
    vertices = np.array(mesh.GetPointsAttr().Get(), "f8")
    for frame in truth.frames:
        is_there = name in truth.bodies(frame)
        same("visibility", mesh.ComputeVisibility(frame) == "inherited", is_there)
        if is_there:
            matrix = np.array(mesh.ComputeLocalToWorldTransform(frame))
            posed = (np.c_[vertices, np.ones(len(vertices))] @ matrix)[:, :3]
            same_triangles("body surfaces", posed[corners], truth.posed(name, frame), 1e-6)
errors = UsdValidation.ValidationContext(UsdValidation.ValidationRegistry().GetOrLoadAllValidators()).Validate(stage)
serious = [e.GetMessage() for e in errors if e.GetType() == UsdValidation.ValidationErrorType.Error]
same(f"validators {serious}" if serious else "validators", len(serious), 0)

instanced = Usd.Stage.Open(f"{sys.argv[1]}/instances/sand.usdc")
instancer = UsdGeom.PointInstancer(instanced.GetPrimAtPath("/sand/grains"))
frame = truth.frames[-1]
table = truth.table("grains", frame)
same("prototypes", len(instancer.GetPrototypesRel().GetTargets()), 1)
transforms = np.array(instancer.ComputeInstanceTransformsAtTime(frame, frame))
same("instance positions", transforms[:, 3, :3], table["position"], 1e-6)
same("instance sizes", transforms[:, 0, 0], table["radius"], 1e-6)

turned_stage = Usd.Stage.Open(f"{sys.argv[1]}/turned/sand.usdc")
same("selected frames", [turned_stage.GetStartTimeCode(), turned_stage.GetEndTimeCode()], [1, 5])
same("unit of a scaled stage", UsdGeom.GetStageMetersPerUnit(turned_stage), 0.01)
same("up axis y", UsdGeom.GetStageUpAxis(turned_stage) == "Y", True)
same("only", bool(turned_stage.GetPrimAtPath("/sand/grains")), False)
points = UsdGeom.Points(turned_stage.GetPrimAtPath("/sand/guides"))
same("every second frame", points.GetPointsAttr().GetTimeSamples(), [1, 3, 5])
table = truth.table("guides", 3)
x, y, z = table["position"].T
same("turned and scaled", points.GetPointsAttr().Get(3), 100 * np.stack([x, z, -y], 1), 1e-4)
same("scaled widths", points.GetWidthsAttr().Get(3), 200 * table["radius"], 1e-5)
surface = Usd.Stage.Open(f"{sys.argv[1]}/mesh/surface.usdc")
mesh = UsdGeom.Mesh(surface.GetPrimAtPath("/sand/surface"))
same("frames of the surface", mesh.GetPointsAttr().GetTimeSamples(), truth.frames[::3])
for frame in truth.frames[::3]:
    corners = np.array(mesh.GetFaceVertexIndicesAttr().Get(frame)).reshape(-1, 3)
    same("triangles", mesh.GetFaceVertexCountsAttr().Get(frame), np.full(len(corners), 3))
    a, b, c = np.array(mesh.GetPointsAttr().Get(frame), "f8")[corners].transpose(1, 0, 2)
    volume = (a * np.cross(b, c)).sum() / 6
    grains = (4 / 3 * np.pi * truth.table("grains", frame)["radius"].astype("f8") ** 3).sum()
    # The surface holds the grains and the pores between them.
    same("volume of the surface", 1.0 < volume / grains < 3.0, True)
summary("usd-core", ".".join(map(str, Usd.GetVersion())))
