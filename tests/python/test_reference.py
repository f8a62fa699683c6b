"""The reference of the dialect: it is what its sources say, and every operation has an example that runs."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DEEPACCEL = Path(os.environ.get("DEEP_ACCEL_BUILD", ROOT / "build" / "release")) / "bin" / "deepaccel"
EXAMPLES = ROOT / "docs" / "examples" / "tile"

sys.path.insert(0, str(ROOT / "scripts"))
import reference  # noqa: E402

OPERATIONS = [op["opName"] for op in reference.operations()]


def deepaccel(*arguments, text=None):
    return subprocess.run([DEEPACCEL, *arguments], input=text, capture_output=True, text=True, timeout=300)


def test_what_scripts_docs_writes_is_current():
    result = subprocess.run([ROOT / "scripts" / "docs", "--check"], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def test_operations_are_those_of_the_sources():
    """What TableGen says, against a plain look at the .td files."""
    sources = "".join(path.read_text() for path in reference.DIALECT.glob("*_ops.td"))
    assert sorted(OPERATIONS) == sorted(re.findall(r"^def Tile_\w+ : Tile_(?:Buffer)?Op<\"(\w+)\"", sources, re.M))


def test_every_operation_has_a_description():
    short = [op["opName"] for op in reference.operations() if len(op["description"].split()) < 8]
    assert not short


def test_examples_and_operations_belong_together():
    assert sorted(path.stem for path in EXAMPLES.glob("*.mlir")) == sorted(OPERATIONS)


@pytest.mark.parametrize("name", OPERATIONS)
def test_example(name):
    path = EXAMPLES / f"{name}.mlir"
    text = path.read_text()
    assert text.startswith("// ") and f"tile.{name}" in text
    result = deepaccel("tile", "verify", path)
    assert result.returncode == 0, result.stdout + result.stderr


# What one pass leaves for the next is no part of a program.
BETWEEN_PASSES = re.compile(r"^ .*tile\.(panels|storage|offset)", re.MULTILINE)


def programs():
    """(name, text) of every sound program in the documentation, the examples and the tests of texts."""
    for folder in ("docs/examples/tile", "examples/tile", "tests/lit"):
        for path in sorted((ROOT / folder).rglob("*.mlir")):
            # Neither those that are to be refused nor templates that a RUN line fills in.
            if path.stem.endswith("_errors") or "RUN: sed" in path.read_text():
                continue
            for number, text in enumerate(path.read_text().split("// -----")):
                if "expected-" not in text and "tile.kernel" in text and not BETWEEN_PASSES.search(text):
                    yield f"{path.relative_to(ROOT)}:{number}", text


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in programs()])
def test_assembly_round_trip(text):
    """What is printed can be read, and is printed the same again."""
    first = deepaccel("tile", "opt", "-", "--parse-only", text=text)
    assert first.returncode == 0, first.stderr
    second = deepaccel("tile", "opt", "-", "--parse-only", text=first.stdout)
    assert (second.returncode, second.stdout) == (0, first.stdout), second.stderr
