// gridfold report effective.
#include <CLI/CLI.hpp>

#include "apps/gridfold/effective_text.h"
#include "apps/gridfold/output.h"

namespace gridfold {
namespace {

int effective(const Cli& cli) {
  return with_client(cli, [&](Client& client) {
    const auto got = client.effective_report();
    if (!got) return report(got.error());
    return print_document(cli, {got->json, "effective"},
                          [&] { return effective_text(*got, cli.language()); });
  });
}

}  // namespace

void add_report_commands(Cli& cli) {
  auto* reports = cli.root.add_subcommand("report", "reports over time");
  reports->require_subcommand(1);
  reports->fallthrough();
  auto* command = reports->add_subcommand(
      "effective",
      "where the device-hours went since the daemon started, each loss with its cause");
  command->fallthrough();
  command->callback([&cli] { cli.chosen = [&cli] { return effective(cli); }; });
}

}  // namespace gridfold
