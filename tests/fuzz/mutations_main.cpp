// The mutations of the tests for as long as one likes:
//   fuzz-mutations FIRST COUNT EFFORT SECONDS [FOLDER]     EFFORT: read, passes, machine or run
//   fuzz-mutations show NUMBER                             prints one input
//   fuzz-mutations check FILE EFFORT                       what becomes of one text
//   fuzz-mutations bombs EFFORT                            what becomes of each of bombs.cpp, and how long it takes
// Inputs that fail are written to FOLDER, each with what it did in its first line.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>

#include "bombs.h"
#include "examine.h"
#include "mutate.h"
#include "watched.h"

namespace {

using namespace deep_accel::test;

const std::map<std::string, Effort> kEfforts = {
    {"read", Effort::read}, {"passes", Effort::passes}, {"machine", Effort::machine}, {"run", Effort::run}};

int check_file(const std::string& path, Effort effort) {
  std::ifstream file(path);
  const Examined result = examine(std::string{std::istreambuf_iterator<char>(file), {}}, effort);
  std::cout << (result.accepted ? "accepted\n" : "refused\n") << result.refusal << '\n' << result.defect << '\n';
  return result.defect.empty() ? 0 : 1;
}

int try_bombs(Effort effort) {
  Limits limits;
  limits.seconds = 120;
  int failed = 0;
  for (uint64_t number = 0; number < bombs().size(); ++number) {
    const auto start = std::chrono::steady_clock::now();
    const WatchedRun run = run_watched(number, 1, limits, [&](uint64_t at) -> std::string {
      const Examined result = examine(bombs()[at].text(), effort);
      return result.defect.empty() ? "" : result.defect;
    });
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    std::cout << seconds.count() << " s: " << bombs()[number].name;
    for (const Failure& failure : run.failures) std::cout << ": " << failure.what.substr(0, 400), ++failed;
    std::cout << std::endl;
  }
  return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const Mutator mutator(repository_programs());
  if (arguments.size() == 2 && arguments[0] == "show") {
    std::cout << mutator.input(std::stoull(arguments[1]));
    return 0;
  }
  if (arguments.size() == 2 && arguments[0] == "bombs") return try_bombs(kEfforts.at(arguments[1]));
  if (arguments.size() == 3 && arguments[0] == "check") return check_file(arguments[1], kEfforts.at(arguments[2]));
  if (arguments.size() < 4) {
    std::cerr << "usage: fuzz-mutations FIRST COUNT EFFORT SECONDS [FOLDER] | show NUMBER | check FILE EFFORT | "
                 "bombs EFFORT\n";
    return 2;
  }
  Limits limits;
  limits.total_seconds = std::stod(arguments[3]);
  const Effort effort = kEfforts.at(arguments[2]);
  const WatchedRun run = run_watched(std::stoull(arguments[0]), std::stoull(arguments[1]), limits,
                                     [&](uint64_t number) { return examine(mutator.input(number), effort).defect; });
  std::cout << run.done << " inputs, " << run.failures.size() << " failures\n";
  for (const Failure& failure : run.failures) {
    std::cout << failure.input << ": " << failure.what << '\n';
    if (arguments.size() < 5) continue;
    std::filesystem::create_directories(arguments[4]);
    std::string what = failure.what;
    for (char& c : what) c = c == '\n' ? ' ' : c;
    std::ofstream(arguments[4] + "/" + std::to_string(failure.input) + ".mlir") << "// " << what << '\n'
                                                                                << mutator.input(failure.input);
  }
  return run.failures.empty() ? 0 : 1;
}
