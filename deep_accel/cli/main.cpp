#include "deep_accel/cli/cli.h"

int main(int argc, char** argv) { return deep_accel::cli::cli_main(argc, argv); }
