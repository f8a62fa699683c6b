"""What README.md and docs/tilelang.md show is what runs: commands, Python, C++, and the names of the table."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("DEEP_ACCEL_BUILD", ROOT / "build" / "release"))
PAGES = ("README.md", "docs/tilelang.md")
# Commands that install, build or run for minutes. scripts/test is what runs this test.
NOT_HERE = ("scripts/demo", "scripts/test", "scripts/bench", "scripts/bootstrap", "pip install", "git clone", "cmake ")


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / page).read_text(), re.M | re.S)


def commands():
    """The lines of the README's sh blocks, in order; one that ends in a backslash goes on in the next."""
    lines = "".join(blocks("README.md", "sh")).replace("\\\n", " ").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


def test_commands_of_the_readme(tmp_path):
    """Each in turn, in a folder that looks like the repository, as a stranger would."""
    for entry in ROOT.iterdir():
        if entry.name not in ("build", "out", ".git"):
            (tmp_path / entry.name).symlink_to(entry)
    (tmp_path / "build").mkdir()
    (tmp_path / "out").mkdir()  # as the demo leaves it
    (tmp_path / "build" / "release").symlink_to(BUILD)
    environment = {**os.environ, "DEEP_ACCEL_CACHE_DIR": str(tmp_path / "cache")}
    environment.pop("PYTHONPATH", None)
    script, ran = ["set -e"], 0
    for command in commands():
        if command.startswith(NOT_HERE):
            continue
        script += [f"echo {shlex.quote('running: ' + command)} >&2", command]
        ran += 1
    assert ran >= 10
    result = subprocess.run(
        ["bash", "-o", "pipefail", "-c", "\n".join(script)], cwd=tmp_path, env=environment, capture_output=True,
        text=True, timeout=600,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("page", PAGES)
def test_python(page):
    """The blocks of a page, one after the other."""
    found = blocks(page, "python")
    assert found
    # inspect.getsource wants a file.
    program = "\n\n".join(found)
    result = subprocess.run(
        [sys.executable, "-c", f"import runpy, tempfile, pathlib; f = pathlib.Path(tempfile.mkdtemp()) / 'page.py'; "
         f"f.write_text({program!r}); runpy.run_path(str(f))"],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr


def test_cpp():
    """Stands in the example that the build compiles and ctest runs."""
    source = (ROOT / "examples/tile/gemm.cpp").read_text()
    for block in blocks("docs/tilelang.md", "cpp"):
        assert block in source


def test_sample_of_explain():
    """The page's sample has the parts that the command prints today, for the same command."""
    text = (ROOT / "docs/tilelang.md").read_text()
    command, sample = re.search(r"^```\n\$ deepaccel (tile explain [^\n]*)\n(.*?)^```$", text, re.M | re.S).groups()
    printed = subprocess.run([BUILD / "bin/deepaccel", *command.split()], cwd=ROOT, capture_output=True, text=True)
    assert printed.returncode == 0, printed.stderr

    def parts(of):
        return {line.strip() for line in of.splitlines() if re.fullmatch(r" *[a-z ]+", line)}

    assert parts(sample) == parts(printed.stdout) >= {"products", "buffers of a block", "loops", "decisions"}
    report = json.loads(
        subprocess.run([BUILD / "bin/deepaccel", *command.split(), "--json"], cwd=ROOT, capture_output=True).stdout
    )
    members = text.split("has these members:")[1]
    (kernel,) = report["kernels"]
    for name in (*report, *kernel, *kernel["phases"][0]):
        assert f"`{name}`" in members, name


def spans(page):
    return re.findall(r"`([^`\n]+)`", (ROOT / page).read_text())


def table():
    """The rows of the table of constructs: (published, Python, C++, text)."""
    text = (ROOT / "docs/tilelang.md").read_text().split("## Every construct, in each face")[1].split("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    assert all(len(row) == 4 for row in rows), "a row has not four columns"
    return rows[2:]


def test_names_of_the_python_face_exist():
    """Those of the second column, and of the first where the second says that it is the same."""
    import deep_accel.tile as T

    missing = set()
    for published, python, _, _ in table():
        cells = [python] + ([published] if python.startswith("the same") else [])
        for cell in cells:
            missing |= {n for n in re.findall(r"\bT\.([A-Za-z_][A-Za-z_0-9]*)", cell) if not hasattr(T, n)}
    text = (ROOT / "docs/tilelang.md").read_text().split("## Every construct")[0]
    missing |= {n for n in re.findall(r"\bT\.([A-Za-z_][A-Za-z_0-9]*)", text) if not hasattr(T, n)}
    assert missing == {"loop_break"}  # no function: the statement becomes a break where the kernel is read


def test_names_of_the_builder_exist():
    header = "".join((ROOT / "deep_accel/tile" / name).read_text() for name in ("builder.h", "scalar.h", "buffer.h"))
    missing = set()
    for _, _, cpp, _ in table():
        missing |= {n for n in re.findall(r"\bb\.([a-z_0-9]+)", cpp) if not re.search(rf"\b{n}\(", header)}
    assert not missing


def test_operations_exist():
    reference = (ROOT / "docs/reference/tile.md").read_text()
    known = set(re.findall(r"^### `[#!]?(tile\.[a-zA-Z0-9_]+)`$", reference, re.M))
    used = {n for page in PAGES for span in spans(page) for n in re.findall(r"(?<![\w.])tile\.[a-zA-Z0-9_]+", span)}
    attributes = {"tile.dims", "tile.name", "tile.role", "tile.sizes"}
    assert used - known - attributes - {"tile.md"} == set()


def test_the_architecture_names_every_pass():
    listed = subprocess.run([BUILD / "bin/deepaccel", "tile", "opt", "--list"], capture_output=True, text=True).stdout
    passes = [line.split()[0] for line in listed.splitlines()]
    text = (ROOT / "docs/architecture.md").read_text()
    assert re.findall(r"\*\*([a-z-]+)\*\*", text) == passes
    drawing = (ROOT / "docs/images/architecture.svg").read_text()
    assert all(f">{name}</text>" in drawing for name in passes)


@pytest.mark.parametrize("page", [*PAGES, "docs/architecture.md", "docs/performance.md", "docs/reference/tile.md"])
def test_links_lead_somewhere(page):
    text = (ROOT / page).read_text()
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if "://" not in target:
            assert (ROOT / page).parent.joinpath(target).exists(), target
    headings = {
        re.sub(r"[^\w\- ]", "", h.lower()).strip().replace(" ", "-") for h in re.findall(r"^#+ (.*)$", text, re.M)
    }
    for anchor in re.findall(r"\]\(#([^)]*)\)", text):
        assert re.sub(r"-\d+$", "", anchor) in headings, anchor
