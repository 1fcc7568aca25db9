// gridfold job explain: every reason why a job does not run, with numbers; of
// one that was started, why it lies where it does.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "apps/gridfold/class_text.h"
#include "apps/gridfold/communication_text.h"
#include "apps/gridfold/job_output.h"
#include "apps/gridfold/placement_text.h"
#include "apps/gridfold/start_text.h"

namespace gridfold {
namespace {

std::string explanation(const ExplainView& explain, Language language) {
  const auto& job = explain.job;
  std::string text = "job " + std::to_string(job.number) + " (" + job.name + ") is " +
                     coloured(job.state, colour_of_state(job.state)) + "\n";
  if (job.class_from) {
    text += (language == Language::kChinese ? "  类别 " : "  class ") + class_text(job, language) +
            "\n";
  }
  for (const auto& reason : explain.reasons) {
    text += "  " + reason_sentence(reason, language);
    if (reason.never)
      text += language == Language::kChinese ? "（等待不会改变这一点）"
                                             : " No waiting will change this.";
    text += coloured("  [" + reason.code + "]", Colour::kDim) + "\n";
  }
  if (explain.communication) text += communication_text(*explain.communication, language);
  text += limits_text(explain.limits, language);
  text += start_text(explain, wall_clock_now(), language);
  if (explain.placement) text += placement_text(*explain.placement, wall_clock_now(), language);
  return text;
}

int explain(const Cli& cli, const std::string& reference) {
  return with_client(cli, [&](Client& client) {
    const auto explained = client.explain(reference);
    if (!explained) return report(explained.error());
    if (cli.format() == OutputFormat::kTable)
      std::fputs(explanation(*explained, cli.language()).c_str(), stdout);
    else
      print_item(cli.format(), {explained->json, explained->job.id});
    return kExitOk;
  });
}

}  // namespace

void add_job_explain_command(Cli& cli, CLI::App& job) {
  auto* command = job.add_subcommand("explain", "say why a job is where it is");
  command->fallthrough();
  const auto reference = std::make_shared<std::string>();
  command->add_option("job", *reference, "number, id or name")->required();
  command->callback(
      [&cli, reference] { cli.chosen = [&cli, reference] { return explain(cli, *reference); }; });
}

}  // namespace gridfold
