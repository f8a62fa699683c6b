#include "deep_accel/cli/program_file.h"

#include <iostream>
#include <iterator>

#include "deep_accel/base/files.h"

namespace deep_accel::cli {

tile::Program read_program(const std::string& path) {
  if (path != "-") return tile::Program::parse_file(path);
  const std::string text{std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
  return tile::Program::parse(text, "<stdin>");
}

void write_text(const std::string& path, const std::string& text) {
  if (!path.empty() && path != "-") {
    write_file_atomically(path, text.ends_with('\n') ? text : text + "\n");
  } else {
    std::cout << text << (text.ends_with('\n') ? "" : "\n");
  }
}

}  // namespace deep_accel::cli
