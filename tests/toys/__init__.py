"""Small worlds for tests: healthy ones, ones broken on purpose, and kernels of the package with recorded chance."""
