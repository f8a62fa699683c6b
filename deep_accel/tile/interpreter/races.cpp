#include "deep_accel/tile/interpreter/races.h"

#include <algorithm>

namespace deep_accel::tile::interpreter {

namespace {

const TouchRecord* unordered(const Agents& agents, const std::array<TouchRecord, 2>& records) {
  for (const TouchRecord& record : records) {
    if (!agents.ordered(record)) return &record;
  }
  return nullptr;
}

// Two different agents are enough: whoever comes clashes with one of them, or with neither.
void remember(const Agents& agents, std::array<TouchRecord, 2>& records, const TouchRecord& record) {
  for (TouchRecord& known : records) {
    if (agents.ordered(known)) {
      known = record;
      return;
    }
  }
}

}  // namespace

const TouchRecord* record_touch(Shadow& shadow, const Agents& agents, Touch touch, uint32_t site) {
  if (shadow.epoch != agents.epoch) {
    shadow = Shadow{};
    shadow.epoch = agents.epoch;
  }
  const bool in_map = agents.level == Level::map;
  if (touch == Touch::combine && !in_map) touch = Touch::write;
  TouchRecord record{agents.current, 0, site};
  if (!agents.stamps.empty()) record.stamp = agents.stamps[static_cast<size_t>(agents.current)];

  if (!agents.ordered(shadow.writer)) return &shadow.writer;
  switch (touch) {
    case Touch::write:
      if (const TouchRecord* other = unordered(agents, shadow.readers)) return other;
      if (const TouchRecord* other = unordered(agents, shadow.updaters)) return other;
      shadow.writer = record;
      return nullptr;
    case Touch::read:
      // An iteration that reads what another one combines into would see some of the sum.
      if (in_map) {
        if (const TouchRecord* other = unordered(agents, shadow.updaters)) return other;
      }
      remember(agents, shadow.readers, record);
      return nullptr;
    case Touch::combine:
    case Touch::atomic:
      if (in_map) {
        if (const TouchRecord* other = unordered(agents, shadow.readers)) return other;
      }
      remember(agents, shadow.updaters, record);
      return nullptr;
  }
  return nullptr;
}

void synchronise(Agents& agents, const std::vector<int32_t>& members, size_t count) {
  if (agents.stamps.empty()) {
    agents.stamps.assign(count, 0);
    agents.knows.assign(count * count, 0);
  }
  std::vector<int32_t> joint(count, 0);
  for (int32_t member : members) {
    const int32_t* row = agents.knows.data() + static_cast<size_t>(member) * count;
    for (size_t agent = 0; agent < count; ++agent) joint[agent] = std::max(joint[agent], row[agent]);
  }
  for (int32_t member : members) {
    joint[static_cast<size_t>(member)] = ++agents.stamps[static_cast<size_t>(member)];
  }
  for (int32_t member : members) {
    std::copy(joint.begin(), joint.end(),
              agents.knows.begin() + static_cast<int64_t>(member) * static_cast<int64_t>(count));
  }
}

}  // namespace deep_accel::tile::interpreter
