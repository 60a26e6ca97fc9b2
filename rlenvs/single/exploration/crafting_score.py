"""The score of the crafting benchmark: the geometric mean of success rates, in per cent, shifted by one."""

from collections.abc import Sequence

import numpy as np


def score(success_rates: Sequence[float]) -> float:
    """The score of the success rates (0 to 1) of the 22 achievements over all episodes of a training, 0 to 100.

    It is exp(mean(log(1 + rate in per cent))) - 1, which counts rare achievements more than their mean does.
    """
    return float(np.exp(np.mean(np.log1p(100.0 * np.asarray(success_rates, float)))) - 1.0)
