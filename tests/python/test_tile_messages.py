"""Every message of the tile dialect's verifiers is provoked by a test in tests/lit/tile/verify."""

import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("DEEP_ACCEL_BUILD", ROOT / "build" / "release"))


def literals_of_messages(source: str) -> list[str]:
    """The string literals of each statement that calls emitOpError, adjacent ones joined as the compiler joins them."""
    found = []
    for match in re.finditer(r"emitOpError\(", source):
        pieces = []
        at = end = match.end()
        while source[at] != ";":
            if source[at] == '"':
                literal = re.compile(r'"((?:[^"\\]|\\.)*)"').match(source, at)
                joined = re.fullmatch(r"\s*", source[end:at]) if pieces else None
                text = literal.group(1).replace('\\"', '"')
                if joined:
                    pieces[-1] += text
                else:
                    pieces.append(text)
                at = end = literal.end()
            else:
                at += 1
        found += pieces
    return found


def test_literals_are_found_and_joined():
    source = 'if (x) return op->emitOpError() << "a; b" << n << "c "\n  "d" << (y ? "e" : "f");\n g("h");'
    assert literals_of_messages(source) == ["a; b", "c d", "e", "f"]


def test_every_message_is_provoked():
    produced = ""
    for test in sorted((ROOT / "tests/lit/tile/verify").glob("*.mlir")):
        command = [BUILD / "bin" / "tile-opt", test, "--split-input-file"]
        command += ["--verify-program"] if test.name == "program.mlir" else []
        produced += subprocess.run(command, capture_output=True, text=True, timeout=300).stderr
    silent = []
    for source in sorted((ROOT / "deep_accel/tile/ir").glob("verify_*.cpp")):
        for literal in literals_of_messages(source.read_text()):
            if literal.strip(" ,.;()[]'\"") and literal not in produced:
                silent.append(f"{source.name}: {literal!r}")
    assert not silent, "no test provokes:\n" + "\n".join(silent)
