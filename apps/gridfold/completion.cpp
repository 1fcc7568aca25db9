// gridfold completion: a script for the shell, made from the commands
// themselves. Job and node names are asked of the daemon while typing.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "apps/gridfold/cli.h"

namespace gridfold {
namespace {

struct CommandWords {
  std::string path;  // "job list"; empty: the program itself
  std::vector<std::string> words;
  std::string names;  // the command that lists what its argument may be, or ""
};

std::string names_of(const std::string& argument) {
  if (argument == "job" || argument == "jobs") return "job list -o name --limit 100 -q";
  if (argument == "node") return "node list -o name -q";
  return "";
}

void collect(const CLI::App& app, const std::string& path, std::vector<CommandWords>& all) {
  CommandWords command{path, {}, ""};
  for (const auto* sub : app.get_subcommands({})) command.words.push_back(sub->get_name());
  for (const auto* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) command.words.push_back("--" + name);
    for (const auto& name : option->get_snames()) command.words.push_back("-" + name);
    if (option->get_positional() && command.names.empty())
      command.names = names_of(option->get_name(true));
  }
  all.push_back(command);
  for (const auto* sub : app.get_subcommands({}))
    collect(*sub, path.empty() ? sub->get_name() : path + " " + sub->get_name(), all);
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string bash_script(const std::vector<CommandWords>& commands) {
  std::string script =
      "# bash completion of gridfold; use: source <(gridfold completion bash)\n"
      "_gridfold() {\n"
      "  local current=\"${COMP_WORDS[COMP_CWORD]}\" path=\"\" word words=\"\" names=\"\" i\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    word=\"${COMP_WORDS[i]}\"\n"
      "    [[ \"$word\" == -- ]] && return\n"
      "    [[ \"$word\" == -* ]] && continue\n"
      "    case \" ${path:+$path }$word\" in\n";
  for (const auto& command : commands)
    if (!command.path.empty())
      script += "      \" " + command.path + "\") path=\"" + command.path + "\" ;;\n";
  script += "    esac\n  done\n  case \"$path\" in\n";
  for (const auto& command : commands) {
    script += "    \"" + command.path + "\") words=\"" + joined(command.words) + "\"";
    if (!command.names.empty())
      script += "; names=\"$(timeout 1 gridfold " + command.names + " 2>/dev/null)\"";
    script += " ;;\n";
  }
  script +=
      "  esac\n"
      "  COMPREPLY=($(compgen -W \"$words $names\" -- \"$current\"))\n"
      "}\n"
      "complete -o default -F _gridfold gridfold\n";
  return script;
}

std::string zsh_script(const std::vector<CommandWords>& commands) {
  return "#compdef gridfold\n"
         "# zsh completion of gridfold; use: source <(gridfold completion zsh)\n"
         "autoload -Uz bashcompinit && bashcompinit\n" +
         bash_script(commands);
}

std::string fish_script(const std::vector<CommandWords>& commands) {
  std::string script = "# fish completion of gridfold; use: gridfold completion fish | source\n";
  for (const auto& command : commands) {
    std::string condition = "__fish_use_subcommand";
    if (!command.path.empty()) {
      condition.clear();
      std::string_view rest = command.path;
      while (!rest.empty()) {
        const auto space = rest.find(' ');
        condition += (condition.empty() ? "" : "; and ") +
                     std::string("__fish_seen_subcommand_from ") +
                     std::string(rest.substr(0, space));
        rest.remove_prefix(space == std::string_view::npos ? rest.size() : space + 1);
      }
    }
    const auto line = "complete -c gridfold -n '" + condition + "' -f -a '";
    script += line + joined(command.words) + "'\n";
    if (!command.names.empty())
      script += line + "(timeout 1 gridfold " + command.names + " 2>/dev/null)'\n";
  }
  return script;
}

int completion(const Cli& cli, const std::string& shell) {
  std::vector<CommandWords> commands;
  collect(cli.root, "", commands);
  const auto script = shell == "bash"  ? bash_script(commands)
                      : shell == "zsh" ? zsh_script(commands)
                                       : fish_script(commands);
  std::fputs(script.c_str(), stdout);
  return kExitOk;
}

}  // namespace

void add_completion_command(Cli& cli) {
  auto* command = cli.root.add_subcommand("completion", "print a completion script for a shell");
  command->fallthrough();
  const auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback(
      [&cli, shell] { cli.chosen = [&cli, shell] { return completion(cli, *shell); }; });
}

}  // namespace gridfold
