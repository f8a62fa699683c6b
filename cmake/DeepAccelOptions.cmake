# Compiler settings that every target of the project shares, and the one function that declares a library.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")

find_program(DEEP_ACCEL_CCACHE ccache)
if(DEEP_ACCEL_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # The three settings let ccache see through precompiled headers and different checkouts of the same tree.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${DEEP_ACCEL_CCACHE})
endif()

add_library(deep_accel_options INTERFACE)
target_include_directories(deep_accel_options INTERFACE "${CMAKE_SOURCE_DIR}" "${CMAKE_BINARY_DIR}")
target_compile_options(deep_accel_options INTERFACE
  -Wall -Wextra -Wpedantic -Werror -Wno-unused-parameter -Wno-gnu-zero-variadic-macro-arguments
  $<$<CXX_COMPILER_ID:Clang>:-Xclang -fno-pch-timestamp>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_link_options(deep_accel_options INTERFACE -fuse-ld=lld)
endif()
if(DEEP_ACCEL_SANITIZE)
  # The dynamic types of objects are not checked, as those that layers without RTTI make have none; nor are the types of
  # functions, as those of compiled kernels have none.
  target_compile_options(deep_accel_options INTERFACE
    -fsanitize=${DEEP_ACCEL_SANITIZE} -fno-sanitize-recover=all -fno-sanitize=vptr,function -fno-omit-frame-pointer -g1)
  target_link_options(deep_accel_options INTERFACE -fsanitize=${DEEP_ACCEL_SANITIZE})
endif()

if(DEEP_ACCEL_FUZZ)
  target_compile_options(deep_accel_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# deep_accel_library(NAME SOURCES ... [DEPENDS ...] [MLIR])
# A static library of one layer. MLIR marks a layer that sees MLIR and LLVM: it is compiled without RTTI, as they are,
# and with their headers precompiled.
function(deep_accel_library name)
  cmake_parse_arguments(ARG "MLIR" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(deep_accel_${name} STATIC ${ARG_SOURCES})
  add_library(deep_accel::${name} ALIAS deep_accel_${name})
  target_link_libraries(deep_accel_${name} PUBLIC deep_accel_options ${ARG_DEPENDS})
  if(ARG_MLIR)
    deep_accel_use_mlir(deep_accel_${name})
  endif()
endfunction()
