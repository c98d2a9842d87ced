"""Writes filament.txt: what Google Filament draws of the scenes in scenes.py.

    pip install filly==0.2.1 numpy
    python filament.py

filly draws with OpenGL (a software driver does) and gives pictures of 8 bits. So that values are better than
that, each is drawn at many exposures an eighth of a stop apart, and what is neither dark nor white of them is
averaged. Filament widens highlights where normals differ from pixel to pixel, so each is drawn alone, by a
camera to which the sphere is all but flat.
"""

import json
import math
import struct
import tempfile

import filly
import numpy as np

from scenes import *

STEPS = 8

# Pixels along an edge of a picture, and how much of the sphere it shows.
WIDTH = 9
FOOTPRINT = 0.01


def sphere_file(look, path):
    """A .glb of the sphere."""
    shape = filly.shapes.uv_sphere(radius=1.0, segments=256, rings=128)
    positions, normals = shape["positions"], shape["normals"]
    indices = shape["indices"].astype(np.uint32).reshape(-1)
    parts = [positions.tobytes(), normals.tobytes(), indices.tobytes()]
    offsets = [0, len(parts[0]), len(parts[0]) + len(parts[1])]
    pbr = {
        "baseColorFactor": [*look["color"], 1.0],
        "metallicFactor": look["metallic"],
        "roughnessFactor": look["roughness"],
    }
    surface = {"pbrMetallicRoughness": pbr}
    used = []
    if look["clearcoat"] > 0.0:
        used = ["KHR_materials_clearcoat"]
        surface["extensions"] = {
            used[0]: {
                "clearcoatFactor": look["clearcoat"],
                "clearcoatRoughnessFactor": look["coat_roughness"],
            }
        }
    tree = {
        "asset": {"version": "2.0"},
        "extensionsUsed": used,
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [
            {
                "primitives": [
                    {"attributes": {"POSITION": 0, "NORMAL": 1}, "indices": 2, "material": 0}
                ]
            }
        ],
        "materials": [surface],
        "buffers": [{"byteLength": sum(map(len, parts))}],
        "bufferViews": [
            {"buffer": 0, "byteOffset": at, "byteLength": len(part)}
            for at, part in zip(offsets, parts)
        ],
        "accessors": [
            {
                "bufferView": 0,
                "componentType": 5126,
                "count": len(positions),
                "type": "VEC3",
                "min": positions.min(axis=0).tolist(),
                "max": positions.max(axis=0).tolist(),
            },
            {"bufferView": 1, "componentType": 5126, "count": len(normals), "type": "VEC3"},
            {"bufferView": 2, "componentType": 5125, "count": len(indices), "type": "SCALAR"},
        ],
    }
    if not used:
        del tree["extensionsUsed"]
    text = json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    data = b"".join(parts)
    with open(path, "wb") as file:
        file.write(struct.pack("<4sII", b"glTF", 2, 28 + len(text) + len(data)))
        file.write(struct.pack("<I4s", len(text), b"JSON") + text)
        file.write(struct.pack("<I4s", len(data), b"BIN\0") + data)


def light(scene, renderer, kind):
    """Adds a light under which white is 1: pi lux, pi candela, or a sky of radiance 1."""
    if kind == "sun":
        scene.add_directional_light(direction=tuple(-x for x in SUN), intensity=math.pi)
        return
    if kind == "point":
        # In candela.
        scene.add_point_light(position=POINT, intensity=math.pi, range=1000.0)
        return
    if kind == "spot":
        direction = tuple(-x for x in SPOT)
        scene.add_spot_light(
            position=SPOT, direction=direction, intensity=math.pi, range=1000.0, cone_deg=(INNER, OUTER)
        )
        return
    scene.environment = renderer.create_environment(np.ones((64, 128, 3), dtype=np.float32))
    scene.environment_intensity = 1.0


def values(renderer, kind, look):
    scene = renderer.create_scene()
    scene.encoding = "linear"
    scene.tone_mapping = "linear"
    with tempfile.NamedTemporaryFile(suffix=".glb") as file:
        sphere_file(look, file.name)
        scene.load(file.name)
    light(scene, renderer, kind)
    camera = renderer.create_camera()
    camera.position = (0.0, 0.0, 5.0)
    camera.look_at((0.0, 0.0, 0.0))
    scene.camera = camera
    target = renderer.create_render_target(width=WIDTH, height=WIDTH)

    def shown(factor):
        # The factor from radiance to the picture is 1 / (1.2 * 2^EV100).
        camera.exposure = -math.log2(1.2 * factor)
        renderer.render(scene, target)
        return target.read()[WIDTH // 2, WIDTH // 2, :3].astype(np.float64)

    result = {}
    for pixel in PIXELS:
        camera.set_orthographic(height=FOOTPRINT, center=place(*pixel), near=0.1, far=10.0)
        sums, counts = np.zeros(3), np.zeros(3)
        for stop in range(-6, 9):
            # Is anything in this stop?
            low, high = shown(2.0**stop), shown(2.0 ** (stop + 1))
            if not np.any((low <= 250) & (high >= 120)):
                continue
            for step in range(STEPS):
                factor = 2.0 ** (stop + step / STEPS)
                color = shown(factor)
                good = (color >= 120) & (color <= 250)
                sums += np.where(good, color / 255.0 / factor, 0.0)
                counts += good
        assert np.all(counts > 0), (kind, look, pixel)
        result[pixel] = (sums / counts).tolist()
    scene.close()
    return result


def main():
    renderer = filly.Renderer()
    found = {}
    for kind in ["sun", "point", "spot", "sky"]:
        for name, look in MATERIALS.items():
            if kind in ("point", "spot") and name not in ("gold_5", "grey_6"):
                continue
            if name.startswith("chalk"):
                continue
            for (column, row), color in values(renderer, kind, look).items():
                found[kind, name, column, row] = color
    head = ["Google Filament by filly 0.2.1 (PyPI): see README.md. Written by filament.py."]
    write("filament.txt", head, found)


main()
