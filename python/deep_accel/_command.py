"""The console script ``deepaccel``: runs the program of that name that the package carries."""

import os
import sys


def main() -> None:
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "deepaccel")
    if not os.path.exists(program):
        sys.exit(f"deepaccel: error: {program} is missing; install the package again (pip install .)")
    os.execv(program, ["deepaccel", *sys.argv[1:]])
