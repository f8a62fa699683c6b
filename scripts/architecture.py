"""Draws docs/images/architecture.svg: the way of a kernel from its program to the workers, and the layers.

    architecture.py [--check]

The passes are those of deep_accel/compile/pipeline.cpp, the layers the folders of deep_accel in the order that
scripts/check_layers.py holds, so that the drawing stays true. --check writes nothing, and fails where it would change.
"""

import re
import sys
from pathlib import Path

from check_layers import LAYERS

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "docs" / "images" / "architecture.svg"

JOBS = {
    "base": "errors, dtypes, shapes, files",
    "trace": "events and counters",
    "runtime": "tensors, memory, workers, kernels, cache; no LLVM",
    "tile": "the tile dialect, the builder, the interpreter",
    "compile": "tile programs to machine code; targets",
    "kernels": "products and other programs of our own",
    "cli": "the command deepaccel",
}
INK, LINE, WARM, COOL, PALE = "#233", "#7d8b94", "#fdf0e7", "#e6f2f5", "#f5f7f8"


def passes() -> dict[str, list[str]]:
    """The names of the passes, for each level of the program that they leave."""
    source = (ROOT / "deep_accel/compile/pipeline.cpp").read_text()
    found: dict[str, list[str]] = {}
    for name, level in re.findall(r'\{"([a-z-]+)",\s*(?:"[^"]*"\s*)+,\s*Level::(\w+)', source):
        found.setdefault(level, []).append(name)
    return found


def layers() -> list[str]:
    return [layer for layer in LAYERS if (ROOT / "deep_accel" / layer).is_dir()]


class Drawing:
    def __init__(self, width: int):
        self.width, self.height, self.parts = width, 0, []

    def text(self, x: float, y: float, words: str, size: int = 13, anchor: str = "middle", more: str = "") -> None:
        words = words.replace("&", "&amp;").replace("<", "&lt;")
        self.parts.append(f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}"{more}>{words}</text>')

    def box(self, x: float, y: float, width: float, height: float, title: str, lines=(), fill: str = COOL) -> None:
        """A box with a bold title and lines under it."""
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" fill="{fill}" stroke="{LINE}"/>'
        )
        top = y + height / 2 - 8 * len(lines) + 5
        self.text(x + width / 2, top, title, more=' font-weight="bold"')
        for number, line in enumerate(lines):
            self.text(x + width / 2, top + 17 * (number + 1), line, size=12)
        self.height = max(self.height, int(y + height))

    def arrow(self, *points: tuple[float, float]) -> None:
        path = " ".join(f"{x},{y}" for x, y in points)
        self.parts.append(
            f'<polyline points="{path}" fill="none" stroke="{INK}" stroke-width="1.4" marker-end="url(#head)"/>'
        )

    def svg(self) -> str:
        head = (
            '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
            f'orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="{INK}"/></marker></defs>'
        )
        size = f'viewBox="0 0 {self.width} {self.height + 16}"'
        opening = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" fill="{INK}">'
        background = f'<rect width="{self.width}" height="{self.height + 16}" fill="white"/>'
        return "\n".join([opening, head, background, *self.parts, "</svg>"]) + "\n"


def draw() -> str:
    d = Drawing(1000)
    # The way of a kernel, from left to right and top to bottom.
    d.text(16, 28, "The way of a kernel", 17, "start")
    for number, (title, line) in enumerate(
        (("Python", "deep_accel.tile"), ("C++", "tile/builder.h"), ("Text", "a .mlir file"))
    ):
        d.box(16 + 112 * number, 46, 100, 48, title, [line], WARM)
        d.arrow((66 + 112 * number, 94), (66 + 112 * number, 118))
    d.box(16, 120, 324, 48, "Program", ["kernels of the tile dialect, with source lines"])
    d.arrow((178, 168), (178, 192))
    known = passes()
    groups = (("tiles", "Passes on tiles"), ("functions", "Functions on vectors"), ("llvm", "LLVM dialect"))
    top = 194
    for level, title in groups:
        height = 36 + 17 * len(known[level])
        d.box(16, top, 324, height, title, known[level], PALE)
        d.arrow((178, top + height), (178, top + height + 22))
        top += height + 24
    d.box(16, top, 324, 48, "LLVM, then lld", ["for the target: an object, or a library"])
    bottom = top + 24

    # On the right of it: what is done with programs and with code.
    d.box(400, 120, 190, 48, "Interpreter", ["double precision, checks all"])
    d.arrow((340, 144), (398, 144))
    d.box(400, 220, 190, 48, "explain", ["decisions, cost, roofline"])
    d.arrow((340, 244), (398, 244))
    d.box(400, bottom - 24, 190, 48, "Object file", ["for any target, ahead of time"])
    d.arrow((340, bottom), (398, bottom))
    d.box(400, bottom - 118, 190, 64, "KernelCache", ["memory, then disk,", "then compile"])
    d.arrow((340, bottom - 10), (370, bottom - 10), (370, bottom - 86), (398, bottom - 86))
    d.box(400, bottom - 202, 190, 48, "Kernel", ["code and its signature"])
    d.arrow((495, bottom - 118), (495, bottom - 152))
    d.box(400, bottom - 302, 190, 66, "launch", ["blocks of each phase on the", "workers, an arena each"], WARM)
    d.arrow((495, bottom - 202), (495, bottom - 236))
    d.arrow((590, 144), (620, 144), (620, bottom - 270), (592, bottom - 270))
    d.text(626, 186, "verify holds the", 11, "start")
    d.text(626, 201, "one against the", 11, "start")
    d.text(626, 216, "other", 11, "start")

    # The layers.
    d.text(740, 28, "The layers of deep_accel/", 17, "start")
    y = 46
    for layer in reversed(layers()):
        d.box(740, y, 244, 60, layer + "/", wrapped(JOBS[layer]), WARM if layer == "cli" else COOL)
        y += 68
    d.text(862, y + 8, "A folder includes only those below it.", 12)
    d.box(740, y + 24, 244, 44, "python/", ["the module deep_accel (nanobind)"], WARM)
    return d.svg()


def wrapped(words: str, width: int = 38) -> list[str]:
    lines = [""]
    for word in words.split():
        if len(lines[-1]) + len(word) + 1 > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def main() -> int:
    check = sys.argv[1:] == ["--check"]
    wanted = draw()
    if not check:
        OUTPUT.parent.mkdir(exist_ok=True)
        OUTPUT.write_text(wanted)
        print(f"wrote {OUTPUT.relative_to(ROOT)}")
        return 0
    current = OUTPUT.is_file() and OUTPUT.read_text() == wanted
    if not current:
        print(f"{OUTPUT.relative_to(ROOT)} is not current: run scripts/docs", file=sys.stderr)
    return 0 if current else 1


if __name__ == "__main__":
    sys.exit(main())
