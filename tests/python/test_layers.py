"""The check of the layers, on this repository and on files that break each of its rules."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("check_layers", ROOT / "scripts" / "check_layers.py")
check_layers = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_layers)


def test_this_repository_keeps_its_layers():
    assert check_layers.check(ROOT) == []


@pytest.mark.parametrize(
    "path, text, message",
    [
        ("base/a.cpp", '#include "deep_accel/runtime/tensor.h"', "runtime is a higher layer"),
        ("runtime/a.h", '  #  include "deep_accel/tile/program.h"', "tile is a higher layer"),
        ("tile/a.cpp", '#include "deep_accel/compile/compiler.h"', "compile is a higher layer"),
        ("runtime/a.cpp", "#include <llvm/ADT/SmallVector.h>", "must not see MLIR or LLVM"),
        ("cli/a.cpp", '#include "mlir/IR/Builders.h"', "must not see MLIR or LLVM"),
        ("tile/a.h", '\n#include "mlir/IR/Builders.h"', "deep_accel/tile/a.h:2: a public header"),
        ("compile/compiler.h", '#include "llvm/ADT/StringRef.h"', "a public header"),
        ("elsewhere/a.h", "", "not in the list of layers"),
        ("cli/a.h", '#include "deep_accel/elsewhere/a.h"', "in no known layer"),
    ],
)
def test_broken_rules_are_found(path, text, message):
    (problem,) = check_layers.problems_of(path, text)
    assert message in problem


@pytest.mark.parametrize(
    "path, text",
    [
        ("tile/ir/a.h", '#include "mlir/IR/Builders.h"'),
        ("compile/passes/a.h", '#include "llvm/ADT/StringRef.h"'),
        ("tile/a.cpp", '#include "mlir/IR/Builders.h"\n#include "deep_accel/runtime/tensor.h"'),
        ("cli/a.cpp", '#include "deep_accel/compile/compiler.h"\n#include <vector>'),
    ],
)
def test_what_is_allowed(path, text):
    assert check_layers.problems_of(path, text) == []
