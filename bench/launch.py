"""How long a call of a cached kernel takes from Python, by each of the ways in which one may be written.

    PYTHONPATH=build/release/python .venv/bin/python bench/launch.py [--json FILE]

The kernel adds two vectors of one block (or two, on two threads), so that next to nothing but the call is measured:
each figure is the median over rounds of the mean of 1000 calls, the ways taking turns. The first column is a function
of the same arguments that does nothing, numpy.add is the peer.
"""

import argparse
import json
import statistics
import time

import numpy as np

import deep_accel as da
import deep_accel.tile as T

BLOCK = 256
CALLS, ROUNDS = 1000, 25


def kernel():
    N = T.dynamic("N")

    @T.prim_func
    def add(A: T.Tensor((N,), T.float32), B: T.Tensor((N,), T.float32), C: T.Tensor((N,), T.float32)):
        with T.Kernel(T.ceildiv(N, BLOCK)) as b:
            for i in T.Parallel(BLOCK):
                C[b * BLOCK + i] = A[b * BLOCK + i] + B[b * BLOCK + i]

    return T.compile(add)


@T.jit
def eager(A, B):
    N = T.const("N")
    A: T.Tensor((N,), T.float32)
    B: T.Tensor((N,), T.float32)
    C = T.empty((N,), T.float32)
    with T.Kernel(T.ceildiv(N, BLOCK)) as b:
        for i in T.Parallel(BLOCK):
            C[b * BLOCK + i] = A[b * BLOCK + i] + B[b * BLOCK + i]
    return C


def seconds_of(call):
    start = time.perf_counter()
    for _ in range(CALLS):
        call()
    return (time.perf_counter() - start) / CALLS


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", metavar="FILE", help="write the figures there too")
    options = parser.parse_args()

    add = kernel()
    a, b, c = (np.ones(BLOCK, np.float32) for _ in range(3))
    a2, b2, c2 = (np.ones(2 * BLOCK, np.float32) for _ in range(3))
    tensors = [da.from_numpy(x) for x in (a, b, c)]
    nothing = lambda A, B, C, threads: None  # noqa: E731
    ways = {
        "a Python function that does nothing": lambda: nothing(a, b, c, threads=1),
        "numpy.add(a, b, out=c)": lambda: np.add(a, b, out=c),
        "kernel(a, b, c, threads=1)": lambda: add(a, b, c, threads=1),
        "kernel(a, b, c, threads=1), deep_accel.Tensor": lambda: add(*tensors, threads=1),
        "kernel(a, b), which allocates c": lambda: add(a, b, threads=1),
        "@jit function of a and b": lambda: eager(a, b),
        "kernel(a, b, c, threads=2), two blocks": lambda: add(a2, b2, c2, threads=2),
    }
    times = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, call in ways.items():
            times[name].append(seconds_of(call))
    report = [{"name": name, "value": statistics.median(t) * 1e6, "unit": "us"} for name, t in times.items()]
    for row in report:
        print(f"{row['name']:48} {row['value']:7.2f} us")
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"group": "launch from Python", "results": report}, file, indent=1)


if __name__ == "__main__":
    main()
