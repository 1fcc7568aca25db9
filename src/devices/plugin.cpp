#include "devices/plugin.h"

#include <dlfcn.h>

#include <set>

#include "devices/plugin_answer.h"
#include "gridfold/device_plugin.h"

namespace gridfold {

// Never unloaded: the plug-in may have threads of its own.
struct DevicePlugin::Loaded {
  gridfold_device_plugin table{};
  void* state = nullptr;
  std::string name;
  std::string version;
};

namespace {

Error status_error(std::int32_t status, const std::string& plugin, const char* what,
                   const gridfold_device_error& why) {
  AnswerCheck check;
  gridfold_device_error ended = why;
  ended.message[sizeof ended.message - 1] = '\0';
  std::string text = check.text(ended.message, "message");
  if (text.empty()) text = "no reason given (status " + std::to_string(status) + ")";
  text = "device plug-in \"" + plugin + "\": " + what + ": " + text;
  switch (status) {
    case GRIDFOLD_UNAVAILABLE: return unavailable(std::move(text));
    case GRIDFOLD_INVALID: return invalid(std::move(text));
    case GRIDFOLD_NOT_FOUND: return not_found(std::move(text));
    default: return internal(std::move(text));
  }
}

Error breach_error(const std::string& plugin, const char* what, const std::string& breach) {
  Error error = corrupt("device plug-in \"" + plugin + "\": " + what +
                        ": its answer breaks the device interface: " + breach);
  error.hint = "run the conformance suite on it, see docs/devices.md";
  return error;
}

bool is_complete(const gridfold_device_plugin& table) {
  return table.name && table.version && table.open && table.close && table.devices &&
         table.health && table.telemetry && table.links && table.partitions && table.processes &&
         table.environment;
}

// The plug-in's table, copied and checked.
Result<gridfold_device_plugin> load_table(const std::string& path) {
  void* object = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (object == nullptr) {
    const char* why = dlerror();
    return invalid("device plug-in " + path + " does not load: " + (why ? why : "no reason"));
  }
  const auto entry =
      reinterpret_cast<gridfold_device_plugin_entry>(dlsym(object, GRIDFOLD_DEVICE_PLUGIN_SYMBOL));
  if (entry == nullptr) {
    return invalid(path + " is not a device plug-in: it has no symbol " +
                   GRIDFOLD_DEVICE_PLUGIN_SYMBOL);
  }
  AnswerCheck check;
  const gridfold_device_plugin* told = entry(GRIDFOLD_DEVICE_ABI);
  if (told == nullptr) {
    return invalid("device plug-in " + path + " does not serve device interface version " +
                   std::to_string(GRIDFOLD_DEVICE_ABI));
  }
  const auto table = check.sized_copy(told);
  if (!check.breach().empty()) return breach_error(path, "load", check.breach());
  if (table.abi != GRIDFOLD_DEVICE_ABI) {
    return invalid("device plug-in " + path + " is of device interface version " +
                   std::to_string(table.abi) + ", this program of " +
                   std::to_string(GRIDFOLD_DEVICE_ABI));
  }
  if (!is_complete(table)) return breach_error(path, "load", "a function or name is missing");
  return table;
}

template <class T>
struct Collected {
  T value{};
  AnswerCheck check;
};

// A sink that appends to a list of ours.
template <class Value, class Item, Value (*convert)(const Item*, AnswerCheck&)>
void append(void* context, const Item* item) {
  auto& collected = *static_cast<Collected<std::vector<Value>>*>(context);
  if (collected.check.room_in(collected.value)) {
    collected.value.push_back(convert(item, collected.check));
  }
}

// A sink for the calls that answer once.
template <class Value, class Item, Value (*convert)(const Item*, AnswerCheck&)>
void assign(void* context, const Item* item) {
  auto& collected = *static_cast<Collected<Value>*>(context);
  collected.value = convert(item, collected.check);
}

void append_profile(void* context, const gridfold_partition_profile* item) {
  auto& collected = *static_cast<Collected<Partitions>*>(context);
  if (collected.check.room_in(collected.value.profiles)) {
    collected.value.profiles.push_back(to_profile(item, collected.check));
  }
}

void append_partition(void* context, const gridfold_partition* item) {
  auto& collected = *static_cast<Collected<Partitions>*>(context);
  if (collected.check.room_in(collected.value.existing)) {
    collected.value.existing.push_back(to_partition(item, collected.check));
  }
}

using Variables = std::map<std::string, std::string>;

void put_variable(void* context, const char* name, const char* value) {
  auto& collected = *static_cast<Collected<Variables>*>(context);
  if (!collected.check.room_in(collected.value)) return;
  std::string key = collected.check.required_text(name, "variable name");
  if (key.find('=') != std::string::npos) collected.check.fail("a variable name contains '='");
  collected.value[std::move(key)] = collected.check.text(value, "variable value");
}

// What cannot be unknown: a plug-in that cannot tell has failed.
template <class T>
Result<T> require(Result<Known<T>> answer, const std::string& plugin, const char* what) {
  if (!answer) return answer.error();
  if (!answer->is_known()) {
    return breach_error(plugin, what, "every plug-in must be able to answer this");
  }
  return answer->value();
}

Result<void> check_unique(const std::vector<DeviceReport>& devices, const std::string& plugin) {
  std::set<std::string_view> seen;
  for (const auto& device : devices) {
    if (!seen.insert(device.spec.uid).second) {
      return breach_error(plugin, "devices", "uid \"" + device.spec.uid + "\" is told twice");
    }
  }
  return {};
}

}  // namespace

DevicePlugin::DevicePlugin(PluginOptions options)
    : options_(std::move(options)), loaded_(std::make_shared<Loaded>()) {}

DevicePlugin::~DevicePlugin() {
  // While a call is out, what it works on is not ours to look at.
  if (!thread_.answering() || loaded_->state == nullptr) return;
  // One that does not close in time is left behind, like any call that hangs.
  (void)thread_.call<bool>(name_ + ": close", options_.call_deadline,
                           [loaded = loaded_]() -> Result<bool> {
                             loaded->table.close(loaded->state);
                             return true;
                           });
}

Result<void> DevicePlugin::open() {
  // Loading runs the object's constructors, so it is a foreign call as well.
  const auto opened =
      thread_.call<bool>(options_.path + ": open", options_.call_deadline,
                         [loaded = loaded_, options = options_]() -> Result<bool> {
                           const auto table = load_table(options.path);
                           if (!table) return table.error();
                           AnswerCheck check;
                           loaded->name = check.required_text(table->name, "name");
                           loaded->version = check.required_text(table->version, "version");
                           if (!check.breach().empty())
                             return breach_error(options.path, "load", check.breach());
                           gridfold_device_error why{};
                           void* state = nullptr;
                           const auto status = table->open(options.config.c_str(), &state, &why);
                           if (status != GRIDFOLD_OK)
                             return status_error(status, loaded->name, "open", why);
                           if (state == nullptr)
                             return breach_error(loaded->name, "open", "it gave no state");
                           loaded->table = *table;
                           loaded->state = state;
                           return true;
                         });
  if (!opened) return opened.error();
  name_ = loaded_->name;
  version_ = loaded_->version;
  return {};
}

template <class T, class Call>
Result<Known<T>> DevicePlugin::ask(const char* what, Call call) {
  return thread_.call<Known<T>>(
      name_ + ": " + what, options_.call_deadline,
      [loaded = loaded_, what, call = std::move(call)]() -> Result<Known<T>> {
        Collected<T> collected;
        gridfold_device_error why{};
        const std::int32_t status = call(loaded->table, loaded->state, &collected, &why);
        if (status == GRIDFOLD_UNSUPPORTED) return Known<T>(Unknown{});
        if (status != GRIDFOLD_OK) return status_error(status, loaded->name, what, why);
        if (const auto& breach = collected.check.breach(); !breach.empty()) {
          return breach_error(loaded->name, what, breach);
        }
        return Known<T>(std::move(collected.value));
      });
}

Result<std::vector<DeviceReport>> DevicePlugin::devices() {
  auto answer = require(
      ask<std::vector<DeviceReport>>("devices",
                                     [](const auto& table, void* state, void* context, auto* why) {
                                       return table.devices(
                                           state, append<DeviceReport, gridfold_device, to_report>,
                                           context, why);
                                     }),
      name_, "devices");
  if (!answer) return answer;
  if (auto unique = check_unique(*answer, name_); !unique) return unique.error();
  for (auto& device : *answer) device.plugin = name_;
  return answer;
}

Result<HealthReport> DevicePlugin::health(const std::string& uid) {
  auto answer =
      ask<HealthReport>("health", [uid](const auto& table, void* state, void* context, auto* why) {
        return table.health(state, uid.c_str(),
                            assign<HealthReport, gridfold_device_health, to_health>, context, why);
      });
  if (!answer) return answer.error();
  return answer->is_known() ? answer->value() : HealthReport{};
}

Result<DeviceTelemetry> DevicePlugin::telemetry(const std::string& uid) {
  auto answer = ask<DeviceTelemetry>(
      "telemetry", [uid](const auto& table, void* state, void* context, auto* why) {
        return table.telemetry(state, uid.c_str(),
                               assign<DeviceTelemetry, gridfold_device_telemetry, to_telemetry>,
                               context, why);
      });
  if (!answer) return answer.error();
  return answer->is_known() ? answer->value() : DeviceTelemetry{};
}

Result<Known<std::vector<DeviceLink>>> DevicePlugin::links(const std::string& uid) {
  return ask<std::vector<DeviceLink>>(
      "links", [uid](const auto& table, void* state, void* context, auto* why) {
        return table.links(state, uid.c_str(), append<DeviceLink, gridfold_device_link, to_link>,
                           context, why);
      });
}

Result<Known<Partitions>> DevicePlugin::partitions(const std::string& uid) {
  return ask<Partitions>(
      "partitions", [uid](const auto& table, void* state, void* context, auto* why) {
        return table.partitions(state, uid.c_str(), append_profile, append_partition, context, why);
      });
}

namespace {

Error cannot_split(const std::string& plugin, const std::string& uid) {
  return unavailable("device plug-in \"" + plugin + "\" cannot split device " + uid);
}

}  // namespace

Result<Partition> DevicePlugin::make_partition(const std::string& uid, const std::string& profile,
                                               std::int32_t start) {
  const auto answer = ask<Partition>(
      "make_partition",
      [uid, profile, start](const auto& table, void* state, void* context, auto* why) {
        if (table.make_partition == nullptr) return std::int32_t{GRIDFOLD_UNSUPPORTED};
        return table.make_partition(
            state, uid.c_str(), profile.c_str(), static_cast<std::uint32_t>(start),
            assign<Partition, gridfold_partition, to_partition>, context, why);
      });
  if (!answer) return answer.error();
  if (!answer->is_known()) return cannot_split(name_, uid);
  if (answer->value().uid.empty())
    return breach_error(name_, "make_partition", "it told no partition");
  return answer->value();
}

Result<void> DevicePlugin::remove_partition(const std::string& uid, const std::string& partition) {
  const auto answer = ask<bool>(
      "remove_partition", [uid, partition](const auto& table, void* state, void*, auto* why) {
        if (table.remove_partition == nullptr) return std::int32_t{GRIDFOLD_UNSUPPORTED};
        return table.remove_partition(state, uid.c_str(), partition.c_str(), why);
      });
  if (!answer) return answer.error();
  if (!answer->is_known()) return cannot_split(name_, uid);
  return {};
}

Result<Known<std::vector<DeviceProcess>>> DevicePlugin::processes(const std::string& uid) {
  return ask<std::vector<DeviceProcess>>(
      "processes", [uid](const auto& table, void* state, void* context, auto* why) {
        return table.processes(state, uid.c_str(),
                               append<DeviceProcess, gridfold_device_process, to_process>, context,
                               why);
      });
}

Result<std::map<std::string, std::string>> DevicePlugin::environment(
    const std::vector<std::string>& uids) {
  return require(ask<Variables>("environment",
                                [uids](const auto& table, void* state, void* context, auto* why) {
                                  std::vector<const char*> texts;
                                  for (const auto& uid : uids) texts.push_back(uid.c_str());
                                  return table.environment(state, texts.data(),
                                                           static_cast<std::uint32_t>(texts.size()),
                                                           put_variable, context, why);
                                }),
                 name_, "environment");
}

}  // namespace gridfold
