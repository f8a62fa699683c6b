// The numerics tests, with the switch for the run over every argument.
#include <gtest/gtest.h>

#include <string_view>

#include "samples.h"

bool deep_accel::test::exhaustive = false;

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--exhaustive") deep_accel::test::exhaustive = true;
  }
  return RUN_ALL_TESTS();
}
