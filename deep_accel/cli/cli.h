// The `deepaccel` command.
#pragma once

namespace deep_accel::cli {

// Everything that main() does: parses the arguments, runs the sub-command, prints errors as "deepaccel: error: ...".
// Returns the exit status: 0 success, 1 a failed check or an internal failure, 2 bad usage or input, 130 interrupted.
int cli_main(int argc, const char* const* argv);

}  // namespace deep_accel::cli
