// gridfold top: what runs where, as a live text view.
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>

#include "apps/gridfold/job_output.h"

namespace gridfold {
namespace {

constexpr std::size_t kBarWidth = 24;
constexpr std::size_t kMaxNodes = 24;
constexpr std::size_t kMaxJobs = 20;

struct TopOptions {
  bool once = false;
  double interval_seconds = 1;
};

std::string counts_text(const std::vector<std::pair<std::string, std::int64_t>>& counts) {
  std::string text;
  for (const auto& [name, count] : counts)
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " +
            coloured(name, colour_of_state(name));
  return text.empty() ? "none" : text;
}

std::string kind_text(const std::string& device_class, const std::string& model, bool emulated) {
  return device_class + (model.empty() ? "" : " " + model) + (emulated ? " (emulated)" : "");
}

std::string totals(const SummaryView& summary) {
  Table table({"", "", ""});
  const auto used_cpu = summary.cpu_millicores - summary.free_cpu_millicores;
  const auto used_memory = summary.memory_bytes - summary.free_memory_bytes;
  table.add_row({"cpu", bar(used_cpu, summary.cpu_millicores, kBarWidth),
                 thousandths(used_cpu) + " of " + thousandths(summary.cpu_millicores) + " cores"});
  table.add_row({"memory", bar(used_memory, summary.memory_bytes, kBarWidth),
                 readable_bytes(used_memory) + " of " + readable_bytes(summary.memory_bytes)});
  for (const auto& sum : summary.devices)
    table.add_row(
        {kind_text(sum.device_class, sum.model, sum.emulated),
         bar(sum.allocated_thousandths, sum.total * 1000, kBarWidth),
         thousandths(sum.allocated_thousandths) + " of " + std::to_string(sum.total) +
             (sum.unusable > 0 ? ", " + std::to_string(sum.unusable) + " unusable" : "")});
  return table.text(false);
}

// One sign a device: full, in part, free, quarantined.
std::string device_signs(const NodeView& node) {
  std::string signs;
  bool emulated = false;
  for (const auto& device : node.devices) {
    emulated |= device.emulated;
    if (device.quarantined)
      signs += "x";
    else if (device.free_share_thousandths <= 0)
      signs += "█";
    else
      signs += device.free_share_thousandths < 1000 ? "▄" : "░";
  }
  return signs.empty() ? "-" : signs + (emulated ? "*" : "");
}

std::string node_table(const std::vector<NodeView>& nodes) {
  Table table({"NODE", "STATE", "CPU", "DEVICES", "JOBS"});
  for (std::size_t i = 0; i < std::min(nodes.size(), kMaxNodes); ++i) {
    const auto& node = nodes[i];
    std::map<std::string, int> jobs;
    for (const auto& task : node.tasks) ++jobs[task.name];
    std::string names;
    for (const auto& [name, count] : jobs)
      names += (names.empty() ? "" : ", ") + name + (count > 1 ? "×" + std::to_string(count) : "");
    table.add_row({node.name,
                   !node.up       ? "down"
                   : node.drained ? "drained"
                                  : "up",
                   bar(node.cpu_millicores - node.free_cpu_millicores, node.cpu_millicores, 10),
                   device_signs(node), shorten(names.empty() ? "-" : names, 60)});
  }
  auto text = table.text(true);
  if (nodes.size() > kMaxNodes)
    text += "… and " + std::to_string(nodes.size() - kMaxNodes) + " more: gridfold node list\n";
  return text;
}

bool any_emulated(const SummaryView& summary) {
  for (const auto& sum : summary.devices)
    if (sum.emulated) return true;
  return false;
}

Result<std::string> screen(Client& client, const Cli& cli) {
  const auto summary = client.summary();
  if (!summary) return summary.error();
  const auto nodes = client.nodes();
  if (!nodes) return nodes.error();
  JobQuery query;
  query.state = "live";
  query.page_size = kMaxJobs;
  const auto page = client.list_jobs(query);
  if (!page) return page.error();
  std::string text = coloured("gridfold", Colour::kBold) +
                     "  nodes: " + std::to_string(summary->nodes_up) + " up, " +
                     std::to_string(summary->nodes_total - summary->nodes_up) + " down, " +
                     std::to_string(summary->nodes_drained) +
                     " drained  jobs: " + counts_text(summary->jobs_by_state) + "\n";
  if (summary->read_only)
    text += coloured("the store cannot be written: nothing new is accepted\n", Colour::kRed);
  text += "\n" + totals(*summary) + "\n" + node_table(nodes->nodes) + "\n";
  text += job_table(page->jobs, wall_clock_now(), cli.language()).text(true);
  if (!page->next_page_token.empty()) text += "… and more: gridfold ps\n";
  if (any_emulated(*summary)) text += "\n* emulated devices\n";
  return text;
}

// Keys come at once and unseen while it exists.
class RawKeys {
 public:
  RawKeys() {
    if (tcgetattr(STDIN_FILENO, &before_) != 0) return;
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    changed_ = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
  }
  ~RawKeys() {
    if (changed_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  // False when the user asked to leave within the time.
  bool wait(int milliseconds) const {
    pollfd entry{STDIN_FILENO, POLLIN, 0};
    if (!changed_) return poll(nullptr, 0, milliseconds) == 0;
    if (poll(&entry, 1, milliseconds) <= 0) return true;
    char key = 0;
    return read(STDIN_FILENO, &key, 1) == 1 && key != 'q';
  }

 private:
  termios before_{};
  bool changed_ = false;
};

int top(const Cli& cli, const TopOptions& options) {
  return with_client(cli, [&](Client& client) {
    if (cli.format() != OutputFormat::kTable) {
      const auto summary = client.summary();
      if (!summary) return report(summary.error());
      print_item(cli.format(), {summary->json, "summary"});
      return kExitOk;
    }
    if (options.once || isatty(STDOUT_FILENO) != 1) {
      const auto text = screen(client, cli);
      if (!text) return report(text.error());
      std::fputs(text->c_str(), stdout);
      return kExitOk;
    }
    const RawKeys keys;
    do {
      const auto text = screen(client, cli);
      if (!text) return report(text.error());
      winsize size{};
      const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 2;
      // The last line is for the hint.
      std::printf("\033[H\033[J%s\nq leaves",
                  (known ? fit_screen(*text, size.ws_col, size.ws_row - 1U) : *text).c_str());
      std::fflush(stdout);
    } while (keys.wait(static_cast<int>(options.interval_seconds * 1000)));
    std::printf("\r\033[K");
    return kExitOk;
  });
}

}  // namespace

void add_top_command(Cli& cli) {
  auto* command = cli.root.add_subcommand("top", "what runs where, live");
  command->fallthrough();
  const auto options = std::make_shared<TopOptions>();
  command->add_flag("--once", options->once, "print it once and end");
  command->add_option("--interval", options->interval_seconds, "seconds between two looks")
      ->check(CLI::Range(0.1, 3600.0));
  command->callback(
      [&cli, options] { cli.chosen = [&cli, options] { return top(cli, *options); }; });
}

}  // namespace gridfold
