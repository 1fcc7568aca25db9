#include <string>
#include <vector>

#include "apps/gridfold/cli.h"

int main(int argc, char** argv) {
  return gridfold::run_command_line(std::vector<std::string>(argv + 1, argv + argc));
}
