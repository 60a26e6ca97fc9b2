"""Roads: networks of lanes as static data, and the kernels that drive on them.

`network.py` builds networks in plain Python and makes arrays of them; `lanes.py` has the kernels.
"""
