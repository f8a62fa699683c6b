"""The kernels of examples/tile: each checks itself against NumPy."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "tile").glob("[0-9]*.py"))


def test_there_are_ten():
    assert len(EXAMPLES) == 10


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_compiled(path, capsys):
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out.endswith(": right\n")


@pytest.mark.parametrize("path", EXAMPLES[:8], ids=lambda p: p.stem)
def test_interpreted(path, monkeypatch, capsys):
    """The same checks, with the interpreter in place of machine code, on small tiles."""
    from deep_accel.tile.kernel import Kernel

    monkeypatch.setattr(Kernel, "__call__", Kernel.interpret)
    module = runpy.run_path(str(path))
    if path.stem == "06_product":
        module["main"].__globals__["product"] = lambda make=module["product"]: make(32, 32, 32)
    module["main"]()
    assert capsys.readouterr().out.endswith(": right\n")
