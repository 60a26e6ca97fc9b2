"""From kernels to compiled drivers: keys, the cache on disk, lanes. Nothing else imports numba."""
