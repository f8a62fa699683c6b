"""Packed factors that a worker keeps: right whatever the sizes, the order of blocks, the threads, the launch."""

import numpy as np
import pytest
from conftest import numbers

import deep_accel.tile as T


def product(block, order=None):
    M, N, K = T.dynamic("M, N, K")

    @T.prim_func
    def main(A: T.Tensor((M, K), T.float32), B: T.Tensor((K, N), T.float32), C: T.Tensor((M, N), T.float32)):
        with T.Kernel(T.ceildiv(M, block), T.ceildiv(N, block)) as (bm, bn):
            if order == "swizzle":
                T.use_swizzle(panel_size=2)
            a = T.alloc_shared((block, block), T.float32)
            b = T.alloc_shared((block, block), T.float32)
            acc = T.alloc_fragment((block, block), T.float32)
            T.clear(acc)
            for k in T.Pipelined(T.ceildiv(K, block), num_stages=2):
                T.copy(A[bm * block, k * block], a)
                T.copy(B[k * block, bn * block], b)
                T.gemm(a, b, acc)
            T.copy(acc, C[bm * block, bn * block])

    return main


def expect(c, a, b):
    a, b = a.astype(np.float64), b.astype(np.float64)
    assert (np.abs(c - a @ b) <= (a.shape[1] + 2) * 2.0**-24 * 1.001 * (np.abs(a) @ np.abs(b))).all()


# Blocks that share tiles, one that shares none, and more steps than there are tiles to keep.
@pytest.mark.parametrize("sizes", [(80, 72, 48), (16, 48, 64), (70, 33, 257), (40, 24, 5000)])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("order", [None, "swizzle"])
def test_products_are_right(sizes, threads, order):
    m, n, k = sizes
    kernel = T.compile(product(16, order))
    for seed in range(3):  # what an earlier launch left in the arena is not taken for this one's
        a, b = numbers(m, k, seed=seed), numbers(k, n, seed=seed + 10)
        c = np.empty((m, n), np.float32)
        kernel(a, b, c, threads=threads)
        expect(c, a, b)


def test_factors_that_change_in_place_are_packed_anew():
    kernel = T.compile(product(16))
    a, b = numbers(64, 64), numbers(64, 64, seed=2)
    c = np.empty((64, 64), np.float32)
    for _ in range(3):
        kernel(a, b, c)
        expect(c, a, b)
        b += 1


def test_explain_says_what_is_kept():
    (phase,) = T.compile(product(16)).explain()["kernels"][0]["phases"]
    assert any("'b' kept for the blocks that follow" in decision for decision in phase["decisions"])
    assert {b["name"] for b in phase["buffers"] if b.get("kept") == "tile"} == {"b"}
    assert phase["kept_bytes"] >= next(b["bytes"] for b in phase["buffers"] if b["name"] == "b")
