"""What mistakes in kernels say: the user's line, the argument, what was expected, what came, what to do."""

import inspect

import numpy as np
import pytest

import deep_accel as da
import deep_accel.tile as T

F = T.float32


def line_of(function, text):
    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if text in line)


def misuse(body):
    """Puts a macro's code into a kernel."""

    @T.prim_func
    def kernel(A: T.Tensor((64, 64), F), B: T.Tensor((64,), F)):
        with T.Kernel(4) as b:
            body(A, B, b)

    return kernel


def copy_of_other_shape(A, B, b):
    t = T.alloc_shared((16, 32), F)
    T.copy(A[0:16, 0:16], t)  # here


def product_of_wrong_shape(A, B, b):
    t = T.alloc_shared((16, 32), F)
    T.gemm(t, t, T.alloc_fragment((16, 16), F))  # here


def product_of_a_tensor(A, B, b):
    t = T.alloc_shared((64, 64), F)
    T.gemm(A, t, t)  # here


def fraction_as_index(A, B, b):
    B[b * 0.5] = 1.0  # here


def too_many_indices(A, B, b):
    B[b, b] = 1.0  # here


def size_from_the_kernel(A, B, b):
    T.alloc_shared((b, 4), F)  # here


def value_of_a_loop_outside(A, B, b):
    for i in T.Parallel(4):
        kept = i * 2
    B[kept] = 1.0  # here


def outside_for_sure(A, B, b):
    t = T.alloc_shared((16,), F)
    t[16] = 1.0  # here


def thing_as_value(A, B, b):
    B[0] = "text"  # here


def unknown_order(A, B, b):
    T.atomic_add(B[0], 1.0, memory_order="sometimes")  # here


def dim_that_is_not_there(A, B, b):
    t = T.alloc_shared((16,), F)
    T.reduce_sum(t, t, dim=3)  # here


@pytest.mark.parametrize(
    "body,kind,text",
    [
        (copy_of_other_shape, ValueError, "'src' must have the tile's shape [16, 32], got a window [16, 16] of 'A'"),
        (product_of_wrong_shape, ValueError, "gemm: 'b' must be of K = 32 rows"),
        (
            product_of_a_tensor,
            TypeError,
            "gemm: 'a' must be a tile (shared, fragment or local), got the global tensor 'A'",
        ),
        (fraction_as_index, TypeError, "must be an integer"),
        (too_many_indices, ValueError, "'B' has 1 dimensions, got 2 indices"),
        (size_from_the_kernel, TypeError, "sizes of tiles are plain integers"),
        (value_of_a_loop_outside, NameError, "'kept' is assigned inside T.Parallel"),
        (outside_for_sure, IndexError, "must be within"),
        (thing_as_value, TypeError, "takes a number, got str"),
        (unknown_order, ValueError, "must be relaxed, acquire"),
        (dim_that_is_not_there, IndexError, "'dim' must be a dimension of"),
    ],
    ids=lambda v: getattr(v, "__name__", None),
)
def test_messages(body, kind, text):
    with pytest.raises(kind) as error:
        misuse(T.macro(body))
    message = str(error.value)
    assert text in message
    assert f"test_messages.py:{line_of(body, '# here')}" in message


def test_outside_of_a_kernel():
    with pytest.raises(RuntimeError, match="T.copy is used outside of a kernel"):
        T.copy(1, 2)


def test_truth_outside_of_rewritten_code():
    def plain_helper(b):
        return 1 if b > 0 else 2

    @T.macro
    def body(A, B, b):
        B[plain_helper(b)] = 1.0

    with pytest.raises(TypeError, match="not known while it is written"):
        misuse(body)


def test_annotations_are_needed():
    with pytest.raises(TypeError, match="argument 'A' must be annotated"):

        @T.prim_func
        def kernel(A):
            with T.Kernel(1):
                pass


def test_calls_check_their_arguments():
    N = T.dynamic("N")

    @T.prim_func
    def add(A: T.Tensor((N,), F), B: T.Tensor((N,), F), C: T.Tensor((N,), F)):
        with T.Kernel(N) as i:
            C[i] = A[i] + B[i]

    kernel = T.compile(add)
    x = np.zeros(4, np.float32)
    with pytest.raises(TypeError, match="3 arguments"):
        kernel(x)
    with pytest.raises(ValueError, match="'B'"):
        kernel(x, np.zeros(5, np.float32))
    with pytest.raises(TypeError, match="'B'"):
        kernel(x, np.zeros(4, np.float64))
    with pytest.raises(ValueError, match="'B'"):
        kernel(x, np.zeros(8, np.float32)[::2])
    read_only = np.zeros(4, np.float32)
    read_only.flags.writeable = False
    with pytest.raises(ValueError, match="'C'"):
        kernel(x, x, read_only)


def test_assertions_of_kernels_are_raised():
    @T.prim_func
    def checked(X: T.Tensor((4,), F), Y: T.Tensor((4,), F)):
        with T.Kernel(4) as i:
            T.device_assert(X[i] > 0, "X must be positive")
            Y[i] = X[i]

    kernel = T.compile(checked)
    with pytest.raises(ValueError, match="X must be positive"):
        kernel(np.zeros(4, np.float32))


def test_malformed_text():
    with pytest.raises(ValueError, match="<text>:1"):
        da.tile.Program.parse("tile.kernel @")
