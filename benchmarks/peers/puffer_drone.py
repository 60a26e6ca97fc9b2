"""Steps of PufferLib's C drone on one core, called in native code for a batch of worlds with random actions.

Installed as: no package. Take ``pufferlib/ocean/drone/drone.h`` from the source distribution of pufferlib 3.0.0, put
beside it a ``raylib.h`` with empty stand-ins for the few drawing calls it names, and compile it with puffer_drone.c::

    gcc -O3 -w -shared -fPIC -I DIR '-DHEADER="drone.h"' -DENV=Drone -DOBS=16 puffer_drone.c -o libdrone.so -lm

One step is one explicit Euler step of 0.02 s, without substeps. The environment resets itself inside its step, in about
one step of 60 with random actions: resets are always counted.
"""

import argparse
import ctypes
import json
import sys

import worker


def main() -> None:
    """Answer the protocol of worker.py with batches timed in native code."""
    parser = worker.parser(__doc__)
    parser.add_argument("--library", required=True, help="the compiled shared library")
    parser.add_argument("--worlds", type=int, default=1024)
    options: argparse.Namespace = parser.parse_args()
    replies = worker.private_stdout()
    library = ctypes.CDLL(options.library)
    library.run_batch.restype = ctypes.c_long
    library.run_batch.argtypes = (ctypes.c_double, ctypes.POINTER(ctypes.c_double))
    library.open_batch(options.worlds, 1)
    taken = ctypes.c_double()
    library.run_batch(worker.WARM_UP_SECONDS, ctypes.byref(taken))
    print("ready", file=replies, flush=True)
    for line in sys.stdin:
        steps = library.run_batch(float(line), ctypes.byref(taken))
        print(json.dumps({"steps": steps, "seconds": taken.value, "agents": 1}), file=replies, flush=True)


if __name__ == "__main__":
    main()
