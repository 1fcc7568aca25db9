// The one binary. What must start fast or runs without the commands' flags is
// told apart by its first word, before anything else is set up.
#include <string>
#include <string_view>
#include <vector>

#include "apps/gridfold/cli.h"
#include "backends/local/shim_main.h"

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "shim")
    return gridfold::local::shim_main(argc, argv);
  return gridfold::run_command_line(std::vector<std::string>(argv + 1, argv + argc));
}
