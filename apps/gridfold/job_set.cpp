// gridfold job set JOB KEY=VALUE...: other values for what was submitted.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "apps/gridfold/class_text.h"
#include "apps/gridfold/job_output.h"
#include "base/json_writer.h"
#include "base/quote.h"

namespace gridfold {
namespace {

bool is_number(const std::string& text) {
  return !text.empty() && text.size() < 19 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// {"class": "infer", "array_limit": 4}; what the keys may be is the daemon's to say.
Result<std::string> to_body(const std::vector<std::string>& settings) {
  std::string body;
  JsonWriter json(body);
  json.begin_object();
  for (const std::string& setting : settings) {
    const auto sign = setting.find('=');
    if (sign == std::string::npos || sign == 0) {
      Error error = invalid(quote(setting) + " is not KEY=VALUE");
      error.hint = "write class=infer, or array_limit=4";
      return error;
    }
    const std::string value = setting.substr(sign + 1);
    json.key(setting.substr(0, sign));
    is_number(value) ? json.raw(value) : json.string(value);
  }
  json.end_object();
  return body;
}

int set(const Cli& cli, const std::string& reference, const std::vector<std::string>& settings) {
  const auto body = to_body(settings);
  if (!body) return report(body.error());
  return with_client(cli, [&](Client& client) {
    const auto job = client.change(reference, *body);
    if (!job) return report(job.error());
    if (cli.format() != OutputFormat::kTable) {
      print_item(cli.format(), {job->json, job->id});
    } else if (!cli.quiet) {
      const std::string limit =
          job->array_limit > 0 ? ", at most " + std::to_string(job->array_limit) + " of its array"
                               : "";
      std::fprintf(stderr, "job %llu (%s): class %s%s\n",
                   static_cast<unsigned long long>(job->number), job->name.c_str(),
                   class_text(*job, cli.language()).c_str(), limit.c_str());
    }
    return kExitOk;
  });
}

}  // namespace

void add_job_set_command(Cli& cli, CLI::App& job) {
  auto* command = job.add_subcommand("set", "change the class of a job, or the limit of its array");
  command->fallthrough();
  const auto reference = std::make_shared<std::string>();
  const auto settings = std::make_shared<std::vector<std::string>>();
  command->add_option("job", *reference, "number, id or name")->required();
  command->add_option("settings", *settings, "class=train|infer|filler, array_limit=N|none")
      ->required();
  command->callback([&cli, reference, settings] {
    cli.chosen = [&cli, reference, settings] { return set(cli, *reference, *settings); };
  });
}

}  // namespace gridfold
