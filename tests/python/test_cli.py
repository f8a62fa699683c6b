"""The command `deepaccel`, as scripts call it: results, exit statuses, messages."""

import json
import os
import re
import subprocess
import sys
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


def test_what_a_kernel_prints():
    example = ROOT / "docs/examples/tile/print.mlir"
    lines = run("tile", "run", example, "--repeat", "1").stdout.splitlines()
    values = [float(line.removeprefix(f"element {i} is ")) for i, line in enumerate(lines[:4])]
    assert [float(v) for v in lines[4].removeprefix("the tile [").rstrip("]").split(", ")] == values
    assert lines[5].startswith("kernel show")
    report = run("tile", "run", example, "--repeat", "1", "--json")
    assert json.loads(report.stdout)["kernel"] == "show" and report.stderr.splitlines() == lines[:5]


COMMANDS = ["", "info", "cache", "cache list", "cache stats", "cache path", "cache clear", "tile", "tile run",
            "tile verify", "tile opt", "tile compile", "tile explain"]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command):
    text = run(*command.split(), "--help").stdout
    usage = f"Usage: deepaccel {command}".strip()
    assert any(line.startswith(usage) for line in text.splitlines()), text
    options = [line for line in text.splitlines() if line.startswith("  -")]
    assert options and all(re.search(r" {2,}\S", line[4:]) for line in options), "an option without a word on it"
    listed = re.findall(r"^  ([a-z]+) +\S", text.split("Subcommands:")[1], re.M) if "Subcommands:" in text else []
    inner = {c.removeprefix(command).split()[0] for c in COMMANDS if c.startswith(command) and c != command}
    assert set(listed) == inner, "COMMANDS of this test has them all"


@pytest.mark.parametrize("command", COMMANDS)
def test_unknown_options_are_bad_usage(command):
    assert "--help'" in run(*command.split(), "--no-such-option", status=2).stderr


def layer_norm():
    return ROOT / "bench/kernels/layer_norm.mlir"


def attention():
    """What the tutorial's kernel writes."""
    command = [sys.executable, "-m", "deep_accel.tile", ROOT / "examples/tile/09_attention.py", "depth=64"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


# x86-64-avx2: 8 lanes of f32. The launches' operations follow from the formulas; each tensor counts once.
@pytest.mark.parametrize(
    "program, sizes, products, flops, tensors",
    [
        (PRODUCT, {"M": 224, "N": 256, "K": 512}, 1, 2 * 224 * 256 * 512, 224 * 512 + 512 * 256 + 224 * 256),
        (SOFTMAX, {"M": 8}, 0, None, 2 * 8 * 4096),
        (layer_norm, {"M": 8}, 0, None, 2 * 8 * 4096 + 2 * 4096),
        (attention, {"heads": 2, "length": 128}, 2, None, 4 * 2 * 128 * 64),
    ],
)
def test_explain(program, sizes, products, flops, tensors):
    text = None
    if callable(program):
        program = program()
    if isinstance(program, str):
        program, text = "-", program
    arguments = ["tile", "explain", program, "--target", "x86-64-avx2", *(f"--dim={n}={s}" for n, s in sizes.items())]
    (kernel,) = json.loads(run(*arguments, "--json", input=text).stdout)["kernels"]
    (phase,) = kernel["phases"]
    assert len(phase["gemms"]) == products
    for gemm in phase["gemms"]:
        rows, columns = gemm["register_tile"]
        assert rows * columns // gemm["lanes"] <= 16 and columns % gemm["lanes"] == 0  # 16 registers
    assert any("panels" in buffer for buffer in phase["buffers"]) == (products > 0)
    assert all(buffer["bytes"] > 0 and "offset" in buffer for buffer in phase["buffers"])
    assert phase["arena_bytes"] <= phase["buffer_bytes"] + 64 * len(phase["buffers"])
    assert any(d.startswith("pipeline at") for d in phase["decisions"]) == (products > 0)
    assert phase["loops"] and all("lanes" in loop and loop["lines"] for loop in phase["loops"]), "all in vectors"
    # Along the rows, where elements lie side by side.
    assert {(loop["axis"], loop["lanes"]) for loop in phase["loops"] if loop["sizes"] == [4, 4096]} <= {(1, 8)}
    assert phase["estimated_seconds"] >= phase["roofline_seconds"] > 0
    launch = kernel["launch"]
    assert launch["tensor_bytes"] == 4 * tensors and launch["sizes"] == sizes
    assert flops is None or launch["flops"] == flops
    assert launch["estimated_seconds"] >= launch["roofline_seconds"] > 0

    written = run(*arguments, input=text).stdout
    for part in ("buffers of a block", "loops", "in vectors of 8", "at the roofline", "a launch with"):
        assert part in written
    assert ("register tiles of" in written) == (products > 0)


def test_explain_shows_shared_memory():
    chain = ROOT / "tests/lit/passes/arena_in_the_compiler.mlir"
    written = run("tile", "explain", chain, "--target", "x86-64-avx2").stdout
    assert "shares memory with b" in written and "saved by sharing" in written


def test_explain_shows_what_outlives_a_block():
    written = run("tile", "explain", "-", "--target", "x86-64-avx2", input=attention()).stdout
    assert "kept for the blocks that follow" in written and "that outlive the block" in written


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
        (["tile", "opt", PRODUCT, "--stop-after", "simplfy"], "did you mean 'simplify'"),
        (["tile", "explain", PRODUCT, "--dim", "Q=3"], "no kernel has a dimension named 'Q'"),
        (["tile", "explain", PRODUCT, "--dim", "M=1", "--dim", "M=2"], "gives M twice"),
        (["tile", "explain", PRODUCT, "--target", "vax"], "vax"),
        (["tile", "verify", PRODUCT, "--dim", "M=-1"], "whole number"),
        (["tile", "verify", PRODUCT, "--kernel", "prodct"], "did you mean 'product'"),
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
