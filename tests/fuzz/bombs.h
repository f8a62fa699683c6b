// Programs that look harmless and are not: small texts that explode, or large ones of a kind that some algorithm takes
// too long for. Each is made to be right as far as its form goes, so that it gets as far as it can.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace deep_accel::test {

struct Bomb {
  std::string name;
  std::function<std::string()> text;
};

const std::vector<Bomb>& bombs();

}  // namespace deep_accel::test
