"""Images in the observation of an arm's tasks: options, images and their sizes, of the cameras `front` and `hand`."""

from __future__ import annotations

from typing import Any

from rlenvs.core import choice, image, integer

# a task with images takes these among its options, and images=IMAGES
CAMERA: dict[str, Any] = {
    "camera": choice("none", "rgb", "depth", "rgbd", doc="images in the observation, from the front and from the hand"),
    "camera_width": integer(64, 8, 1024, "pixels"),
    "camera_height": integer(64, 8, 1024, "pixels"),
}
IMAGES = {
    "front": image("rgb_rows", "rgb_columns", 3, doc="from in front of the table, (camera_height, camera_width, 3)"),
    "hand": image("rgb_rows", "rgb_columns", 3, doc="from the hand, along the fingers"),
    "front_depth": image("depth_rows", "depth_columns", 1, doc="distance along the camera's axis, 255 is 2 m and more"),
    "hand_depth": image("depth_rows", "depth_columns", 1, doc="the same from the hand"),
}


def image_sizes(values: Any) -> dict[str, int]:
    """The named sizes of IMAGES for values of options, zero for a task without images."""
    options, found = vars(values), {}
    for kind, cameras in {"rgb": ("rgb", "rgbd"), "depth": ("depth", "rgbd")}.items():
        for side, option in {"rows": "camera_height", "columns": "camera_width"}.items():
            found[f"{kind}_{side}"] = options[option] if options.get("camera", "none") in cameras else 0
    return found
