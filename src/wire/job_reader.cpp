#include "wire/job_reader.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/quote.h"
#include "model/job_class.h"
#include "wire/array_reader.h"
#include "wire/communication_reader.h"
#include "wire/files_reader.h"
#include "wire/job_file.h"
#include "wire/job_keys.h"
#include "wire/role_reader.h"
#include "wire/topology_reader.h"
#include "wire/training_reader.h"

namespace gridfold {
namespace {

constexpr std::int64_t kMaxPriority = 1'000'000'000;
// Longer than any job, and short enough that no sum with the time of day
// leaves the range of an Instant.
constexpr Duration kLongestBackoff = Duration::minutes(5);

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}
bool is_word(std::string_view text) {
  return !text.empty() && is_letter_or_digit(text[0]) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return is_letter_or_digit(c) || c == '.' || c == '-' || c == '_';
         });
}
bool is_all_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}
// "8f14e45f-ceea-…": the look of an id, which a name must not have.
bool looks_like_uid(std::string_view text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    const char c = text[i];
    const bool hex = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
    if (dash ? c != '-' : !hex) return false;
  }
  return true;
}

// "sweep[3]" without its index.
std::string_view without_index(std::string_view name) {
  const auto bracket = name.find('[');
  if (bracket == std::string_view::npos || !name.ends_with(']')) return name;
  return is_all_digits(name.substr(bracket + 1, name.size() - bracket - 2))
             ? name.substr(0, bracket)
             : name;
}

std::string read_name(const Field& job, JobForm form) {
  const auto field = job.find("name");
  if (!field) {
    job.fail("name is missing", "add a name, such as name: my-job");
    return {};
  }
  std::string name =
      field->node().kind == DocumentNode::Kind::kNumber ? read_scalar(*field) : read_text(*field);
  const std::string_view base = form == JobForm::kStored ? without_index(name) : name;
  if (is_all_digits(base) || looks_like_uid(base)) {
    field->fail(quote(name) + " could be taken for an id", "put a word into the name");
  } else if (!is_word(base) || base.size() > 128) {
    field->fail(quote(name) + " is not a name of a job",
                "use letters, digits, . - and _, at most 128, and begin with a letter or digit");
  }
  return name;
}

std::string read_path_of_words(const Field& field, std::string_view what) {
  std::string text = read_text(field);
  std::string_view rest = text;
  bool ok = text.size() <= 256;
  for (bool more = true; more && ok;) {
    const auto slash = rest.find('/');
    ok = is_word(rest.substr(0, slash));
    more = slash != std::string_view::npos;
    rest.remove_prefix(more ? slash + 1 : rest.size());
  }
  if (!ok)
    field.fail(quote(text) + " is not a name of a " + std::string(what),
               "write words of letters, digits, . - and _ joined by /, such as research/llm");
  return text;
}

std::string read_workdir(const Field& field) {
  std::string path = read_text(field);
  if (!path.starts_with('/'))
    field.fail(quote(path) + " is not an absolute path",
               "begin with /, or remove the key for a directory of the job's own");
  return path;
}

std::string read_signal(const Field& field) {
  if (field.node().text.starts_with("SIG"))
    field.fail(quote(field.node().text) + " is not a signal", "write it without SIG, such as TERM");
  return std::string(kSignals[read_word(field, kSignals)]);
}

Retry read_retry(const Field& field) {
  static constexpr std::array kCauses = {RetryCause::kFailure, RetryCause::kNodeLost,
                                         RetryCause::kOutOfMemory};
  Retry retry;
  if (!check_map(field, kRetryKeys)) return retry;
  if (const auto max = field.find("max"))
    retry.max = static_cast<std::int32_t>(read_integer(*max, 0, 1'000'000));
  else
    field.fail("max is missing", "say how often a task may be restarted");
  if (const auto backoff = field.find("backoff"))
    retry.backoff = read_duration(*backoff, Duration{}, kLongestBackoff);
  if (const auto on = field.find("on")) {
    std::array<std::string_view, kCauses.size()> words;
    std::transform(kCauses.begin(), kCauses.end(), words.begin(),
                   [](RetryCause cause) { return to_string(cause); });
    retry.on =
        read_list_or_one(*on, [&](const Field& word) { return kCauses[read_word(word, words)]; });
  }
  return retry;
}

DependencyCondition read_condition(const Field& field) {
  static constexpr std::array kConditions = {DependencyCondition::kOk, DependencyCondition::kAny,
                                             DependencyCondition::kFailed};
  std::array<std::string_view, kConditions.size()> words;
  std::transform(kConditions.begin(), kConditions.end(), words.begin(),
                 [](DependencyCondition condition) { return to_string(condition); });
  return kConditions[read_word(field, words)];
}

void add_edge(const Field& place, std::string job, DependencyCondition condition,
              JobTemplate& out) {
  const bool named = is_word(without_index(job)) && job.size() <= 160;
  if (!named) place.fail(quote(job) + " is not a name or id of a job", "write the name of a job");
  out.spec.after.push_back({std::move(job), condition});
  out.edge_places.push_back({place.node().position, place.path()});
}

// A name or a number: an id may be one.
std::string read_job_reference(const Field& field) {
  return field.node().kind == DocumentNode::Kind::kNumber ? read_scalar(field) : read_text(field);
}

// One entry of a list: a name, or {job: name, on: condition}.
void read_edge(const Field& field, JobTemplate& out) {
  if (!field.is_map()) {
    add_edge(field, read_job_reference(field), DependencyCondition::kOk, out);
    return;
  }
  if (!check_map(field, kDependencyKeys)) return;
  const auto job = field.find("job");
  if (!job) {
    field.fail("job is missing", "write {job: name, on: ok}");
    return;
  }
  const auto on = field.find("on");
  add_edge(*job, read_job_reference(*job), on ? read_condition(*on) : DependencyCondition::kOk,
           out);
}

// `prep`, or [prep, {job: eval, on: any}], or {prep: ok, eval: failed}.
void read_after(const Field& field, JobTemplate& out) {
  if (field.is_map()) {
    for (std::size_t i = 0; i < field.size(); ++i) {
      const Field condition = field.item(i);
      add_edge(condition, field.node().entries[i].key, read_condition(condition), out);
    }
  } else if (field.is_list()) {
    for (std::size_t i = 0; i < field.size(); ++i) read_edge(field.item(i), out);
  } else {
    read_edge(field, out);
  }
}

Stop read_stop(const Field& field) {
  Stop stop;
  if (!check_map(field, kStopKeys)) return stop;
  if (const auto signal = field.find("signal")) stop.signal = read_signal(*signal);
  if (const auto grace = field.find("grace")) stop.grace = read_duration(*grace, {}, kLongest);
  return stop;
}

Checkpoint read_checkpoint(const Field& field) {
  Checkpoint checkpoint;
  if (!check_map(field, kCheckpointKeys)) return checkpoint;
  if (const auto signal = field.find("signal")) checkpoint.signal = read_signal(*signal);
  if (const auto grace = field.find("grace"))
    checkpoint.grace = read_duration(*grace, {}, kLongest);
  if (const auto interval = field.find("interval"))
    checkpoint.interval = read_duration(*interval, Duration::nanoseconds(1), kLongest);
  if (const auto cost = field.find("cost")) checkpoint.cost = read_duration(*cost, {}, kLongest);
  return checkpoint;
}

WorkloadClass read_class(const Field& field) {
  static constexpr std::array kClasses = {WorkloadClass::kTrain, WorkloadClass::kInfer,
                                          WorkloadClass::kFiller};
  std::array<std::string_view, kClasses.size()> words;
  std::transform(kClasses.begin(), kClasses.end(), words.begin(),
                 [](WorkloadClass value) { return to_string(value); });
  return kClasses[read_word(field, words)];
}

// Each port once.
std::vector<std::int32_t> read_ports(const Field& field) {
  std::vector<std::int32_t> ports = read_list_or_one(field, [](const Field& port) {
    return static_cast<std::int32_t>(read_integer(port, 1, 65535));
  });
  if (ports.size() > kMostPorts)
    field.fail("there are more than " + std::to_string(kMostPorts) + " ports",
               "name those on which the tasks answer");
  std::vector<std::int32_t> sorted = ports;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end())
    field.fail("the port " + std::to_string(*twice) + " is given twice", "keep one of them");
  return ports;
}

std::string hint_for_job_key(std::string_view key) {
  if (key == "tenant") return "the server sets the tenant from your login; remove it";
  if (key == "array_index") return "the index comes from array; write array: 0-99";
  if (key == "array_limit") return "write it behind the indices: array: 0-99%4";
  if (key == "jobs") return "a file with jobs: […] has no other key";
  if (key == "command" || key == "cmd" || key == "script" || key == "exec")
    return "did you mean \"run\"?";
  return hint_for_need(key);
}

std::vector<std::string_view> keys_of(JobForm form) {
  std::vector<std::string_view> keys(kJobKeys.begin(), kJobKeys.end());
  if (form == JobForm::kStored) keys.insert(keys.end(), kStoredKeys.begin(), kStoredKeys.end());
  return keys;
}

void read_stored_keys(const Field& job, JobSpec& spec) {
  static constexpr std::array kClassSources = {"given"sv, "features"sv};  // by ClassSource
  if (const auto tenant = job.find("tenant")) spec.tenant = read_path_of_words(*tenant, "tenant");
  if (const auto index = job.find("array_index"))
    spec.array_index = read_integer(*index, 0, std::numeric_limits<std::int64_t>::max());
  constexpr auto kLast = static_cast<std::int64_t>(kMaxJobsPerBatch) - 1;
  if (const auto position = job.find("array_position"))
    spec.array_position = static_cast<std::int32_t>(read_integer(*position, 0, kLast));
  if (const auto limit = job.find("array_limit"))
    spec.array_limit = static_cast<std::int32_t>(read_integer(*limit, 0, kLast + 1));
  if (const auto source = job.find("class_source"))
    spec.class_source = static_cast<ClassSource>(read_word(*source, kClassSources));
}

}  // namespace

JobTemplate read_job(const Field& job, JobForm form) {
  JobTemplate out;
  JobSpec& spec = out.spec;
  if (!check_map(job, keys_of(form), kLaterJobKeys, hint_for_job_key)) return out;
  spec.name = read_name(job, form);
  if (const auto value = job.find("class")) spec.workload_class = read_class(*value);
  if (const auto queue = job.find("queue")) spec.queue = read_path_of_words(*queue, "queue");
  if (const auto priority = job.find("priority"))
    spec.priority = static_cast<std::int32_t>(read_integer(*priority, -kMaxPriority, kMaxPriority));
  spec.roles = read_roles(job, form);
  if (const auto topology = job.find("topology"))
    spec.topology = read_topology(*topology, spec.roles);
  if (const auto communication = job.find("communication"))
    spec.communication = read_communication(*communication, spec.roles);
  if (const auto env = job.find("env")) spec.env = read_env(*env);
  if (const auto workdir = job.find("workdir")) spec.workdir = read_workdir(*workdir);
  if (const auto files = job.find("files")) spec.files = read_files(*files);
  if (const auto ports = job.find("ports")) spec.ports = read_ports(*ports);
  if (const auto retry = job.find("retry")) spec.retry = read_retry(*retry);
  if (const auto after = job.find("after")) read_after(*after, out);
  if (const auto array = job.find("array")) {
    ArrayWish wish = read_array(*array);
    out.indices = std::move(wish.indices);
    spec.array_limit = wish.limit;
  }
  if (const auto stop = job.find("stop")) spec.stop = read_stop(*stop);
  if (const auto checkpoint = job.find("checkpoint"))
    spec.checkpoint = read_checkpoint(*checkpoint);
  if (const auto training = job.find("training")) {
    spec.training = read_training(*training, spec);
    if (!spec.checkpoint && form != JobForm::kStored)
      training->fail("a job whose size may change has to save its work",
                     "say how it saves, such as checkpoint: {signal: TERM, grace: 30s}");
  }
  if (const auto limit = job.find("time_limit"))
    spec.time_limit = read_duration(*limit, Duration::nanoseconds(1), kLongest);
  if (!job.find("class")) {
    spec.workload_class = class_by(class_features(spec).rule);
    spec.class_source = ClassSource::kFeatures;
  }
  if (form == JobForm::kStored) read_stored_keys(job, spec);
  return out;
}

}  // namespace gridfold
