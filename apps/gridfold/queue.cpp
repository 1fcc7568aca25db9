// gridfold queue list.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "apps/gridfold/output.h"
#include "apps/gridfold/unknown_device_text.h"
#include "base/units.h"

namespace gridfold {
namespace {

// "1.5/4 gpu" of thousandths, the limit left out when there is none.
std::string share(std::int64_t used, const std::string& limit) {
  const auto bound = parse_count(limit);
  return thousandths(used) + (bound ? "/" + thousandths(*bound) : "");
}

// "12.5%"; "-" where queues do not take turns.
std::string per_cent(std::optional<std::int64_t> millionths) {
  if (!millionths) return "-";
  return std::to_string(*millionths / 10'000) + "." + std::to_string(*millionths / 1'000 % 10) +
         "%";
}

std::string memory(const QueueView& queue) {
  const auto bound = parse_count(queue.limit_memory_bytes);
  return readable_bytes(queue.used_memory_bytes) + (bound ? "/" + readable_bytes(*bound) : "");
}

std::string devices(const QueueView& queue) {
  std::string text;
  for (const auto& device : queue.devices)
    text += (text.empty() ? "" : ", ") + share(device.used_thousandths, device.limit) + " " +
            device.device_class;
  return text.empty() ? "-" : text;
}

int list(const Cli& cli) {
  return with_client(cli, [&](Client& client) {
    const auto queues = client.queues();
    if (!queues) return report(queues.error());
    if (cli.format() != OutputFormat::kTable) {
      std::vector<Item> items;
      for (const auto& queue : queues->queues) items.push_back({queue.json, queue.name});
      print_items(cli.format(), "queues", items);
      return kExitOk;
    }
    Table table(
        {"NAME", "PRIORITY", "OPEN", "RUNNING", "PENDING", "SHARE", "CPU", "MEMORY", "DEVICES"});
    for (const auto& queue : queues->queues)
      table.add_row({queue.name, std::to_string(queue.priority), queue.open ? "yes" : "no",
                     std::to_string(queue.running_jobs), std::to_string(queue.pending_jobs),
                     per_cent(queue.share_millionths),
                     share(queue.used_cpu_millicores, queue.limit_cpu_millicores), memory(queue),
                     devices(queue)});
    std::fputs(table.text(!cli.no_headers).c_str(), stdout);
    for (const auto& queue : queues->queues) {
      for (const UnknownDevice& unknown : queue.unknown_devices)
        remark(cli, unknown_device_text(unknown, cli.language()));
    }
    return kExitOk;
  });
}

}  // namespace

void add_queue_commands(Cli& cli) {
  auto* queue = cli.root.add_subcommand("queue", "look at the queues");
  queue->require_subcommand(1);
  queue->fallthrough();
  auto* command = queue->add_subcommand("list", "list the queues, what they may use and do use");
  command->fallthrough();
  command->callback([&cli] { cli.chosen = [&cli] { return list(cli); }; });
}

}  // namespace gridfold
