# Tests of the compiler's texts: each .mlir or .test file says in RUN lines what to run, mostly `deepaccel ... | FileCheck %s`.
# `not` runs a command that must fail, without crashing.
import os
import sys

import lit.formats

config.name = "lit"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.build_root, "tests", "lit")
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.build_root, "bin"), config.llvm_tools, os.environ.get("PATH", "")]
)
config.environment["DEEP_ACCEL_CACHE_DIR"] = os.path.join(config.test_exec_root, "cache")
config.substitutions.append(("%examples", os.path.join(config.source_root, "examples")))
config.substitutions.append(("%inner_loop", f"{sys.executable} {config.source_root}/tests/tools/inner_loop.py"))
