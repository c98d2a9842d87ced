"""Writes mitsuba.txt: what Mitsuba 3 computes of some of the scenes in scenes.py.

    pip install mitsuba==3.9.1 numpy
    python mitsuba_values.py

Where its models are the same formulas, or others that a test can turn into ours: `roughconductor` with
GGX and without absorption for white metal (one bounce between the facets, Smith's masking of each direction
apart), and `principled` without specular for what mirrors nothing (Burley).
"""

import math

import mitsuba as mi
import numpy as np

from scenes import *

mi.set_variant("scalar_rgb")

# Of a pixel: what is seen of the sphere there is flat.
FOOTPRINT = 1e-4


def bsdf(look):
    if look["metallic"] == 1.0:
        return {
            "type": "roughconductor",
            "distribution": "ggx",
            "alpha": look["roughness"] ** 2,
            "material": "none",
        }
    return {
        "type": "principled",
        "base_color": {"type": "rgb", "value": list(look["color"])},
        "roughness": look["roughness"],
        "specular": 0.0,
    }


def emitter(kind):
    """Under which white is 1."""
    if kind == "sun":
        return {"type": "directional", "direction": [-x for x in SUN], "irradiance": math.pi}
    if kind == "point":
        return {"type": "point", "position": list(POINT), "intensity": math.pi}
    return {"type": "constant", "radiance": 1.0}


def value(kind, look, pixel):
    x, y = place(*pixel)
    look_at = mi.ScalarTransform4f().look_at(origin=[x, y, 5], target=[x, y, 0], up=[0, 1, 0])
    scale = mi.ScalarTransform4f().scale([FOOTPRINT, FOOTPRINT, 1])
    scene = mi.load_dict(
        {
            "type": "scene",
            "integrator": {"type": "direct"},
            "light": emitter(kind),
            "ball": {"type": "sphere", "bsdf": bsdf(look)},
            "sensor": {
                "type": "orthographic",
                "to_world": look_at @ scale,
                "film": {
                    "type": "hdrfilm",
                    "width": 4,
                    "height": 4,
                    "rfilter": {"type": "box"},
                    "pixel_format": "rgb",
                },
            },
        }
    )
    # Only the sky is sampled at random.
    samples = 16384 if kind == "sky" else 4
    picture = np.array(mi.render(scene, spp=samples))
    return picture.reshape(-1, 3).mean(axis=0).tolist()


def main():
    found = {}
    for kind in ["sun", "point", "sky"]:
        for name in ["white_metal_5", "white_metal_8", "chalk_3", "chalk_10"]:
            if kind == "sky" and name.startswith("chalk"):
                continue
            for pixel in PIXELS:
                found[kind, name, *pixel] = value(kind, MATERIALS[name], pixel)
    head = [f"Mitsuba {mi.__version__} (PyPI): see README.md. Written by mitsuba_values.py."]
    write("mitsuba.txt", head, found)


main()
