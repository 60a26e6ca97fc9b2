"""Drawing on small images of bytes in kernels: for worlds whose observation is an image.

Images are uint8, (rows, columns, 3). Colours are three numbers. All verbs clip to the image.
"""

from rlenvs.kits.raster.draw import (
    clear,
    copy_image,
    copy_patch,
    disc,
    half_width,
    line,
    outline,
    rectangle,
    ring,
    stamp,
    transpose,
)

__all__ = [
    "clear",
    "copy_image",
    "copy_patch",
    "disc",
    "half_width",
    "line",
    "outline",
    "rectangle",
    "ring",
    "stamp",
    "transpose",
]
