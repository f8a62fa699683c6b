// Who touched an element last: the shadow memory in which races are found.
//
// Agents (blocks of a phase, iterations of a map, threads of a block) run in any order. Two touches of one element by
// different agents clash when one of them is a write, unless something (a barrier) puts them in order.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace deep_accel::tile::interpreter {

enum class Touch : uint8_t {
  read,
  write,
  combine,  // tile.combine: iterations of a map may share an element, threads and blocks may not
  atomic
};

enum class Level : uint8_t { grid, threads, map };

struct TouchRecord {
  int32_t agent = -1;
  int32_t stamp = 0;  // the agent's clock then
  uint32_t site = 0;
};

struct Shadow {
  int64_t epoch = -1;  // touches of an earlier epoch are ordered before all of this one
  TouchRecord writer;
  std::array<TouchRecord, 2> readers, updaters;
};

// The shadows of one memory, each level's made when it is first needed.
struct Shadows {
  std::array<std::vector<Shadow>, 3> levels;
  std::vector<Shadow>& of(Level level, size_t cells) {
    std::vector<Shadow>& shadows = levels[static_cast<size_t>(level)];
    if (shadows.empty()) shadows.resize(cells);
    return shadows;
  }
};

// The agents of one level.
struct Agents {
  Level level = Level::grid;
  int64_t epoch = 0;
  int32_t current = -1;  // -1: not inside this level
  int64_t count = 0;
  // Clocks, where some agents are ordered within an epoch: stamps[a] is a's own, knows[t * count + a] is the clock of a
  // up to which (exclusively) t comes after it. Empty: nobody is ordered.
  std::vector<int32_t> stamps, knows;

  bool ordered(const TouchRecord& record) const {
    if (record.agent < 0 || record.agent == current) return true;
    if (knows.empty()) return false;
    const size_t at = static_cast<size_t>(current) * stamps.size() + static_cast<size_t>(record.agent);
    return record.stamp < knows[at];
  }
};

// Records that the current agent touches the element. Gives an earlier touch that clashes, or null.
const TouchRecord* record_touch(Shadow& shadow, const Agents& agents, Touch touch, uint32_t site);

// Puts all of `members` in order: each comes after what the others did so far.
void synchronise(Agents& agents, const std::vector<int32_t>& members, size_t count);

}  // namespace deep_accel::tile::interpreter
