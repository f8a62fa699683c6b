"""What wrong calls, programs and targets say: the kernel, the argument, what was expected, what came, what to do."""

import inspect

import numpy as np
import pytest

import deep_accel as da
import deep_accel.tile as T

F = T.float32


@pytest.fixture(scope="module")
def copy():
    """Takes X with rows 4 apart; writes Y."""

    @T.prim_func
    def copy(X: T.StridedTensor((8, 4), (4, 1), F), Y: T.Tensor((8, 4), F)):
        with T.Kernel(8) as i:
            for j in T.Parallel(4):
                Y[i, j] = X[i, j]

    return T.compile(copy)


@pytest.fixture(scope="module")
def constant():
    N = T.dynamic("N")

    @T.prim_func
    def constant(n: T.int32, f: T.float32, Y: T.Tensor((N,), F)):
        with T.Kernel(N) as i:
            Y[i] = f + n

    return T.compile(constant)


def ones(*shape):
    return np.ones(shape, np.float32)


X = "argument 'X': "


@pytest.mark.parametrize(
    "array,kind,texts",
    [
        (ones(4, 8).T, ValueError, [X, "expected stride 4 in dimension 0", "strides [1, 8]", "call contiguous()"]),
        (ones(8, 8)[:, ::2], ValueError, [X, "expected stride 4", "strides [8, 2]", "call contiguous()"]),
        (ones(8, 5), ValueError, [X, "dimension 1 must be 4", "got f32[8, 5]", "compiled for that size"]),
        (ones(8), ValueError, [X, "expected 2 dimensions [8, 4]", "got f32[8]", "reshape it"]),
        (ones(8, 4).astype("f8"), TypeError, [X, "expected a tensor of f32", "got f64[8, 4]", "convert it"]),
        (ones(8, 4).astype(">f4"), TypeError, [X, "big-endian", "newbyteorder"]),
        (ones(8, 4).astype("c8"), TypeError, [X, "'complex64' is not known", "supported are f64, f32"]),
        ([1, 2], TypeError, [X, "got <class 'list'>", "convert it with np.asarray"]),
        (3.0, TypeError, [X, "got <class 'float'>"]),
        (None, TypeError, [X, "got <class 'NoneType'>"]),
        (np.frombuffer(bytes(129), np.uint8)[1:].view(np.float32).reshape(8, 4), ValueError, [X, "not aligned to 4"]),
    ],
)
def test_arrays_that_do_not_fit(copy, array, kind, texts):
    with pytest.raises(kind) as error:
        copy(array, ones(8, 4))
    for text in ["copy", *texts]:
        assert text in str(error.value)


def test_outputs_that_cannot_be_written(copy):
    x = ones(8, 4)
    with pytest.raises(ValueError, match="'Y': the kernel writes it, but it shares memory with argument 'X'; give one"):
        copy(x, x)
    y = ones(8, 4)
    y.flags.writeable = False
    with pytest.raises(ValueError, match="'Y': the kernel writes it, but its memory is read-only; give a tensor"):
        copy(x, y)
    with pytest.raises(TypeError, match=r"copy: 2 arguments \(X, Y\) expected, or 1 without the outputs, got 3"):
        copy(x, x, x)
    with pytest.raises(ValueError, match="threads must be 0 .* to 1024; got -1"):
        copy(x, ones(8, 4), threads=-1)


@pytest.mark.parametrize(
    "number,kind,text",
    [
        (1.5, TypeError, "expected a number of i32, got the floating point number 1.5"),
        (1 << 40, ValueError, "1099511627776 does not fit i32"),
        (1 << 80, ValueError, "does not fit 64 bits"),
        ("a", TypeError, "a number expected, got <class 'str'>"),
        (ones(8), TypeError, "a number expected, got <class 'numpy.ndarray'>"),
    ],
)
def test_numbers_that_do_not_fit(constant, number, kind, text):
    with pytest.raises(kind) as error:
        constant(number, 2.0, ones(3))
    assert "argument 'n': " in str(error.value) and text in str(error.value)


@pytest.mark.parametrize("number", [3, np.int8(3), np.int64(3), np.array(3), True + 2])
def test_numbers_that_fit(constant, number):
    y = ones(3)
    constant(number, np.float32(0.5), y)
    np.testing.assert_array_equal(y, 3.5)
    with pytest.raises(TypeError, match="the size N of the output 'Y' is not that of an input; pass the output"):
        constant(number, 1.0)


def test_targets(copy):
    with pytest.raises(NotImplementedError, match="no target is called 'vax'; there are: host, x86-64"):
        T.compile(copy.program, target="vax")
    foreign = "riscv64-v" if da.device_info()["architecture"] != "riscv64" else "aarch64-neon"
    with pytest.raises(NotImplementedError, match=f"code for '{foreign}' does not run on this machine .* object file"):
        T.compile(copy.program, target=foreign)


@pytest.mark.parametrize(
    "text,message",
    [
        ("", "no kernel"),
        ("tile.kernel @", "<text>:1:"),
        ("module {\n\n tile.kernel @k() {\n  foo\n}}", "<text>:4:3: .*foo"),
        ('module {\n tile.kernel @k() {\n  "tile.nothing"() : () -> ()\n}}', "<text>:3:3: .*tile.nothing"),
        ("tile.kernel @k() { }\x00", "<text>:1:"),
        ("tile.kernel @k(%A: memref<4xf32>) {}", "<text>:1:"),
    ],
)
def test_malformed_programs(text, message):
    with pytest.raises(ValueError, match=message):
        T.compile(text)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(OSError, match="cannot read '/nonexistent': no such file"):
        T.Program.parse_file("/nonexistent")
    (tmp_path / "x.mlir").write_bytes(bytes(range(256)))
    with pytest.raises(ValueError, match="x.mlir:1"):
        T.Program.parse_file(str(tmp_path / "x.mlir"))


def line_of(text):
    """The place of the only other line of this file with the text."""
    lines = inspect.getsource(inspect.getmodule(line_of)).splitlines()
    (number,) = (n for n, line in enumerate(lines, 1) if text in line and "line_of" not in line)
    return f"test_call_messages.py:{number}:"


def test_races_are_found_by_the_interpreter():
    @T.prim_func
    def racy(A: T.Tensor((8,), F), B: T.Tensor((4,), F)):
        with T.Kernel(8) as i:
            B[i // 2] = A[i]  # two blocks write it

    with pytest.raises(ValueError, match=r"race on element \[0\] of 'B': block \[1\] writes it here.*atomics") as error:
        T.compile(racy).interpret(ones(8))
    assert line_of("# two blocks write it") in str(error.value)


@T.prim_func
def looked_up(Index: T.Tensor((8,), T.int32), B: T.Tensor((8,), F)):
    with T.Kernel(1):
        t = T.alloc_shared((8,), F)
        T.fill(t, 2.0)
        for i in T.serial(8):
            B[i] = t[Index[i]]  # may be anywhere


@T.prim_func
def looked_up_in_parallel(Index: T.Tensor((64,), T.int32), B: T.Tensor((64,), F)):
    with T.Kernel(1):
        t = T.alloc_shared((8,), F)
        index = T.alloc_shared((64,), T.int32)
        T.copy(Index, index)
        T.fill(t, 2.0)
        for i in T.Parallel(64):
            B[i] = t[index[i]]  # in any order


@T.prim_func
def written(Index: T.Tensor((8,), T.int32), B: T.Tensor((8,), F)):
    with T.Kernel(1):
        t = T.alloc_shared((8,), F)
        T.clear(t)
        for i in T.serial(8):
            t[Index[i]] = 2.0  # to anywhere
        T.copy(t, B)


@T.prim_func
def counted(Index: T.Tensor((8,), T.int32), B: T.Tensor((8,), T.int32)):
    with T.Kernel(8) as i:
        T.atomic_add(B[Index[i]], 2)  # counts anything


@pytest.mark.parametrize("index", [8, -1, 2**31 - 1, -(2**31)])
@pytest.mark.parametrize(
    "function,line",
    [
        (looked_up, "may be anywhere"),
        (looked_up_in_parallel, "in any order"),
        (written, "to anywhere"),
        (counted, "counts anything"),
    ],
    ids=lambda v: getattr(v, "name", None),
)
def test_data_cannot_make_a_kernel_leave_its_memory(function, line, index):
    kernel = T.compile(function)
    size = 64 if function is looked_up_in_parallel else 8
    right = np.arange(size, dtype=np.int32) % 8
    wrong = right.copy()
    wrong[5] = index
    out = np.zeros(size, da.numpy_dtype(kernel.arguments[1]["dtype"]))
    kernel(right, out)
    np.testing.assert_array_equal(out, 2)
    with pytest.raises(IndexError, match="index 0 of '[tB]' must be at least 0 and below 8; correct the data") as error:
        kernel(wrong, out)
    assert line_of("# " + line) in str(error.value)
    kernel(right, np.zeros_like(out))


def test_accesses_out_of_bounds_are_found_by_the_interpreter():
    kernel = T.compile(looked_up)
    np.testing.assert_array_equal(kernel.interpret(np.arange(8, dtype=np.int32)), 2)
    with pytest.raises(IndexError, match=r"reads element \[9\] of 't', which has shape \[8\]; keep") as error:
        kernel.interpret(np.full(8, 9, np.int32))
    assert line_of("# may be anywhere") in str(error.value)
