"""The scenes that `filament.py` and `mitsuba_values.py` draw, and `gpu/reference.rs` as well.

A sphere of radius 1 at the origin fills most of a picture of 65 by 65 pixels, which an orthographic camera on
the z axis sees; it is 2.2 units high. Values are linear radiance at the middles of pixels, red, green and
blue, divided by what a white surface that scatters evenly has under the same light straight above it (for
lamps: at a distance of 1), and for the sky by the sky's radiance.
"""

SIDE = 65
HEIGHT = 2.2

# Column and row, from the upper left. The second is where the sun's highlight is.
PIXELS = [(32, 32), (38, 25), (44, 20), (26, 32), (38, 40), (50, 18), (22, 22)]

# Where the sun's light comes from.
SUN = (0.5, 0.6, 1.0)
POINT = (1.0, 1.5, 2.5)
SPOT = (0.8, 1.2, 3.0)
# Of the spot, which looks at the origin: half angles in degrees.
INNER, OUTER = 8.0, 18.0

GOLD = (0.9, 0.6, 0.3)
GREY = (0.5, 0.5, 0.5)
WHITE = (1.0, 1.0, 1.0)
RED = (0.7, 0.1, 0.1)


def material(color, metallic, roughness, clearcoat=0.0, coat_roughness=0.0):
    return {
        "color": color,
        "metallic": metallic,
        "roughness": roughness,
        "clearcoat": clearcoat,
        "coat_roughness": coat_roughness,
    }


MATERIALS = {
    "gold_3": material(GOLD, 1.0, 0.3),
    "gold_5": material(GOLD, 1.0, 0.5),
    "gold_8": material(GOLD, 1.0, 0.8),
    "grey_3": material(GREY, 0.0, 0.3),
    "grey_6": material(GREY, 0.0, 0.6),
    "grey_10": material(GREY, 0.0, 1.0),
    "half_5": material(GOLD, 0.5, 0.5),
    "clearcoat": material(RED, 0.0, 0.7, 1.0, 0.2),
    "white_metal_5": material(WHITE, 1.0, 0.5),
    "white_metal_8": material(WHITE, 1.0, 0.8),
    # That mirrors nothing: Filament has no such material by glTF.
    "chalk_3": material(GREY, 0.0, 0.3),
    "chalk_10": material(GREY, 0.0, 1.0),
}


def place(column, row):
    """The middle of a pixel in the world."""
    step = HEIGHT / SIDE
    return ((column + 0.5) * step - HEIGHT / 2, HEIGHT / 2 - (row + 0.5) * step)


def write(path, head, values):
    """`values` by light, material and pixel."""
    with open(path, "w") as file:
        for line in head:
            file.write(f"# {line}\n")
        file.write("# light material column row red green blue\n")
        for (light, name, column, row), color in values.items():
            numbers = " ".join(f"{number:.5g}" for number in color)
            file.write(f"{light} {name} {column} {row} {numbers}\n")
