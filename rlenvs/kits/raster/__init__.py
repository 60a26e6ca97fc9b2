"""Drawing on small images of bytes in kernels, for worlds whose observation is an image: the verbs are in `draw.py`."""
