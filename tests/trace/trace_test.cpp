// Recording events and counters.
#include "deep_accel/trace/trace.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <thread>

namespace deep_accel::trace {
namespace {

TEST(Trace, RecordsNothingWhenOff) {
  start();
  stop();
  {
    Scope scope("test", "unseen");
  }
  count("test.counter");
  EXPECT_EQ(nlohmann::json::parse(to_json())["traceEvents"].size(), 0u);
  EXPECT_TRUE(counters().empty());
}

TEST(Trace, EventsAndCounters) {
  start();
  {
    Scope outer("test", "outer \"quoted\" \xff");
    std::thread other([] { Scope inner("test", "inner"); });
    other.join();
  }
  count("test.counter", 2);
  count("test.counter");
  stop();
  auto events = nlohmann::json::parse(to_json())["traceEvents"];
  ASSERT_EQ(events.size(), 3u);
  const auto &inner = events[0], &outer = events[1], &counter = events[2];
  EXPECT_EQ(inner["name"], "inner");
  EXPECT_EQ(outer["cat"], "test");
  EXPECT_NE(inner["tid"], outer["tid"]);
  EXPECT_LE(outer["ts"].get<double>(), inner["ts"].get<double>());
  EXPECT_GE(outer["ts"].get<double>() + outer["dur"].get<double>(),
            inner["ts"].get<double>() + inner["dur"].get<double>());
  EXPECT_EQ(counter["args"]["value"], 3);
  EXPECT_EQ(counters().at("test.counter"), 3);
}

}  // namespace
}  // namespace deep_accel::trace
