"""The numbers of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014): the
golden ratio's step, and the factors of its mixing function, MurmurHash3's finalizer in Stafford's variant 13."""

import numpy as np

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
