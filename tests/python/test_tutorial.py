"""The kernels of examples/tile: each checks itself against NumPy."""

import re
import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "tile").glob("[0-9]*.py"))


def test_there_are_ten():
    assert len(EXAMPLES) == 10


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_compiled(path, capsys):
    runpy.run_path(str(path), run_name="__main__")
    checked, measured = capsys.readouterr().out.splitlines()
    assert ": right, " in checked
    assert re.search(r" in [0-9.]+ ms: [0-9.]+ (GB/s|GFLOP/s)", measured)


@pytest.mark.parametrize("path", EXAMPLES[:8], ids=lambda p: p.stem)
def test_interpreted(path, monkeypatch, capsys):
    """The same checks, with the interpreter in place of machine code, on small tiles."""
    from deep_accel.tile.kernel import Kernel

    monkeypatch.setattr(Kernel, "__call__", Kernel.interpret)
    module = runpy.run_path(str(path))
    if path.stem == "06_product":
        module["main"].__globals__["product"] = lambda make=module["product"]: make(32, 32, 32)
    module["main"]()
    assert ": right, " in capsys.readouterr().out
