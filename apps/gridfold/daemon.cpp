#include "apps/gridfold/daemon.h"

#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <filesystem>
#include <future>
#include <map>
#include <optional>
#include <set>

#include "accounting/effective_account.h"
#include "api/access.h"
#include "api/api.h"
#include "api/http_server.h"
#include "apps/gridfold/audit_log.h"
#include "apps/gridfold/cli.h"
#include "apps/gridfold/event_relay.h"
#include "apps/gridfold/output.h"
#include "apps/gridfold/scheduled.h"
#include "apps/gridfold/solve_thread.h"
#include "apps/gridfold/unknown_device_text.h"
#include "backends/local/environment.h"
#include "backends/local/local_backend.h"
#include "backends/local/slice_limits.h"
#include "base/sha256.h"
#include "control/loop_thread.h"
#include "control/records.h"
#include "control/start_estimates.h"
#include "devices/emulated.h"
#include "devices/machine.h"
#include "policies/learned_idle.h"
#include "policies/learned_run_times.h"
#include "policies/registry.h"
#include "simulator/text_file.h"
#include "stores/sqlite/sqlite_store.h"
#include "topology/machine_topology_file.h"

namespace gridfold {
namespace {

class SystemClock final : public Clock {
 public:
  Instant now() const override { return wall_clock_now(); }
};

std::uint64_t random_bits() {
  std::uint64_t bits = 0;
  while (getrandom(&bits, sizeof bits, 0) != sizeof bits) {
  }
  return bits;
}

Result<std::string> prepare_state(const std::string& wish) {
  std::error_code error;
  const auto path = std::filesystem::absolute(wish, error);
  if (!error) std::filesystem::create_directories(path, error);
  if (error) return from_errno(error.value(), "make the state directory " + wish);
  // Whoever can write here runs programs as us.
  if (chmod(path.c_str(), 0700) != 0) return from_errno(errno, "chmod " + path.string());
  auto clean = path.lexically_normal().string();
  if (clean.size() > 1 && clean.ends_with('/')) clean.pop_back();
  return clean;
}

Result<std::string> own_program() {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return from_errno(error.value(), "read /proc/self/exe");
  return path.string();
}

// The devices of the node as they were stored: those that tasks hold by number
// keep their places.
Result<std::vector<DeviceSpec>> stored_devices(Store& store, const std::string& node) {
  const auto key = records::node_key(node);
  const auto snapshot = store.load(key);
  if (!snapshot) return snapshot.error();
  for (const auto& entry : snapshot->entries) {
    if (entry.key != key) continue;
    const auto record = records::decode_node(node, entry.value);
    if (!record) return record.error();
    return record->spec.devices;
  }
  return std::vector<DeviceSpec>{};
}

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

Result<void> tell_links_of(const MachineLinksConfig& config, NodeSpec& node) {
  const auto bytes = read_text_file(config.machine);
  if (!bytes) return bytes.error();
  const auto topology = read_machine_topology(config.machine, *bytes);
  if (!topology) return topology.error();
  return tell_links(*topology, config.facts, node);
}

std::shared_ptr<PluginHost> load_plugins(const DaemonConfig& config, const std::string& program) {
  const auto beside = std::filesystem::path(program).parent_path() / "device_plugins";
  return std::make_shared<PluginHost>(
      plugins_in(config.plugins.empty() ? beside.string() : config.plugins));
}

Result<Machine> discover(const DaemonConfig& config, Store& store, PluginHost& plugins) {
  MachineOptions options;
  options.name = config.node_name.empty() ? host_name() : config.node_name;
  if (!config.devices.empty()) {
    auto emulated = parse_emulated_devices(config.devices, built_in_facts());
    if (!emulated) return emulated.error().with_context("devices");
    options.emulated = std::move(*emulated);
  }
  auto previous = stored_devices(store, options.name);
  if (!previous) return previous.error();
  options.previous = std::move(*previous);
  options.manage_partitions = config.manage_partitions;
  auto machine = discover_machine(options, plugins);
  if (!machine || !config.links) return machine;
  if (auto told = tell_links_of(*config.links, machine->node); !told)
    return told.error().with_context("links");
  return machine;
}

MakePolicies policies_of(const DaemonConfig& config) {
  return [name = config.policy, settings = config.policy_settings] {
    return std::move(*make_policy(name, {.settings = settings}));  // made once already
  };
}

std::string summary_of(const NodeSpec& node) {
  std::map<std::string, int> kinds;
  for (const auto& device : node.devices)
    ++kinds[device.device_class + " " + device.model +
            (device.origin == DeviceOrigin::kEmulated ? " (emulated)" : "")];
  std::string text = node.name + ": " + thousandths(node.cpu.value) + " cores, " +
                     readable_bytes(node.memory.value);
  for (const auto& [kind, count] : kinds) text += ", " + std::to_string(count) + " " + kind;
  return text;
}

std::vector<std::string> notes_of(const Machine& machine, const Capabilities& capabilities) {
  std::vector<std::string> notes;
  for (const auto& trouble : machine.troubles)
    if (trouble.kind != PluginHost::TroubleKind::kAbsent)
      notes.push_back("device plug-in " + trouble.plugin + ": " + trouble.error.describe());
  for (std::size_t i = 0; i < machine.node.devices.size(); ++i)
    if (const auto& device = machine.node.devices[i]; !device.fault.empty())
      notes.push_back("device " + std::to_string(i) + " (" + device.model +
                      ") is not given out: " + device.fault);
  if (capabilities.memory == Enforcement::kAccounted)
    notes.push_back("memory limits are accounted, not enforced: this process may not use cgroups");
  return notes;
}

}  // namespace

// In the order in which they are made; destroyed from the last to the first.
struct Daemon::Parts {
  SystemClock clock;
  std::unique_ptr<SqliteStore> store;
  Machine machine;
  std::unique_ptr<local::LocalBackend> backend;
  std::unique_ptr<AuditLog> audit;
  std::unique_ptr<HttpServer> server;
  JobWaiters waiters;
  // Told of every committed turn, on the loop's thread.
  EffectiveAccount account{{.from = clock.now()}};
  std::optional<DayLog> day_log;   // likewise
  const Engine* engine = nullptr;  // the loop's
  EventRelay relay;
  std::unique_ptr<SolveThread> solver;  // tells the relay
  // Forward runs take seconds on a large grid, and who asks for advice waits.
  std::unique_ptr<SolveThread> forward_runs;  // tells the relay
  std::unique_ptr<SolveThread> advice;        // tells the server
  std::unique_ptr<LoopThread> thread;
  std::optional<ApiContext> api;
  Router router;
  std::vector<std::string> notes;
  std::function<Result<DaemonConfig>()> read_again;  // null: there is no file
  DaemonConfig in_force;                             // used on the loop's thread, once that runs

  Result<void> open_backend(const std::string& state, const std::string& program,
                            std::shared_ptr<PluginHost> partition_makers);
  Result<void> open_server(const DaemonConfig& config, const std::string& state);
  Result<void> start_loop(const DaemonConfig& config);
  std::shared_ptr<StartEstimates> estimates_of(const DaemonConfig& config,
                                               const EngineOptions& engine);
  void serve();
  void reload(Completion<std::vector<std::string>> done);
};

Result<void> Daemon::Parts::open_backend(const std::string& state, const std::string& program,
                                         std::shared_ptr<PluginHost> partition_makers) {
  local::LocalOptions options;
  options.node = machine.node;
  options.state = state;
  options.program = program;
  // Two daemons of one machine have two state directories.
  options.instance = "gridfold-" + sha256_hex(state).substr(0, 12);
  options.host = local::host_environment(environ);
  options.slice_library = local::find_slice_library();
  options.plugins = std::move(partition_makers);
  backend = std::make_unique<local::LocalBackend>(std::move(options));
  notes = notes_of(machine, backend->capabilities());
  return {};
}

Result<void> Daemon::Parts::open_server(const DaemonConfig& config, const std::string& state) {
  auto log = AuditLog::open(state + "/audit.jsonl", clock);
  if (!log) return log.error();
  audit = std::move(*log);
  HttpServerOptions options;
  options.unix_socket = socket_path(state);
  options.listen = config.listen;
  if (!config.listen.empty()) {
    auto token = load_or_create_token(token_path(state));
    if (!token) return token.error();
    options.token = std::move(*token);
  }
  options.audit = [this](const AuditEntry& entry) { audit->write(entry); };
  auto opened = HttpServer::open(std::move(options));
  if (!opened) return opened.error();
  server = std::move(*opened);
  return {};
}

Result<void> Daemon::Parts::start_loop(const DaemonConfig& config) {
  auto policy = make_policy(config.policy, {.settings = config.policy_settings});
  if (!policy) return policy.error();
  ControlOptions options;
  options.queues = config.queues;
  options.windows = WindowCalendar(config.maintenance);
  auto scheduled = read_scheduled_jobs(config.schedule);
  if (!scheduled) return scheduled.error();
  options.scheduled = JobCalendar(std::move(*scheduled));
  options.reconcile_interval = config.reconcile_interval;
  options.random_bits = random_bits;
  options.on_committed = [this](Instant now, const Decisions& decisions) {
    waiters.committed(decisions);
    account.committed(now, *engine, decisions);
    day_log->committed(now, *engine, decisions);
  };
  options.on_reported = [this](const TaskReported& report) { day_log->reported(report); };
  EngineOptions engine_options;
  forward_runs = std::make_unique<SolveThread>();
  advice = std::make_unique<SolveThread>();
  if (config.consolidate) engine_options.consolidation.consolidate = Consolidate::kOn;
  solver = std::make_unique<SolveThread>();
  engine_options.backfill = config.backfill;
  engine_options.fillers = config.fillers;
  engine_options.gang_repair = config.gang_repair;
  policy->idle = std::make_unique<LearnedIdle>();
  options.estimates = estimates_of(config, engine_options);
  day_log.emplace(DayLogOptions{.engine = engine_options,
                                .make_policies = policies_of(config),
                                .learned_run_times = config.learned_run_times});
  if (config.learned_run_times) policy->run_times = std::make_unique<LearnedRunTimes>();
  auto loop =
      std::make_unique<ControlLoop>(std::move(options), Engine(engine_options, std::move(*policy)),
                                    *store, *backend, *solver, clock);
  engine = &loop->engine();
  if (auto started = loop->start(relay.sink()); !started) return started;
  std::set<std::string> models = models_of(engine->nodes());
  add_models_of(machine.node, models);  // which the loop's first turn takes in
  for (const UnknownDevice& unknown : unknown_devices(config.queues.queues, models))
    notes.push_back(unknown_device_text(unknown, Language::kEnglish));
  thread = std::make_unique<LoopThread>(std::move(loop));
  relay.attach(*thread);
  return {};
}

std::shared_ptr<StartEstimates> Daemon::Parts::estimates_of(const DaemonConfig& config,
                                                            const EngineOptions& engine_options) {
  EstimateOptions options;
  options.engine = engine_options;
  options.make_policies = policies_of(config);
  options.executor = forward_runs.get();
  options.advice = advice.get();
  return std::make_shared<StartEstimates>(std::move(options));
}

void Daemon::Parts::serve() {
  api.emplace(ApiContext{*thread, clock, server->later(), waiters, account, *day_log, *forward_runs,
                         GRIDFOLD_VERSION, [this](auto done) { reload(std::move(done)); }});
  router = make_router(*api);
  server->start([this](HttpRequest request, Respond respond) {
    router.handle(std::move(request), std::move(respond));
  });
}

void Daemon::Parts::reload(Completion<std::vector<std::string>> done) {
  if (!read_again) {
    Error error = conflict("this daemon has no configuration file");
    error.hint = "start it as gridfold serve --config FILE";
    return done(std::move(error));
  }
  auto read = read_again();
  if (!read) return done(read.error());
  thread->post(
      [this, wanted = std::move(*read), done = std::move(done)](ControlLoop& loop) mutable {
        auto changes = live_changes(in_force, wanted);
        if (!changes || changes->empty()) return done(std::move(changes));
        loop.reconfigure(wanted.queues, wanted.reconcile_interval,
                         [this, &loop, wanted, changes = std::move(*changes),
                          done = std::move(done)](Result<void> taken) {
                           if (!taken) return done(taken.error());
                           loop.set_windows(WindowCalendar(wanted.maintenance));
                           in_force = wanted;
                           done(changes);
                         });
      });
}

Result<std::unique_ptr<Daemon>> Daemon::start(const DaemonConfig& config,
                                              std::function<Result<DaemonConfig>()> read_again) {
  auto parts = std::make_unique<Parts>();
  parts->in_force = config;
  parts->read_again = std::move(read_again);
  const auto state = prepare_state(config.state);
  if (!state) return state.error();
  const auto program = own_program();
  if (!program) return program.error();
  if (!config.listen.empty())
    if (const auto address = parse_listen_address(config.listen); !address) return address.error();
  auto store = SqliteStore::open({.path = *state + "/store.db"});
  if (!store) return store.error();
  parts->store = std::move(*store);
  auto plugins = load_plugins(config, *program);
  auto machine = discover(config, *parts->store, *plugins);
  if (!machine) return machine.error();
  parts->machine = std::move(*machine);
  if (!config.manage_partitions) plugins.reset();
  if (auto done = parts->open_backend(*state, *program, std::move(plugins)); !done)
    return done.error();
  if (auto done = parts->open_server(config, *state); !done) return done.error();
  if (auto done = parts->start_loop(config); !done) return done.error();
  parts->serve();
  return std::unique_ptr<Daemon>(new Daemon(std::move(parts)));
}

Daemon::Daemon(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Daemon::~Daemon() {
  parts_->server.reset();   // no request any more
  parts_->relay.detach();   // no event any more
  parts_->thread.reset();   // the last turn
  parts_->backend.reset();  // tasks go on under their shims
}

Result<std::vector<std::string>> Daemon::reload() {
  std::promise<Result<std::vector<std::string>>> promise;
  auto future = promise.get_future();
  parts_->reload([&promise](auto outcome) { promise.set_value(std::move(outcome)); });
  return future.get();
}

std::uint16_t Daemon::port() const { return parts_->server->port(); }
std::string Daemon::node_summary() const { return summary_of(parts_->machine.node); }
const std::vector<std::string>& Daemon::notes() const { return parts_->notes; }

std::vector<std::string> Daemon::queue_notes() const {
  return parts_->thread->call([](ControlLoop& loop) {
    std::vector<std::string> notes;
    const Engine& engine = loop.engine();
    for (const auto& unknown : unknown_devices(engine.queues(), models_of(engine.nodes())))
      notes.push_back(unknown_device_text(unknown, Language::kEnglish));
    return notes;
  });
}

std::int64_t Daemon::running_tasks() const {
  return parts_->thread->call([](ControlLoop& loop) {
    std::int64_t count = 0;
    for (const auto* job : loop.engine().jobs())
      for (const auto& task : job->tasks) count += holds_allocation(task.phase);
    return count;
  });
}

void Daemon::cancel_all() {
  parts_->thread->post([](ControlLoop& loop) {
    for (const auto* job : loop.engine().jobs())
      if (!is_terminal(job->state))
        loop.request(JobCancelRequested{job->id, "shutdown"}, [](Result<void>) {});
  });
}

std::int64_t Daemon::live_jobs() const {
  return parts_->thread->call([](ControlLoop& loop) {
    std::int64_t count = 0;
    for (const auto* job : loop.engine().jobs()) count += !is_terminal(job->state);
    return count;
  });
}

}  // namespace gridfold
