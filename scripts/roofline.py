"""Draws the roofline of this machine with measured kernels under it.

    roofline.py DEEPACCEL OUTPUT.svg [--kernel TITLE FILE.mlir NAME=SIZE ...] ...

The roof is what `deepaccel info` measured: min(peak, intensity * bandwidth) (Williams, Waterman, Patterson 2009). A
point is a kernel's operations and the bytes of its tensors, as `deepaccel tile explain` counts them, over the time
that `deepaccel tile run` measured. Sizes had better be multiples of the tiles: blocks at an edge count as whole ones.
"""

import argparse
import json
import math
import subprocess
from pathlib import Path

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 860, 520, 80, 30, 60, 70


def deepaccel(program: str, *arguments: str) -> dict:
    return json.loads(subprocess.run([program, *arguments, "--json"], check=True, capture_output=True).stdout)


def measure(program: str, title: str, file: str, *sizes: str) -> tuple[str, float, float]:
    """(title, flop a byte, Gflop/s) of a kernel."""
    dims = [f"--dim={size}" for size in sizes]
    launch = deepaccel(program, "tile", "explain", file, *dims)["kernels"][0]["launch"]
    if launch is None:
        raise SystemExit(f"roofline.py: {title}: the sizes {' '.join(sizes)} do not say how much {file} has to do")
    seconds = deepaccel(program, "tile", "run", file, *dims)["seconds"]["median"]
    return title, launch["flops"] / launch["tensor_bytes"], launch["flops"] / seconds / 1e9


def draw(info: dict, kernels: list[tuple[str, float, float]]) -> str:
    peak, bandwidth = info["peaks"]["f32_gflops_all"], info["peaks"]["gbytes_per_second_all"]["best"]
    low_x, high_x = 0.1, max([1000.0, *(2 * x for _, x, _ in kernels)])
    low_y = min([bandwidth * low_x / 2, *(y / 2 for _, _, y in kernels)])
    high_y = 2 * max([peak, *(y for _, _, y in kernels)])

    def x_of(value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log(value / low_x) / math.log(high_x / low_x)

    def y_of(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * math.log(value / low_y) / math.log(high_y / low_y)

    def text(x: float, y: float, words: str, anchor: str = "middle", size: int = 13, more: str = "") -> str:
        words = words.replace("&", "&amp;").replace("<", "&lt;")
        return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" {more}>{words}</text>'

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" fill="#233">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        text(WIDTH / 2, 30, f"Roofline of {info['name']}, {info['threads']} threads, f32", size=17),
    ]
    for value, place, is_x in [
        *((10.0**e, x_of, True) for e in range(-1, 5)),
        *((10.0**e, y_of, False) for e in range(-2, 6)),
    ]:
        if not (low_x <= value <= high_x if is_x else low_y <= value <= high_y):
            continue
        at = place(value)
        ends = (at, TOP, at, HEIGHT - BOTTOM) if is_x else (LEFT, at, WIDTH - RIGHT, at)
        line = 'x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"'.format(*ends)
        parts.append(f'<line {line} stroke="#dde3e6"/>')
        label = f"{value:g}"
        parts.append(text(at, HEIGHT - BOTTOM + 20, label) if is_x else text(LEFT - 8, at + 4, label, "end"))
    ridge = peak / bandwidth
    roof = [(low_x, bandwidth * low_x), (ridge, peak), (high_x, peak)]
    path = " ".join(f"{x_of(x):.1f},{y_of(y):.1f}" for x, y in roof)
    parts.append(f'<polyline points="{path}" fill="none" stroke="#1f6f8b" stroke-width="3"/>')
    parts.append(text(x_of(high_x) - 6, y_of(peak) - 8, f"peak {peak:.0f} Gflop/s", "end", more='fill="#1f6f8b"'))
    middle = math.sqrt(low_x * ridge)
    x, y = x_of(middle) - 10, y_of(bandwidth * middle)
    parts.append(text(x, y, f"bandwidth {bandwidth:.1f} GB/s", "end", more='fill="#1f6f8b"'))
    # Each point has a number; a list, where no point is ever seen, says what it stands for.
    line = HEIGHT - BOTTOM - 22 * len(kernels)
    for number, (name, intensity, speed) in enumerate(kernels, 1):
        x, y = x_of(intensity), y_of(speed)
        share = 100 * speed / min(peak, bandwidth * intensity)
        for at_x, at_y in ((x, y), (WIDTH / 2, line + 22 * (number - 1))):
            parts.append(f'<circle cx="{at_x:.1f}" cy="{at_y:.1f}" r="9" fill="#c8401c" stroke="white"/>')
            parts.append(text(at_x, at_y + 4, str(number), size=11, more='fill="white"'))
        legend = f"{name}: {speed:.3g} Gflop/s, {share:.0f} % of the roof"
        parts.append(text(WIDTH / 2 + 16, line + 22 * (number - 1) + 4, legend, "start"))
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 20, "arithmetic intensity, flop a byte"))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(text(24, middle, "speed, Gflop/s", more=f'transform="rotate(-90 24 {middle})"'))
    return "\n".join([*parts, "</svg>"]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("deepaccel", help="the command")
    parser.add_argument("output", help="the picture, .svg")
    parser.add_argument(
        "--kernel", nargs="+", action="append", default=[], metavar="PART", help="TITLE FILE NAME=SIZE ..."
    )
    options = parser.parse_args()
    kernels = [measure(options.deepaccel, *kernel) for kernel in options.kernel]
    # After the kernels: a first measurement of the peaks takes a while, and is kept.
    info = deepaccel(options.deepaccel, "info")
    Path(options.output).parent.mkdir(parents=True, exist_ok=True)
    Path(options.output).write_text(draw(info, kernels))
    for title, intensity, speed in kernels:
        print(f"{title:<26}{intensity:8.2f} flop a byte {speed:8.1f} Gflop/s")
    print(f"wrote {options.output}")


if __name__ == "__main__":
    main()
