"""Several worlds at a time: kernels compiled for vectors with a number of each world, and blocks in which these lie."""
