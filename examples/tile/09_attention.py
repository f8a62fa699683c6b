"""9. Attention: softmax(Q K^T / sqrt(D)) V without the matrix of scores (Dao et al., FlashAttention, 2022).

A block keeps some rows of Q and goes over K and V; the running maximum and sum of each row correct what was collected
so far (Milakov and Gimelshein, Online normalizer calculation for softmax, 2018).
"""

import math

import numpy as np

import deep_accel.tile as T


@T.jit
def attention(depth, causal=False, block_m=64, block_n=64):
    heads, length = T.dynamic("heads, length")
    scale = math.log2(math.e) / math.sqrt(depth)  # exponentials to base 2
    shape = (heads, length, depth)

    @T.prim_func
    def main(
        Q: T.Tensor(shape, T.float32),
        K: T.Tensor(shape, T.float32),
        V: T.Tensor(shape, T.float32),
        O: T.Tensor(shape, T.float32),
    ):
        with T.Kernel(T.ceildiv(length, block_m), heads) as (bm, head):
            q = T.alloc_shared((block_m, depth), T.float32)
            k = T.alloc_shared((block_n, depth), T.float32)
            v = T.alloc_shared((block_n, depth), T.float32)
            scores = T.alloc_fragment((block_m, block_n), T.float32)
            acc = T.alloc_fragment((block_m, depth), T.float32)
            greatest = T.alloc_fragment((block_m,), T.float32)
            before = T.alloc_fragment((block_m,), T.float32)
            factor = T.alloc_fragment((block_m,), T.float32)
            part = T.alloc_fragment((block_m,), T.float32)
            total = T.alloc_fragment((block_m,), T.float32)

            T.copy(Q[head, bm * block_m : (bm + 1) * block_m, :], q)
            T.clear(acc)
            T.clear(total)
            T.fill(greatest, -1e30)
            last = T.ceildiv((bm + 1) * block_m, block_n) if causal else T.ceildiv(length, block_n)
            for step in T.Pipelined(T.min(last, T.ceildiv(length, block_n)), num_stages=2):
                T.copy(K[head, step * block_n : (step + 1) * block_n, :], k)
                T.gemm(q, k, scores, transpose_B=True, clear_accum=True)
                for i, j in T.Parallel(block_m, block_n):
                    column = step * block_n + j
                    seen = column < length and (not causal or column <= bm * block_m + i)
                    scores[i, j] = T.if_then_else(seen, scores[i, j] * scale, -1e30)
                T.copy(greatest, before)
                T.reduce_max(scores, greatest, dim=1, clear=False)
                for i in T.Parallel(block_m):
                    factor[i] = T.exp2(before[i] - greatest[i])
                for i, j in T.Parallel(block_m, block_n):
                    scores[i, j] = T.exp2(scores[i, j] - greatest[i])
                T.reduce_sum(scores, part, dim=1)
                for i in T.Parallel(block_m):
                    total[i] = total[i] * factor[i] + part[i]
                for i, j in T.Parallel(block_m, depth):
                    acc[i, j] *= factor[i]
                T.copy(V[head, step * block_n : (step + 1) * block_n, :], v)
                T.gemm(scores, v, acc)
            for i, j in T.Parallel(block_m, depth):
                acc[i, j] = acc[i, j] / total[i]
            T.copy(acc, O[head, bm * block_m : (bm + 1) * block_m, :])

    return main


def reference(q, k, v, causal):
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    scores = q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[2])
    if causal:
        scores = np.where(np.tri(q.shape[1], dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(2, keepdims=True))
    return weights / weights.sum(2, keepdims=True) @ v


def main():
    worst = 0.0
    for heads, length, depth in ((1, 1, 16), (2, 100, 32), (1, 129, 64)):
        for causal in (False, True):
            rng = np.random.default_rng(length)
            q, k, v = (rng.standard_normal((heads, length, depth), dtype=np.float32) for _ in range(3))
            o = attention(depth, causal)(q, k, v)
            # Scores of this size carry depth roundings, weights length; values are of order 4.
            bound = 4 * (depth + length) * 2.0**-22
            worst = max(worst, np.abs(o - reference(q, k, v, causal)).max() / bound)
    assert worst <= 1
    print(f"attention: right, errors at most {worst:.2g} of their bound")


def measure():
    heads, length, depth = 8, 1024, 64
    q, k, v, o = (np.ones((heads, length, depth), np.float32) for _ in range(4))
    seconds = attention(depth).benchmark(q, k, v, o)
    operations = 4 * heads * length**2 * depth
    print(f"{heads} heads of {length} x {depth} in {seconds * 1e3:.2f} ms: {operations / seconds * 1e-9:.0f} GFLOP/s")


if __name__ == "__main__":
    main()
    measure()
