#!/usr/bin/env python3
"""Writes orrery.glb: a sun and its planets on arms of brass, made of spheres and lathed profiles.

Python alone, no other module: `python3 assets/models/orrery.py` in the project's folder.
"""

import json
import math
import pathlib
import random
import struct
import zlib

BINARY = bytearray()
VIEWS, ACCESSORS, MESHES, MATERIALS, IMAGES, NODES, CHANNELS, SAMPLERS = ([] for _ in range(8))
FLOAT, SHORT = 5126, 5123


def view(data, target=None):
    while len(BINARY) % 4:
        BINARY.append(0)
    entry = {"buffer": 0, "byteOffset": len(BINARY), "byteLength": len(data)}
    if target:
        entry["target"] = target
    BINARY.extend(data)
    VIEWS.append(entry)
    return len(VIEWS) - 1


def accessor(rows, kind, component=FLOAT, target=None, bounds=False):
    width = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}[kind]
    flat = [number for row in rows for number in (row if width > 1 else [row])]
    data = struct.pack("<%d%s" % (len(flat), "f" if component == FLOAT else "H"), *flat)
    entry = {"bufferView": view(data, target), "componentType": component, "count": len(rows), "type": kind}
    if bounds:
        columns = list(zip(*rows)) if width > 1 else [rows]
        single = lambda x: struct.unpack("<f", struct.pack("<f", x))[0]
        entry["min"] = [single(min(column)) for column in columns]
        entry["max"] = [single(max(column)) for column in columns]
    ACCESSORS.append(entry)
    return len(ACCESSORS) - 1


def lathe(profile, steps):
    """A profile of (radius, height, normal) turned round the y axis."""
    rows, corners = [], []
    for at, (radius, height, (out, up)) in enumerate(profile):
        for step in range(steps + 1):
            turn = 2 * math.pi * step / steps
            x, z = math.sin(turn), math.cos(turn)
            uv = (step / steps, 1 - at / (len(profile) - 1))
            rows.append(((radius * x, height, radius * z), (out * x, up, out * z), uv))
    for at in range(len(profile) - 1):
        for step in range(steps):
            a, b = at * (steps + 1) + step, (at + 1) * (steps + 1) + step
            if profile[at][0] > 0:
                corners += [a, a + 1, b + 1]
            if profile[at + 1][0] > 0:
                corners += [a, b + 1, b]
    return rows, corners


def mesh(name, shape, material):
    rows, corners = shape
    positions, normals, uvs = zip(*rows)
    MESHES.append({"name": name, "primitives": [{
        "attributes": {
            "POSITION": accessor(positions, "VEC3", target=34962, bounds=True),
            "NORMAL": accessor(normals, "VEC3", target=34962),
            "TEXCOORD_0": accessor(uvs, "VEC2", target=34962),
        },
        "indices": accessor(corners, "SCALAR", SHORT, 34963),
        "material": material,
    }]})
    return len(MESHES) - 1


def ball(radius, steps):
    angles = [math.pi * (row / (steps // 2) - 0.5) for row in range(steps // 2 + 1)]
    profile = [(max(radius * math.cos(a), 0) if abs(a) < math.pi / 2 - 1e-6 else 0, radius * math.sin(a),
                (math.cos(a), math.sin(a))) for a in angles]
    return lathe(profile, steps)


def polyline(points):
    """A profile with edges: each piece has normals of its own."""
    profile = []
    for (r0, h0), (r1, h1) in zip(points, points[1:]):
        length = math.hypot(r1 - r0, h1 - h0)
        normal = ((h1 - h0) / length, (r0 - r1) / length)
        profile += [(r0, h0, normal), (r1, h1, normal)]
    return profile


def png(width, height, pixel):
    raw = b"".join(b"\0" + bytes(v for x in range(width) for v in pixel(x / width, y / height)) for y in range(height))
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b"")
    IMAGES.append({"mimeType": "image/png", "bufferView": view(data)})
    return len(IMAGES) - 1


def noise(seed, side_x, side_y):
    """Smooth numbers from 0 to 1 that repeat in both directions."""
    numbers = random.Random(seed)
    grid = [[numbers.random() for _ in range(side_x)] for _ in range(side_y)]
    smooth = lambda t: t * t * (3 - 2 * t)

    def at(u, v):
        x, y = u * side_x, v * side_y
        i, j, s, t = int(x), int(y), smooth(x % 1), smooth(y % 1)
        g = lambda a, b: grid[b % side_y][a % side_x]
        top = g(i, j) + s * (g(i + 1, j) - g(i, j))
        return top + t * (g(i, j + 1) + s * (g(i + 1, j + 1) - g(i, j + 1)) - top)
    return at


def mixed(a, b, part):
    return tuple(int(x + (y - x) * min(max(part, 0), 1)) for x, y in zip(a, b))


def textures():
    coarse, fine = noise(7, 6, 4), noise(8, 24, 16)
    height = lambda u, v: 0.7 * coarse(u, v) + 0.3 * fine(u, v)

    def earth(u, v):
        if abs(v - 0.5) > 0.44:
            return 235, 240, 245
        land = height(u, v)
        if land < 0.52:
            return mixed((10, 35, 90), (30, 90, 150), land / 0.52)
        return mixed((70, 120, 50), (150, 120, 80), (land - 0.52) * 4)

    def bumps(u, v):
        step = 1 / 128
        slope_x = (height((u + step) % 1, v) - height((u - step) % 1, v)) * 6
        slope_y = (height(u, (v + step) % 1) - height(u, (v - step) % 1)) * 6
        length = math.sqrt(slope_x ** 2 + slope_y ** 2 + 1)
        # Rows run down, the second axis of glTF's normal maps runs up.
        return tuple(int(127.5 + 127.5 * part / length) for part in (-slope_x, slope_y, 1))

    ring, long = noise(3, 2, 24), noise(4, 64, 3)
    grain = lambda u, v: mixed((70, 36, 18), (130, 78, 40), 0.6 * ring(u, v) + 0.4 * long(u, v))
    return png(128, 64, earth), png(128, 64, bumps), png(64, 64, grain)


def material(name, color, metal, rough, **more):
    base = {"baseColorFactor": color, "metallicFactor": metal, "roughnessFactor": rough}
    if "image" in more:
        base["baseColorTexture"] = {"index": more.pop("image")}
    MATERIALS.append({"name": name, "pbrMetallicRoughness": base, **more})
    return len(MATERIALS) - 1


def node(name, children=(), **more):
    entry = {"name": name, **more}
    if children:
        entry["children"] = list(children)
    NODES.append(entry)
    return len(NODES) - 1


def turns(target, count, seconds=12.0):
    """A rotation round the y axis, four keys each turn."""
    keys = 4 * abs(count)
    times = [seconds * key / keys for key in range(keys + 1)]
    half = [math.copysign(math.pi / 4, count) * key for key in range(keys + 1)]
    SAMPLERS.append({"input": accessor(times, "SCALAR", bounds=True),
                     "output": accessor([(0, math.sin(a), 0, math.cos(a)) for a in half], "VEC4")})
    CHANNELS.append({"sampler": len(SAMPLERS) - 1, "target": {"node": target, "path": "rotation"}})


def main():
    earth, bumps, grain = textures()
    wood = material("wood", [1, 1, 1, 1], 0, 0.45, image=grain)
    brass = material("brass", [0.91, 0.72, 0.38, 1], 1, 0.28)
    glow = material("sun", [0.1, 0.05, 0, 1], 0, 0.9, emissiveFactor=[1, 0.62, 0.2],
                    extensions={"KHR_materials_emissive_strength": {"emissiveStrength": 4}})
    land = material("planet with seas", [1, 1, 1, 1], 0, 0.6, image=earth, normalTexture={"index": bumps})
    rust = material("red planet", [0.6, 0.2, 0.1, 1], 0, 0.8, normalTexture={"index": bumps})
    gas = material("planet with a ring", [0.75, 0.62, 0.45, 1], 0, 0.5)
    ice = material("ring", [0.8, 0.75, 0.65, 0.55], 0, 0.7, alphaMode="BLEND", doubleSided=True)
    foot = polyline([(1.5, 0), (1.5, 0.12), (1.3, 0.24), (0.35, 0.3), (0, 0.3)])
    column = polyline([(0.12, 0.3), (0.09, 1.55)])
    rod = polyline([(0.03, -0.5), (0.03, 0.5)])
    disc = [(0.42, 0.0, (0, 1)), (0.72, 0.0, (0, 1))][::-1]
    stand = [node("foot", mesh=mesh("foot", lathe(foot, 48), wood)),
             node("column", mesh=mesh("column", lathe(column, 24), brass)),
             node("sun", mesh=mesh("sun", ball(0.42, 32), glow), translation=[0, 1.8, 0])]
    bar = mesh("arm", lathe(rod, 12), brass)
    planets = [("red planet", 0.95, 0.6, 0.16, rust, 3), ("planet with seas", 1.6, 0.9, 0.26, land, -2),
               ("planet with a ring", 2.5, 1.2, 0.34, gas, 1)]
    for index, (name, reach, height, radius, look, count) in enumerate(planets):
        parts = []
        if look == gas:
            tilt = [math.sin(0.2), 0, 0, math.cos(0.2)]
            parts.append(node("ring", mesh=mesh("ring", lathe(disc, 48), ice), rotation=tilt))
        planet = node(name, parts, mesh=mesh(name, ball(radius, 32), look), translation=[reach, 1.8 - height, 0])
        half = math.sqrt(0.5)
        beam = node("arm", mesh=bar, translation=[reach / 2, 1.4 - height, 0], rotation=[0, 0, half, half],
                    scale=[1, reach, 1])
        post = node("post", mesh=bar, translation=[reach, 1.6 - height, 0], scale=[1, 0.4, 1])
        start = 0.8 + 2.2 * index
        arm = node("arm of the " + name, [planet, beam, post])
        stand.append(node("start of the " + name, [arm], rotation=[0, math.sin(start / 2), 0, math.cos(start / 2)]))
        turns(arm, count)
    root = node("orrery", stand)
    document = {
        "asset": {"version": "2.0", "generator": "orrery.py", "copyright": "CC0 1.0"},
        "extensionsUsed": ["KHR_materials_emissive_strength"],
        "scene": 0, "scenes": [{"nodes": [root]}], "nodes": NODES, "meshes": MESHES, "materials": MATERIALS,
        "textures": [{"source": image} for image in range(len(IMAGES))], "images": IMAGES,
        "animations": [{"name": "turn", "channels": CHANNELS, "samplers": SAMPLERS}],
        "accessors": ACCESSORS, "bufferViews": VIEWS, "buffers": [{"byteLength": (len(BINARY) + 3) // 4 * 4}],
    }
    while len(BINARY) % 4:
        BINARY.append(0)
    text = json.dumps(document, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(BINARY), 0x004E4942) + bytes(BINARY)
    file = struct.pack("<III", 0x46546C67, 2, 12 + len(chunks)) + chunks
    pathlib.Path(__file__).with_name("orrery.glb").write_bytes(file)


main()
