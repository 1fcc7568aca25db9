// gridfold what-if: what would be otherwise if something were changed.
#include "apps/gridfold/what_if.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "apps/gridfold/cli.h"
#include "apps/gridfold/job_source.h"
#include "apps/gridfold/output.h"
#include "apps/gridfold/what_if_text.h"
#include "base/json_writer.h"
#include "base/quote.h"
#include "base/units.h"

namespace gridfold {
namespace {

Error wrong_flag(const char* flag, std::string message, std::string hint) {
  return {ErrorKind::kInvalid, std::move(message), flag, std::move(hint)};
}

Result<void> write_added(JsonWriter& json, const std::string& text) {
  const auto equals = text.rfind('=');
  const auto count =
      equals == std::string::npos ? Result<std::int64_t>(1) : parse_count(text.substr(equals + 1));
  if (!count)
    return wrong_flag("--add-nodes", count.error().message, "write NODE=COUNT, such as n1=2");
  json.begin_object().key("add_nodes").begin_object();
  json.key("count").number(*count).key("like").string(text.substr(0, equals));
  json.end_object().end_object();
  return {};
}

Result<void> write_limit(JsonWriter& json, const std::string& text) {
  const auto equals = text.rfind('=');
  const auto colon = text.rfind(':', equals);
  if (equals == std::string::npos || colon == std::string::npos)
    return wrong_flag("--queue-limit", quote(text) + " is not QUEUE:RESOURCE=AMOUNT",
                      "such as research:gpu=16 or research:memory=unlimited");
  const std::string resource = text.substr(colon + 1, equals - colon - 1);
  const std::string amount = text.substr(equals + 1);
  json.begin_object().key("queue_limit").begin_object();
  json.key("queue").string(text.substr(0, colon)).key("resource").string(resource);
  json.key("limit");
  const auto jobs = parse_count(amount);
  if (resource == "running_jobs" && jobs)
    json.number(*jobs);
  else
    json.string(amount);
  json.end_object().end_object();
  return {};
}

Result<void> write_submitted(JsonWriter& json, const std::string& file) {
  JobSource source;
  source.file = file;
  const auto read = read_source(source, {});
  if (!read) return read.error();
  json.begin_object().key("submit_job").string(read->body).end_object();
  return {};
}

int ask(const Cli& cli, const WhatIfFlags& flags) {
  const auto question = what_if_question(flags, cli.tenant);
  if (!question) return report(question.error());
  return with_client(cli, [&](Client& client) {
    const auto answer = client.what_if(*question);
    if (!answer) return report(answer.error());
    const auto headers = cli.no_headers ? TableHeaders::kLeftOut : TableHeaders::kShown;
    if (cli.format() == OutputFormat::kTable)
      std::fputs(what_if_text(*answer, cli.language(), headers).c_str(), stdout);
    else
      print_item(cli.format(), {answer->json, "what-if"});
    return kExitOk;
  });
}

}  // namespace

Result<std::string> what_if_question(const WhatIfFlags& flags, const std::string& tenant) {
  std::string body;
  JsonWriter json(body);
  json.begin_object().key("changes").begin_array();
  for (const auto& text : flags.add_nodes) {
    if (auto done = write_added(json, text); !done) return done.error();
  }
  for (const auto& node : flags.drain)
    json.begin_object().key("drain_node").string(node).end_object();
  for (const auto& text : flags.queue_limits) {
    if (auto done = write_limit(json, text); !done) return done.error();
  }
  if (!flags.policy.empty()) json.begin_object().key("policy").string(flags.policy).end_object();
  for (const auto& file : flags.submit) {
    if (auto done = write_submitted(json, file); !done) return done.error();
  }
  json.end_array();
  if (!flags.horizon.empty()) json.key("horizon").string(flags.horizon);
  json.key("tenant").string(tenant).end_object();
  return body;
}

void add_what_if_command(Cli& cli) {
  auto* command =
      cli.root.add_subcommand("what-if", "say what would be otherwise if something were changed");
  command->fallthrough();
  const auto flags = std::make_shared<WhatIfFlags>();
  const auto add = [&](const char* name, auto& value, const char* help, const char* type) {
    return command->add_option(name, value, help)->type_name(type)->allow_extra_args(false);
  };
  add("--add-nodes", flags->add_nodes, "so many more nodes like this one", "NODE=COUNT");
  add("--drain", flags->drain, "nothing new starts on this node", "NODE");
  add("--queue-limit", flags->queue_limits, "another limit, such as research:gpu=16",
      "QUEUE:RESOURCE=AMOUNT");
  add("--submit", flags->submit, "the jobs of this file (YAML), or - for stdin", "FILE");
  command->add_option("--policy", flags->policy, "another policy decides")->type_name("NAME");
  command->add_option("--horizon", flags->horizon, "how far to look; 24h by default")
      ->type_name("TIME");
  command->callback([&cli, flags] { cli.chosen = [&cli, flags] { return ask(cli, *flags); }; });
}

}  // namespace gridfold
