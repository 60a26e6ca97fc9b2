"""Environments in web pages, played by the kernels that train."""
