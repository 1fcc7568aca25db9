#include "apps/gridfold/job_source.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "base/json_writer.h"

namespace gridfold {
namespace {

constexpr std::size_t kMaxFileBytes = 4u << 20;

Result<std::string> read_stream(std::FILE* stream, const std::string& name) {
  std::string text;
  char buffer[65536];
  while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, stream)) {
    text.append(buffer, got);
    if (text.size() <= kMaxFileBytes) continue;
    Error error{ErrorKind::kLimit, name + " is larger than 4 MiB"};
    error.hint = "split it into several batches";
    return error;
  }
  if (std::ferror(stream) != 0) return from_errno(errno, "read " + name);
  return text;
}

Result<std::string> read_job_text(const std::string& file) {
  if (file == "-") return read_stream(stdin, "standard input");
  std::FILE* stream = std::fopen(file.c_str(), "rbe");
  if (!stream) {
    Error error = from_errno(errno, "open " + file);
    error.hint = "to run a command, write it after --: gridfold run -- " + file;
    return error;
  }
  auto text = read_stream(stream, file);
  std::fclose(stream);
  return text;
}

void write_each(JsonWriter& json, const JobSource& source) {
  json.key("each").begin_object();
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) json.key(key).string(value);
  };
  add("cpu", source.cpu);
  add("memory", source.memory);
  add("gpu", source.gpu);
  add("gpu_model", source.gpu_model);
  json.end_object();
}

Result<std::string> write_job(const JobSource& source, const std::vector<std::string>& command) {
  std::string body;
  JsonWriter json(body);
  json.begin_object();
  const auto program = std::filesystem::path(command.front()).filename().string();
  json.key("name").string(source.name.empty() ? program : source.name);
  if (!source.workload_class.empty()) json.key("class").string(source.workload_class);
  if (!source.queue.empty()) json.key("queue").string(source.queue);
  if (source.priority != 0) json.key("priority").number(source.priority);
  json.key("count").number(source.count);
  write_each(json, source);
  json.key("env").begin_object();
  for (const auto& variable : source.environment) {
    const auto equals = variable.find('=');
    if (equals == std::string::npos || equals == 0) {
      Error error = invalid("\"" + variable + "\" is not NAME=VALUE");
      error.field = "--env";
      return error;
    }
    json.key(variable.substr(0, equals)).string(variable.substr(equals + 1));
  }
  json.end_object();
  std::error_code error;
  const auto here = std::filesystem::current_path(error).string();
  json.key("workdir").string(source.workdir.empty() ? here : source.workdir);
  if (!source.time_limit.empty()) json.key("time_limit").string(source.time_limit);
  json.key("run").begin_array();
  for (const auto& word : command) json.string(word);
  json.end_array().end_object();
  return body;
}

Error usage(std::string message) {
  Error error = invalid(std::move(message));
  error.hint = "give a job file, or a command after --: gridfold run --gpu 1 -- python3 train.py";
  return error;
}

bool describes_job(const JobSource& source) {
  for (const auto* text :
       {&source.name, &source.queue, &source.workload_class, &source.cpu, &source.memory,
        &source.gpu, &source.gpu_model, &source.time_limit, &source.workdir})
    if (!text->empty()) return true;
  return !source.environment.empty() || source.count != 1 || source.priority != 0;
}

}  // namespace

std::shared_ptr<JobSource> add_job_source(CLI::App& command) {
  auto source = std::make_shared<JobSource>();
  command.add_option("file", source->file, "job file (YAML, or JSON by its name), or - for stdin");
  command.add_option("--name", source->name, "name of the job")->group("A job from a command");
  command.add_option("--queue", source->queue, "its queue")->group("A job from a command");
  command.add_option("--class", source->workload_class, "train, infer or filler")
      ->group("A job from a command");
  command.add_option("--priority", source->priority, "higher goes first")
      ->group("A job from a command");
  command.add_option("--count", source->count, "so many alike tasks")
      ->group("A job from a command");
  command.add_option("--cpu", source->cpu, "cores a task, such as 2 or 0.5")
      ->group("A job from a command");
  command.add_option("--memory", source->memory, "memory a task, such as 4Gi")
      ->group("A job from a command");
  command.add_option("--gpu", source->gpu, "GPUs a task, or a share such as 0.25")
      ->group("A job from a command");
  command.add_option("--gpu-model", source->gpu_model, "of this model")
      ->group("A job from a command");
  command.add_option("--time-limit", source->time_limit, "such as 36h")
      ->group("A job from a command");
  command.add_option("--env", source->environment, "NAME=VALUE; may be given several times")
      ->group("A job from a command")
      ->allow_extra_args(false);
  command.add_option("--workdir", source->workdir, "working directory; this one by default")
      ->group("A job from a command");
  return source;
}

Result<Submission> read_source(const JobSource& source, const std::vector<std::string>& command) {
  if (source.file.empty() && command.empty()) return usage("no job is given");
  if (!source.file.empty() && !command.empty())
    return usage("both a job file and a command are given");
  Submission submission;
  if (!command.empty()) {
    auto body = write_job(source, command);
    if (!body) return body.error();
    submission.body = std::move(*body);
    submission.content_type = "application/json";
    return submission;
  }
  if (describes_job(source)) return usage("the flags describe a command's job, not a job file's");
  auto text = read_job_text(source.file);
  if (!text) return text.error();
  submission.body = std::move(*text);
  if (source.file.ends_with(".json")) submission.content_type = "application/json";
  return submission;
}

}  // namespace gridfold
