// gridfold node list, get, drain, undrain.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>

#include "apps/gridfold/job_output.h"
#include "base/units.h"

namespace gridfold {
namespace {

std::string state_of(const NodeView& node) {
  if (!node.up) return coloured("down", Colour::kRed);
  return node.drained ? coloured("drained", Colour::kYellow) : coloured("up", Colour::kGreen);
}

// "5/8 gpu H100*": devices with free share, of all.
std::string devices_of(const NodeView& node) {
  struct Count {
    std::int64_t free = 0, total = 0;
  };
  std::map<std::string, Count> kinds;
  for (const auto& device : node.devices) {
    auto& count = kinds[device.device_class + " " + device.model + (device.emulated ? "*" : "")];
    ++count.total;
    count.free += device.free_share_thousandths;
  }
  std::string text;
  for (const auto& [kind, count] : kinds)
    text += (text.empty() ? "" : ", ") + thousandths(count.free) + "/" +
            std::to_string(count.total) + " " + kind;
  return text.empty() ? "-" : text;
}

bool any_emulated(const std::vector<NodeView>& nodes) {
  for (const auto& node : nodes)
    for (const auto& device : node.devices)
      if (device.emulated) return true;
  return false;
}

void print_nodes(const Cli& cli, const std::vector<NodeView>& nodes) {
  if (cli.format() != OutputFormat::kTable) {
    std::vector<Item> items;
    for (const auto& node : nodes) items.push_back({node.json, node.name});
    return print_items(cli.format(), "nodes", items);
  }
  Table table({"NAME", "STATE", "FREE CPU", "FREE MEMORY", "FREE DEVICES", "TASKS", "WHY"});
  for (const auto& node : nodes)
    table.add_row({node.name, state_of(node),
                   thousandths(node.free_cpu_millicores) + "/" + thousandths(node.cpu_millicores),
                   readable_bytes(node.free_memory_bytes) + "/" + readable_bytes(node.memory_bytes),
                   devices_of(node), std::to_string(node.tasks.size()),
                   node.reason ? reason_sentence(*node.reason, cli.language()) : ""});
  std::fputs(table.text(!cli.no_headers).c_str(), stdout);
  if (any_emulated(nodes)) remark(cli, "* emulated device");
}

int list(const Cli& cli) {
  return with_client(cli, [&](Client& client) {
    const auto nodes = client.nodes();
    if (!nodes) return report(nodes.error());
    print_nodes(cli, nodes->nodes);
    return kExitOk;
  });
}

int get(const Cli& cli, const std::string& name) {
  return with_client(cli, [&](Client& client) {
    const auto node = client.node(name);
    if (!node) return report(node.error());
    if (cli.format() != OutputFormat::kTable) {
      print_item(cli.format(), {node->json, node->name});
      return kExitOk;
    }
    print_nodes(cli, {*node});
    Table devices({"DEVICE", "CLASS", "MODEL", "FREE", ""});
    for (const auto& device : node->devices)
      devices.add_row({std::to_string(device.index), device.device_class, device.model,
                       thousandths(device.free_share_thousandths),
                       std::string(device.emulated ? "emulated " : "") +
                           (device.quarantined ? "quarantined" : "")});
    Table tasks({"JOB", "TASK", "CLASS", "PHASE", "DEVICES"});
    for (const auto& task : node->tasks) {
      std::string held;
      for (const auto index : task.devices)
        held += (held.empty() ? "" : ",") + std::to_string(index);
      tasks.add_row({task.name, std::to_string(task.task), task.workload_class, task.phase,
                     held.empty() ? "-" : held});
    }
    if (!devices.empty()) std::fputs(("\n" + devices.text(true)).c_str(), stdout);
    if (!tasks.empty()) std::fputs(("\n" + tasks.text(true)).c_str(), stdout);
    return kExitOk;
  });
}

int act(const Cli& cli, const std::string& name, const std::string& verb) {
  return with_client(cli, [&](Client& client) {
    const auto node = client.act_on_node(name, verb);
    if (!node) return report(node.error());
    if (cli.format() != OutputFormat::kTable) {
      print_item(cli.format(), {node->json, node->name});
    } else if (!cli.quiet && node->drained) {
      std::fprintf(
          stderr,
          "node %s takes no new tasks; %zu still run on it. Undo: gridfold node undrain %s\n",
          name.c_str(), node->tasks.size(), name.c_str());
    } else if (!cli.quiet) {
      std::fprintf(stderr, "node %s takes tasks again\n", name.c_str());
    }
    return kExitOk;
  });
}

void add_named(Cli& cli, CLI::App& parent, const char* verb, const char* description,
               int (*work)(const Cli&, const std::string& name, const std::string& verb)) {
  auto* command = parent.add_subcommand(verb, description);
  command->fallthrough();
  const auto name = std::make_shared<std::string>();
  command->add_option("node", *name, "its name")->required();
  command->callback([&cli, name, work, verb = std::string(verb)] {
    cli.chosen = [&cli, name, work, verb] { return work(cli, *name, verb); };
  });
}

}  // namespace

void add_node_commands(Cli& cli) {
  auto* node = cli.root.add_subcommand("node", "look at nodes, take them out of service and back");
  node->require_subcommand(1);
  node->fallthrough();
  auto* command = node->add_subcommand("list", "list the nodes");
  command->fallthrough();
  command->callback([&cli] { cli.chosen = [&cli] { return list(cli); }; });
  add_named(cli, *node, "get", "show one node, its devices and tasks",
            [](const Cli& c, const std::string& name, const std::string&) { return get(c, name); });
  add_named(cli, *node, "drain", "give the node no new tasks", act);
  add_named(cli, *node, "undrain", "let the node take tasks again", act);
}

}  // namespace gridfold
