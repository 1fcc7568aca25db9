// gridfold doctor: why the grid did less than it could, and what would change it.
#include <CLI/CLI.hpp>

#include "apps/gridfold/doctor_text.h"
#include "apps/gridfold/output.h"

namespace gridfold {
namespace {

int examine(const Cli& cli) {
  return with_client(cli, [&](Client& client) {
    const auto got = client.diagnosis();
    if (!got) return report(got.error());
    return print_document(cli, {got->json, "doctor"},
                          [&] { return doctor_text(*got, cli.language()); });
  });
}

}  // namespace

void add_doctor_command(Cli& cli) {
  auto* command = cli.root.add_subcommand(
      "doctor", "say why devices did less than they could, and what would give it back");
  command->fallthrough();
  command->callback([&cli] { cli.chosen = [&cli] { return examine(cli); }; });
}

}  // namespace gridfold
