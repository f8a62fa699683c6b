"""`pip install .` into a fresh virtual environment: the module, its stubs, and the command."""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("DEEP_ACCEL_BUILD", ROOT / "build" / "release"))
# The package must come from where it was installed.
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}


def run(*command, **options):
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=ENVIRONMENT, **options)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel as pyproject.toml says, except that it is built in the tree that is built already."""
    folder = tmp_path_factory.mktemp("wheel")
    cache = BUILD / "CMakeCache.txt"
    kept = re.findall(r"^(DEEP_ACCEL_(?:TESTS|BENCH|SANITIZE)):\w+=(.*)$", cache.read_text(), re.M)
    settings = [f"build-dir={BUILD}", *(f"cmake.define.{name}={value}" for name, value in kept)]
    shutil.copy(cache, folder / "CMakeCache.txt")
    try:
        run(sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--no-index", "-w", folder, ROOT,
            *(part for s in settings for part in ("-C", s)), cwd=folder)  # fmt: skip
    finally:
        shutil.copy(folder / "CMakeCache.txt", cache)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A virtual environment with the wheel, and NumPy and ml_dtypes from the one that runs the tests."""
    folder = tmp_path_factory.mktemp("installed") / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    run(sys.executable, "-m", "pip", "--python", folder / "bin/python", "install", "--no-deps", "--no-index", wheel)
    (packages,) = folder.glob("lib/python3*/site-packages")
    import numpy

    (packages / "others.pth").write_text(str(Path(numpy.__file__).parents[1]) + "\n")
    return folder


KERNEL = """
import numpy as np
import deep_accel
import deep_accel.tile as T

@T.jit
def doubled(X):
    N = T.const("N")
    X: T.Tensor((N,), T.float32)
    Y = T.empty((N,), T.float32)
    with T.Kernel(T.ceildiv(N, 64)) as b:
        for i in T.Parallel(64):
            Y[b * 64 + i] = 2 * X[b * 64 + i]
    return Y

np.testing.assert_array_equal(doubled(np.arange(100, dtype=np.float32)), np.arange(0, 200, 2))
print(deep_accel.__file__, deep_accel.__version__)
"""


def test_module_runs_a_kernel(installed, tmp_path):
    (tmp_path / "kernel.py").write_text(KERNEL)
    where, version = run(installed / "bin/python", tmp_path / "kernel.py", cwd=tmp_path).split()
    assert where.startswith(str(installed))
    assert f"project(deep_accel VERSION {version} " in (ROOT / "CMakeLists.txt").read_text()


def test_command_runs(installed, tmp_path):
    command = installed / "bin/deepaccel"
    assert run(command, "--version") == "deepaccel " + run(installed / "bin/python", "-c", VERSION)
    assert "Processor" in run(command, "info", cwd=tmp_path)


VERSION = "import deep_accel; print(deep_accel.__version__)"


def test_stubs_name_all_that_the_native_module_has(installed):
    (package,) = installed.glob("lib/python3*/site-packages/deep_accel")
    assert (package / "py.typed").exists()
    stub = ast.parse((package / "_native.pyi").read_text())
    names = {node.name for node in stub.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    names |= {node.target.id for node in stub.body if isinstance(node, ast.AnnAssign)}
    has = run(installed / "bin/python", "-c", "import deep_accel; print(*dir(deep_accel._native))").split()
    assert {name for name in has if not name.startswith("_") or name == "__version__"} <= names
