// How a sub-command joins the `deepaccel` command.
#pragma once

#include <functional>
#include <memory>

namespace CLI {
class App;
}

namespace deep_accel::cli {

// Exit statuses.
inline constexpr int kSuccess = 0;
inline constexpr int kFailure = 1;        // a check did not hold, or something went wrong that is nobody's input
inline constexpr int kBadInput = 2;       // wrong usage, or an input that is malformed or does not fit
inline constexpr int kInterrupted = 130;  // Ctrl-C, as shells count it

// What the command line asked for; returns the exit status, or throws deep_accel::Error.
using Action = std::function<int()>;

// Each declares a sub-command with its options; where the command line chooses it, `action` is set to what it does.
void add_info(CLI::App& parent, Action& action);
void add_cache(CLI::App& parent, Action& action);
void add_tile(CLI::App& parent, Action& action);
void add_tile_run(CLI::App& parent, Action& action);
void add_tile_verify(CLI::App& parent, Action& action);
void add_tile_opt(CLI::App& parent, Action& action);
void add_tile_compile(CLI::App& parent, Action& action);
void add_tile_explain(CLI::App& parent, Action& action);

}  // namespace deep_accel::cli
