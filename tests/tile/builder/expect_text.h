// Checks that pieces stand in a program's text in the order given, and that the text parses to itself.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "deep_accel/tile/program.h"

namespace deep_accel::tile {

inline void expect_in_order(const Program& program, std::initializer_list<const char*> pieces) {
  const std::string text = program.text();
  size_t from = 0;
  for (const char* piece : pieces) {
    const size_t at = text.find(piece, from);
    ASSERT_NE(at, std::string::npos) << "after position " << from << " no '" << piece << "' in\n" << text;
    from = at + 1;
  }
  EXPECT_EQ(Program::parse(text).text(), text);
}

// The message that `body` throws as an E.
template <typename E, typename Body>
std::string message_of(Body&& body) {
  try {
    body();
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another kind of exception: " << error.what();
    return "";
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

}  // namespace deep_accel::tile
