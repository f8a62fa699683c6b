"""Draws the roofline of this machine with measured kernels under it: roofline.py DEEPACCEL OUTPUT.svg

The roof is what `deepaccel info` measured: min(peak, intensity * bandwidth) (Williams, Waterman, Patterson 2009). A
point is a kernel's operations and bytes over the time that `deepaccel tile run` measured.
"""

import json
import math
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "tile"
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 860, 520, 80, 30, 60, 70


def deepaccel(program: str, *arguments: str) -> dict:
    return json.loads(subprocess.run([program, *arguments, "--json"], check=True, capture_output=True).stdout)


def points(program: str) -> list[tuple[str, float, float]]:
    """(name, flop a byte, Gflop/s) of each kernel."""
    found = []
    for size in (256, 1024, 2048):
        dims = [f"--dim={name}={size}" for name in "MNK"]
        run = deepaccel(program, "tile", "run", str(EXAMPLES / "product.mlir"), *dims)
        flops, moved = 2.0 * size**3, 3 * 4.0 * size**2
        found.append((f"product {size}", flops / moved, flops / run["seconds"]["median"] / 1e9))
    run = deepaccel(program, "tile", "run", str(EXAMPLES / "softmax.mlir"), "--dim=M=4096")
    elements = 4096.0 * 4096
    # Maximum, subtraction, exponential (as one), sum, scaling: five operations an element, read and written once.
    found.append(("softmax 4096", 5 / 8, 5 * elements / run["seconds"]["median"] / 1e9))
    return found


def draw(info: dict, kernels: list[tuple[str, float, float]]) -> str:
    peak, bandwidth = info["peaks"]["f32_gflops_all"], info["peaks"]["gbytes_per_second_all"]["best"]
    low_x, high_x = 0.1, max(1000.0, 2 * max(x for _, x, _ in kernels))
    low_y = min([bandwidth * low_x, *(y / 2 for _, _, y in kernels)])
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
    x, y = x_of(low_x) + 14, y_of(bandwidth * low_x) - 26
    parts.append(text(x, y, f"bandwidth {bandwidth:.1f} GB/s", "start", more='fill="#1f6f8b"'))
    for name, intensity, speed in kernels:
        x, y = x_of(intensity), y_of(speed)
        share = 100 * speed / min(peak, bandwidth * intensity)
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="#e4572e" stroke="white" stroke-width="1.5"/>')
        parts.append(text(x, y + 22, f"{name}: {share:.0f} %", size=12))
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 20, "arithmetic intensity, flop a byte"))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(text(24, middle, "speed, Gflop/s", more=f'transform="rotate(-90 24 {middle})"'))
    return "\n".join([*parts, "</svg>"]) + "\n"


def main() -> None:
    program, output = sys.argv[1:]
    info = deepaccel(program, "info")
    kernels = points(program)
    Path(output).parent.mkdir(parents=True, exist_ok=True)
    Path(output).write_text(draw(info, kernels))
    for name, intensity, speed in kernels:
        print(f"{name:<14}{intensity:8.2f} flop a byte {speed:8.1f} Gflop/s")
    print(f"wrote {output}")


if __name__ == "__main__":
    main()
