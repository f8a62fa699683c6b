"""The command `deepaccel`, as scripts call it: results, exit statuses, messages."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
PRODUCT, SOFTMAX = ROOT / "examples/tile/product.mlir", ROOT / "examples/tile/softmax.mlir"
BUILD = Path(os.environ.get("DEEP_ACCEL_BUILD", ROOT / "build" / "release"))


def run(*arguments, status=0, **options):
    result = subprocess.run(
        [BUILD / "bin/deepaccel", *map(str, arguments)], capture_output=True, text=True, timeout=120, **options
    )
    assert result.returncode == status, result.stderr
    return result


@pytest.mark.parametrize("sizes", [(64, 64, 64), (1, 1, 1), (257, 113, 131)])
def test_product_of_files_is_numpys(tmp_path, sizes):
    M, N, K = sizes
    random = np.random.default_rng(1)
    A, B = random.uniform(-1, 1, (M, K)).astype("f4"), random.uniform(-1, 1, (K, N)).astype("f4")
    np.save(tmp_path / "a.npy", A)
    np.save(tmp_path / "b.npy", np.asfortranarray(B))
    run("tile", "run", PRODUCT, "--input", f"A={tmp_path}/a.npy", "--input", f"B={tmp_path}/b.npy", "--output",
        f"C={tmp_path}/c.npy")  # fmt: skip
    wanted = A.astype("f8") @ B.astype("f8")
    bound = K * 2.0**-24 * (np.abs(A).astype("f8") @ np.abs(B).astype("f8")) * 2
    got = np.load(tmp_path / "c.npy")
    assert got.dtype == np.float32 and np.all(np.abs(got - wanted) <= bound)


def test_run_reports_json():
    report = json.loads(run("tile", "run", SOFTMAX, "--dim", "M=3", "--json").stdout)
    assert report["sizes"] == {"M": 3}
    (output,) = report["outputs"]
    assert output["shape"] == [3, 4096] and output["nans"] == 0
    assert output["sum"] == pytest.approx(3, abs=1e-3)  # each row of a softmax sums to 1


def test_explain_and_opt_and_compile(tmp_path):
    assert "register tiles" in run("tile", "explain", PRODUCT).stdout
    assert json.loads(run("tile", "explain", PRODUCT, "--json").stdout)["kernels"][0]["name"] == "product"
    passes = [line.split()[0] for line in run("tile", "opt", "--list").stdout.splitlines()]
    assert "tile.gemm" in run("tile", "opt", PRODUCT, "--stop-after", passes[0]).stdout
    run("tile", "compile", PRODUCT, "--target", "aarch64-neon", "-o", tmp_path / "k.o")
    assert (tmp_path / "k.o").read_bytes()[:4] == b"\x7fELF"
    assert (tmp_path / "k.o").read_bytes()[18] == 183  # EM_AARCH64


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["tile"], "subcommand is required"),
        (["tile", "run"], "FILE is required"),
        (["tile", "run", "missing.mlir"], "cannot read"),
        (["tile", "run", PRODUCT, "--dim", "Q=3"], "no dimension 'Q'"),
        (["tile", "run", PRODUCT, "--dim", "M=x"], "whole number"),
        (["tile", "run", PRODUCT, "--output", "D=d.npy"], "no output 'D'"),
        (["tile", "compile", PRODUCT, "--target", "vax", "-o", "x.o"], "vax"),
        (["tile", "compile", PRODUCT, "-o", "x.txt"], "--emit"),
    ],
)
def test_bad_input_is_an_error_and_exit_status_2(arguments, message, tmp_path):
    result = run(*arguments, status=2, cwd=tmp_path)
    assert result.stderr.startswith("deepaccel: error: ") and message in result.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "content",
    [b"", b"\x93NUMPY", b"\x93NUMPY\x01\x00\xff\xff", b"\x93NUMPY\x01\x00\x04\x00{'a'", b"\x93NUMPY\x01\x00\x01\x00("],
)
def test_malformed_npy(tmp_path, content):
    (tmp_path / "a.npy").write_bytes(content)
    result = run("tile", "run", PRODUCT, "--input", f"A={tmp_path}/a.npy", status=2)
    assert "is no valid .npy file" in result.stderr


def test_every_truncation_of_a_program_is_refused_or_runs():
    text = SOFTMAX.read_text()
    for length in range(0, len(text), 97):
        result = subprocess.run(
            [BUILD / "bin/deepaccel", "tile", "opt", "-", "--parse-only"],
            input=text[:length],
            capture_output=True,
            text=True,
        )
        assert result.returncode in (0, 2), result.stderr
