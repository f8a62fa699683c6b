"""Prints the innermost loop of assembly on standard input that has most of some instructions.

inner_loop.py PATTERN      PATTERN: a regular expression for the instructions that count
"""

import re
import sys

wanted = re.compile(sys.argv[1])
lines = [re.sub(r"\s*(# |//).*", "", line.rstrip()) for line in sys.stdin]
labels = {line[:-1]: i for i, line in enumerate(lines) if re.fullmatch(r"\.L\w+:", line)}
loops = []
for end, line in enumerate(lines):
    branch = re.match(r"\s+(?:j|b|cbn?z|tbn?z)\S*\s.*?(\.L\w+)$", line)
    start = labels.get(branch.group(1), end) if branch else end
    body = lines[start : end + 1]
    if start < end and not any(inner in labels for inner in (text[:-1] for text in body[1:])):
        loops.append((sum(bool(wanted.search(text)) for text in body), body))
if not loops:
    sys.exit("inner_loop: no loop in the assembly")
print("\n".join(max(loops, key=lambda loop: loop[0])[1]))
