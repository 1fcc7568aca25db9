// gridfold version.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "apps/gridfold/output.h"
#include "base/json_writer.h"

namespace gridfold {
namespace {

int version(const Cli& cli) {
  if (cli.format() == OutputFormat::kTable || cli.format() == OutputFormat::kName) {
    std::puts("gridfold " GRIDFOLD_VERSION);
    return kExitOk;
  }
  std::string json;
  JsonWriter(json).begin_object().key("version").string(GRIDFOLD_VERSION).end_object();
  print_item(cli.format(), {json, GRIDFOLD_VERSION});
  return kExitOk;
}

}  // namespace

void add_version_command(Cli& cli) {
  auto* command = cli.root.add_subcommand("version", "print the version of this program");
  command->fallthrough();
  command->callback([&cli] { cli.chosen = [&cli] { return version(cli); }; });
}

}  // namespace gridfold
