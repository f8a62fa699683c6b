# Finds MLIR, LLVM and LLD 19 by Debian's versioned packages, and says how a target uses them.

find_package(MLIR 19.1 REQUIRED CONFIG
  PATHS /usr/lib/llvm-19/lib/cmake/mlir $ENV{LLVM_ROOT}/lib/cmake/mlir)
find_package(LLD 19.1 REQUIRED CONFIG
  PATHS /usr/lib/llvm-19/lib/cmake/lld $ENV{LLVM_ROOT}/lib/cmake/lld)
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
# LLVM's function for TableGen names its dependencies from the top of the build, as this policy had it; otherwise every
# build would run TableGen again. That the old way is old, which newer versions of CMake say, helps nobody here.
set(CMAKE_WARN_DEPRECATED OFF)
cmake_policy(SET CMP0116 OLD)
unset(CMAKE_WARN_DEPRECATED)
include(TableGen)
include(AddLLVM)
include(AddMLIR)

function(deep_accel_use_mlir target)
  target_include_directories(${target} SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  target_compile_definitions(${target} PRIVATE ${LLVM_DEFINITIONS_LIST})
  target_compile_options(${target} PRIVATE -fno-rtti)
  target_link_libraries(${target} PUBLIC MLIR LLVM)
  target_precompile_headers(${target} PRIVATE "${CMAKE_SOURCE_DIR}/deep_accel/tile/ir/mlir_headers.h")
endfunction()
