"""python -m deep_accel.tile: from a kernel in Python to the text that the command takes."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "tile"
FILE = """
import deep_accel.tile as T

@T.jit
def scale(block, factor=2.0):
    N = T.dynamic("N")
    @T.prim_func
    def doubled(X: T.Tensor((N,), T.float32), Y: T.Tensor((N,), T.float32)):
        with T.Kernel(T.ceildiv(N, block)) as b:
            t = T.alloc_fragment((block,), T.float32)
            T.copy(X[b * block], t)
            for i in T.Parallel(block):
                t[i] = t[i] * factor
            T.copy(t, Y[b * block])
    return doubled

@T.prim_func
def nothing(X: T.Tensor((1,), T.float32)):
    pass

@T.jit
def eager(X):
    N = T.const("N")
    X: T.Tensor((N,), T.float32)
    Y = T.empty((N,), T.float32)
    with T.Kernel(1) as b:
        T.copy(X, Y)
    return Y

raise_if_run_as_script = 1 / (__name__ != "__main__")
"""


def text_of(*arguments, status=0):
    command = [sys.executable, "-m", "deep_accel.tile", *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert result.returncode == status, result.stderr
    return result


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "kernels.py"
    path.write_text(FILE)
    return path


def test_parameters_and_the_choice_of_a_kernel(file):
    text = text_of(file, "block=64", "factor=3.5", "--kernel", "scale").stdout
    assert "tile.kernel @doubled" in text and "memref<64xf32" in text and "3.5" in text and "loc(" not in text
    assert "tile.kernel @nothing" in text_of(file, "--kernel", "nothing").stdout


def test_locations(file):
    assert f'loc("{file}":12:' in text_of(file, "block=64", "--kernel", "scale", "--locations").stdout


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([], "must have one kernel (under @T.jit or @T.prim_func), or say which by --kernel: scale, nothing, eager"),
        (["--kernel", "scael"], "has no kernel 'scael'; it has: scale, nothing, eager"),
        (["--kernel", "scale"], "scale(block, factor=2.0): missing a required argument: 'block'"),
        (["--kernel", "scale", "blok=3"], "scale(block, factor=2.0): "),
        (["--kernel", "nothing", "block=3"], "'nothing' takes no parameters, got block"),
        (["--kernel", "eager"], "'eager' takes its sizes from the arrays of a call"),
        (["64"], "PARAMETER=VALUE expected, got '64'"),
    ],
)
def test_mistakes(file, arguments, message):
    assert message in text_of(file, *arguments, status=2).stderr


def test_a_missing_file(tmp_path):
    assert "No such file" in text_of(tmp_path / "none.py", status=2).stderr
