"""8. Convolution as a product: T.im2col gathers the windows of the image as rows of a tile; nothing is written out.

The image is N x H x W x C, the weights KH x KW x C x F, the result N x OH x OW x F.
"""

import numpy as np

import deep_accel.tile as T


@T.jit
def convolution(N, H, W, C, F, kernel=3, stride=1, dilation=1, pad=1, block_m=64, block_n=64, block_k=64):
    out_h = (H + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1
    out_w = (W + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1
    pixels, depth = N * out_h * out_w, kernel * kernel * C

    @T.prim_func
    def main(
        X: T.Tensor((N, H, W, C), T.float32),
        Weight: T.Tensor((depth, F), T.float32),
        Y: T.Tensor((pixels, F), T.float32),
    ):
        with T.Kernel(T.ceildiv(pixels, block_m), T.ceildiv(F, block_n)) as (bm, bn):
            columns = T.alloc_shared((block_m, block_k), T.float32)
            weight = T.alloc_shared((block_k, block_n), T.float32)
            acc = T.alloc_fragment((block_m, block_n), T.float32)
            T.clear(acc)
            for k in T.Pipelined(T.ceildiv(depth, block_k), num_stages=2):
                T.im2col(X, columns, bm, k, kernel, stride, dilation, pad)
                T.copy(Weight[k * block_k, bn * block_n], weight)
                T.gemm(columns, weight, acc)
            T.copy(acc, Y[bm * block_m, bn * block_n])

    return main


def reference(x, weight, stride, dilation, pad):
    kernel = weight.shape[0]
    x = np.pad(x.astype(np.float64), ((0, 0), (pad, pad), (pad, pad), (0, 0)))
    reach = dilation * (kernel - 1) + 1
    out_h, out_w = (x.shape[1] - reach) // stride + 1, (x.shape[2] - reach) // stride + 1
    y = np.zeros((x.shape[0], out_h, out_w, weight.shape[3]))
    for i in range(kernel):
        for j in range(kernel):
            top, left = i * dilation, j * dilation
            part = x[:, top : top + stride * out_h : stride, left : left + stride * out_w : stride]
            y += part[:, :out_h, :out_w] @ weight[i, j].astype(np.float64)
    return y


def main():
    worst = 0.0
    for n, h, w, c, f, k, s, d, p in (
        (1, 5, 5, 3, 4, 3, 1, 1, 1),
        (2, 12, 9, 8, 20, 3, 2, 1, 1),
        (1, 9, 9, 5, 7, 3, 1, 2, 2),
    ):
        rng = np.random.default_rng(h)
        x = rng.standard_normal((n, h, w, c), dtype=np.float32)
        weight = rng.standard_normal((k, k, c, f), dtype=np.float32)
        expected = reference(x, weight, s, d, p)
        bound = (k * k * c + 2) * 2.0**-24 * reference(np.abs(x), np.abs(weight), s, d, p) * 1.001
        y = convolution(n, h, w, c, f, k, s, d, p)(x, weight.reshape(-1, f)).reshape(expected.shape)
        worst = max(worst, (np.abs(y - expected) / bound).max())
    assert worst <= 1
    print(f"convolution: right, errors at most {worst:.2g} of their bound")


def measure():
    n, h, w, c, f = 1, 56, 56, 64, 64
    x, weight = np.ones((n, h, w, c), np.float32), np.ones((9 * c, f), np.float32)
    y = np.zeros((n * h * w, f), np.float32)
    seconds = convolution(n, h, w, c, f).benchmark(x, weight, y)
    print(f"{h} x {w} x {c} to {f} in {seconds * 1e3:.2f} ms: {2 * y.size * 9 * c / seconds * 1e-9:.0f} GFLOP/s")


if __name__ == "__main__":
    main()
    measure()
