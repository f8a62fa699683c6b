"""Writes docs/reference/tile.md from the dialect's TableGen and the examples of docs/examples/tile.

    reference.py [--check]

Every operation is shown with its summary, syntax and semantics, as the .td files give them, and with its example, as
the tests run it. --check writes nothing, and fails where the file is not what would be written.
"""

import difflib
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).resolve().parent.parent
DIALECT = ROOT / "deep_accel" / "tile" / "ir"
EXAMPLES = ROOT / "docs" / "examples" / "tile"
OUTPUT = ROOT / "docs" / "reference" / "tile.md"

# The groups of operations, in order: each .td file's first line says what it holds.
GROUPS = ["structure_ops.td", "move_ops.td", "compute_ops.td", "thread_ops.td", "check_ops.td"]

# What users write for upstream's kinds of attributes and types.
PLAIN = {
    "string attribute": "text",
    "64-bit signless integer attribute": "number",
    "i64 dense array attribute": "numbers",
    "flat symbol reference attribute": "name of a function",
    "1-bit signless integer": "i1",
    "32-bit signless integer": "i32",
}


INTRODUCTION = """\
Every operation, attribute and type of the tile language's text. [`docs/tilelang.md`](../tilelang.md) introduces the
language, and says how the same is written in Python and C++."""
CONVENTIONS = """\
In the syntax below, what is in backquotes is written as it stands; `$x` is the operand or attribute x, `type($x)` its
type, `attr-dict` further attributes in braces; `( ... )?` may be left out. Every example is a whole program on which
`deepaccel tile verify FILE` holds the compiled kernel against the interpreter."""


@cache
def records() -> dict:
    """What llvm-tblgen knows of the dialect."""
    llvm = Path("/usr/lib/llvm-19")
    command = [llvm / "bin/llvm-tblgen", "--dump-json", "-I", llvm / "include", "-I", DIALECT, DIALECT / "tile_ops.td"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def record(reference: dict) -> dict:
    return records()[reference["def"]]


def is_a(entry: dict, name: str) -> bool:
    return name == entry["!name"] or name in entry["!superclasses"]


def place(entry: dict) -> tuple[str, int]:
    """The file and line of a definition."""
    file, line = entry["!locs"][-1].rsplit(":", 1)
    return Path(file).name, int(line)


def operations() -> list[dict]:
    """Every operation of the dialect, in the order of the .td files."""
    found = [records()[name] for name in records()["!instanceof"]["Op"]]
    own = [op for op in found if op["opDialect"]["def"] == "Tile_Dialect"]
    return sorted(own, key=lambda op: (GROUPS.index(place(op)[0]), place(op)[1]))


def definitions(kind: str) -> list[dict]:
    """The dialect's attributes (AttrDef) or types (TypeDef), in the order of the .td files."""
    found = [records()[name] for name in records()["!instanceof"][kind]]
    return sorted((d for d in found if d["dialect"]["def"] == "Tile_Dialect"), key=place)


def prose(text: str) -> str:
    """A description as Markdown, with names of operations and attributes as links."""
    text = dedent(text.strip("\n")).strip()
    return re.sub(r"`?(#?tile\.[a-z0-9_]+)\b(?![<.(])`?", lambda m: link(m[1]) if m[1] in anchors() else m[0], text)


def link(heading: str) -> str:
    return f"[`{heading}`]({anchors()[heading]})"


@cache
def anchors() -> dict[str, str]:
    """The anchor of each heading; of equal ones the later get a number."""
    headings = [f"tile.{op['opName']}" for op in operations()]
    headings += [f"#{attribute['attrName']}" for attribute in definitions("AttrDef")]
    headings += [f"!{kind['typeName']}" for kind in definitions("TypeDef")]
    found: dict[str, str] = {}
    for heading in headings:
        anchor = "#" + re.sub(r"[^a-z0-9_]", "", heading.lower())
        again = sum(known == anchor or known.startswith(anchor + "-") for known in found.values())
        found[heading] = f"{anchor}-{again}" if again else anchor
    return found


def sentence(summary: str) -> str:
    return prose(summary[0].upper() + summary[1:]) + "."


def enumerants(attribute: dict) -> str:
    return ", ".join(f"`{record(case)['str']}`" for case in record(attribute["enum"])["enumerants"])


def attribute_row(name: str, attribute: dict) -> tuple[str, str, str]:
    if is_a(attribute, "UnitAttr"):
        return name, "flag", ""
    kind, default = "attribute", attribute.get("defaultValue")
    if is_a(attribute, "DefaultValuedAttr"):
        kind = f"attribute, default {default.split('::')[-1].strip('{}') or 'none'}"
    elif attribute["isOptional"]:
        kind = "optional attribute"
    inner = attribute
    while inner.get("baseAttr"):
        inner = record(inner["baseAttr"])
    if is_a(inner, "EnumAttr"):
        return name, kind, f"{link('#' + inner['attrName'])}: {enumerants(inner)}"
    if inner.get("attrName"):
        return name, kind, link("#" + inner["attrName"])
    return name, kind, PLAIN.get(inner["summary"], inner["summary"])


def operand_row(name: str, operand: dict, kind: str) -> tuple[str, str, str]:
    effects = []
    if is_a(operand, "Arg") or is_a(operand, "Res"):
        effects = [record(effect)["effect"].split("::")[-1] for effect in operand["decorators"] if "def" in effect]
        operand = record(operand["constraint"])
    if effects and kind == "operand":
        kind += ", " + " and ".join({"Read": "read", "Write": "written"}[effect] for effect in effects)
    if is_a(operand, "Variadic"):
        kind, operand = kind.replace("operand", "operands"), record(operand["baseType"])
    elif is_a(operand, "Optional"):
        kind, operand = "optional " + kind, record(operand["baseType"])
    summary = operand["summary"]
    if is_a(operand, "TypeDef"):
        summary = link("!" + operand["typeName"])
    return name, kind, PLAIN.get(summary, summary)


def rows(op: dict) -> list[tuple[str, str, str]]:
    """(name, what it is to the operation, its type) of operands, attributes and results."""
    found = []
    for reference, name in op["arguments"]["args"]:
        argument = record(reference)
        is_attribute = is_a(argument, "Attr")
        found.append(attribute_row(name, argument) if is_attribute else operand_row(name, argument, "operand"))
    return found + [operand_row(name, record(r), "result") for r, name in op["results"]["args"]]


def operation(op: dict) -> list[str]:
    name = f"tile.{op['opName']}"
    lines = [f"### `{name}`", sentence(op["summary"])]
    if op["assemblyFormat"]:
        syntax = "\n    ".join(line.strip() for line in op["assemblyFormat"].strip().splitlines())
        results = ", ".join(f"%{name}" for _, name in op["results"]["args"])
        lines.append(f"```\n{results + ' = ' if results else ''}{name} {syntax}\n```")
    lines.append(prose(op["description"]))
    # Those whose syntax is written by hand say in their description what they take.
    if op["assemblyFormat"] and rows(op):
        table = ["| | | |", "|---|---|---|", *(f"| `{name}` | {kind} | {what} |" for name, kind, what in rows(op))]
        lines.append("\n".join(table))
    example = EXAMPLES / f"{op['opName']}.mlir"
    lines.append(f"Example, [`{example.relative_to(ROOT)}`](../examples/tile/{example.name}):")
    lines.append(f"```mlir\n{example.read_text().strip()}\n```")
    return lines


def definition(entry: dict, sigil: str) -> list[str]:
    name = sigil + (entry.get("attrName") or entry["typeName"])
    lines = [f"### `{name}`", sentence(entry["summary"])]
    if entry.get("enum"):
        lines.append(f"One of {enumerants(entry)}.")
    return [*lines, prose(entry["description"])]


def group_heading(file: str) -> str:
    """From the file's first line, "// Moves: between global memory and tiles, ..."."""
    title, _, what = (DIALECT / file).read_text().splitlines()[0].removeprefix("// ").partition(": ")
    return f"## {title}\n\n{what[0].upper() + what[1:]}"


def contents(ops: list[dict]) -> str:
    lines = ["| | |", "|---|---|"]
    for file in GROUPS:
        heading = group_heading(file).splitlines()[0].removeprefix("## ")
        lines.append(f"| {heading} | {', '.join(link('tile.' + op['opName']) for op in ops if place(op)[0] == file)} |")
    for heading, kind, sigil in (("Attributes", "AttrDef", "#"), ("Types", "TypeDef", "!")):
        names = [sigil + (d.get("attrName") or d["typeName"]) for d in definitions(kind)]
        lines.append(f"| {heading} | {', '.join(map(link, names))} |")
    return "\n".join(lines)


def reference() -> str:
    """The whole page."""
    ops = operations()
    without = [op["opName"] for op in ops if not (EXAMPLES / f"{op['opName']}.mlir").is_file()]
    if without:
        raise SystemExit(f"reference.py: operations without an example in {EXAMPLES}: {', '.join(without)}")
    dialect = records()["Tile_Dialect"]
    parts = [
        "# The `tile` dialect",
        "<!-- Written by scripts/docs from deep_accel/tile/ir/*.td and docs/examples/tile. Change those. -->",
        INTRODUCTION,
        prose(dialect["description"]),
        CONVENTIONS,
        contents(ops),
    ]
    for file in GROUPS:
        parts.append(group_heading(file))
        for op in ops:
            if place(op)[0] == file:
                parts += operation(op)
    for heading, kind, sigil in (("Attributes", "AttrDef", "#"), ("Types", "TypeDef", "!")):
        parts.append(f"## {heading}")
        for entry in definitions(kind):
            parts += definition(entry, sigil)
    return "\n\n".join(parts) + "\n"


def main() -> int:
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        print(__doc__)
        return 0 if sys.argv[1] in ("-h", "--help") else 2
    wanted = reference()
    if not check:
        OUTPUT.parent.mkdir(exist_ok=True)
        OUTPUT.write_text(wanted)
        print(f"wrote {OUTPUT.relative_to(ROOT)}")
        return 0
    found = OUTPUT.read_text() if OUTPUT.is_file() else ""
    name = str(OUTPUT.relative_to(ROOT))
    sys.stdout.writelines(difflib.unified_diff(found.splitlines(True), wanted.splitlines(True), name, "as written now"))
    if found != wanted:
        print("docs: run scripts/docs", file=sys.stderr)
    return 0 if found == wanted else 1


if __name__ == "__main__":
    sys.exit(main())
