"""Checks that the layers of deep_accel/ stand on each other as docs/architecture.md draws them.

A folder includes only itself and the folders before it in LAYERS. The lower layers know nothing of LLVM, and no header
that users include shows a type of MLIR or LLVM.
"""

import re
import sys
from pathlib import Path

LAYERS = [
    "base",
    "trace",
    "runtime",
    "tile",
    "compile",
    "kernels",
    "nn",
    "convert",
    "comm",
    "parallel",
    "train",
    "serve",
    "analyse",
    "studio",
    "hub",
    "compat",
    "cli",
]
# Layers that may see MLIR and LLVM, and where in them headers may show their types.
WITH_MLIR = {"tile", "compile", "nn"}
INTERNAL_HEADERS = (
    "tile/ir/",
    "tile/interpreter/decode.h",
    "tile/interpreter/memory.h",
    "compile/passes/",
    "compile/lower/",
    "compile/machine/",
    "compile/numerics/",
    "compile/target/",
    "compile/explain.h",
    "compile/pipeline.h",
)

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
MLIR_HEADER = re.compile(r"^(mlir|llvm|lld)(-c)?/")


def includes(text: str) -> list[tuple[int, str]]:
    """(line, path) of each #include."""
    return [(text.count("\n", 0, match.start(1)) + 1, match[2]) for match in INCLUDE.finditer(text)]


def problems_of(path: str, text: str) -> list[str]:
    """What is wrong with a file; `path` is relative to deep_accel/."""
    layer, problems = path.split("/")[0], []
    if layer not in LAYERS:
        return [f"{path}: the folder {layer} is not in the list of layers (LAYERS in scripts/check_layers.py)"]
    public = path.endswith(".h") and not path.startswith(INTERNAL_HEADERS)
    for line, included in includes(text):
        where = f"deep_accel/{path}:{line}: "
        if included.startswith("deep_accel/"):
            other = included.split("/")[1]
            if other not in LAYERS:
                problems.append(f"{where}{included} is in no known layer")
            elif LAYERS.index(other) > LAYERS.index(layer):
                problems.append(f"{where}{layer} must not include {included}: {other} is a higher layer")
        elif MLIR_HEADER.match(included):
            if layer not in WITH_MLIR:
                problems.append(f"{where}{layer} must not see MLIR or LLVM, but includes {included}")
            elif public and "mlir_headers.h" not in path:
                problems.append(f"{where}a public header must not show MLIR or LLVM, but includes {included}")
    return problems


def check(root: Path) -> list[str]:
    problems = []
    for path in sorted((root / "deep_accel").rglob("*")):
        if path.suffix in (".h", ".cpp", ".c") and path.parent != root / "deep_accel":
            problems += problems_of(path.relative_to(root / "deep_accel").as_posix(), path.read_text())
    return problems


def main() -> int:
    problems = check(Path(__file__).resolve().parent.parent)
    for problem in problems:
        print(problem, file=sys.stderr)
    if not problems:
        print("layers: each folder includes only itself and the ones below it")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
