"""Prints "PASSED FAILED": how many tests some reports in JUnit's format count.

With --programs the first report is ctest's: its tests are programs, and those that wrote a report of their own (one of
the others, of the same name) are counted by that one.
"""

import sys
import xml.etree.ElementTree as xml
from pathlib import Path


def count(suite: xml.Element) -> tuple[int, int]:
    """Tests that passed and that failed in one <testsuite> or <testsuites> element."""
    cases = list(suite.iter("testcase"))
    failed = sum(1 for case in cases if case.find("failure") is not None or case.find("error") is not None)
    skipped = sum(1 for case in cases if case.find("skipped") is not None or case.get("status") == "notrun")
    return len(cases) - failed - skipped, failed


def main(arguments: list[str]) -> None:
    passed = failed = 0
    with_programs = arguments[:1] == ["--programs"]
    paths = [Path(argument) for argument in arguments[with_programs:]]
    programs = paths.pop(0) if with_programs else None
    for path in paths:
        more_passed, more_failed = count(xml.parse(path).getroot())
        passed += more_passed
        failed += more_failed
    if programs:
        reported = {path.stem.removeprefix("test_") for path in paths if path.exists()}
        for case in xml.parse(programs).getroot().iter("testcase"):
            failure = case.find("failure") is not None or case.get("status") == "fail"
            if case.get("name") not in reported:
                passed += not failure
                failed += failure
            elif failure and failed == 0:
                failed += 1  # it failed after its last case, or wrote its report and crashed
    print(passed, failed)


if __name__ == "__main__":
    main(sys.argv[1:])
