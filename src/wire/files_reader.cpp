#include "wire/files_reader.h"

#include <set>

#include "base/base64.h"
#include "base/quote.h"
#include "wire/job_keys.h"

namespace gridfold {
namespace {

constexpr std::size_t kLongestPath = 1024;

// Why `path` may not name a file beneath the working directory; empty: it may.
std::string_view trouble_with(std::string_view path) {
  if (path.empty()) return "the path is empty";
  if (path.size() > kLongestPath) return "the path is longer than 1024 bytes";
  if (path[0] == '/') return "the path is absolute";
  while (true) {
    const auto slash = path.find('/');
    const auto part = path.substr(0, slash);
    if (part == "..") return "the path leads out of the working directory";
    if (part.empty() || part == ".") return "the path has an empty part";
    if (slash == std::string_view::npos) return {};
    path.remove_prefix(slash + 1);
  }
}

void check_path(const Field& field, std::string_view path) {
  if (path.find('\0') != std::string_view::npos)
    field.fail("the path contains a NUL byte", "remove it");
  if (const auto trouble = trouble_with(path); !trouble.empty())
    field.fail(quote(path) + ": " + std::string(trouble),
               "write a path relative to the working directory, such as data/input.txt");
}

// Content may hold any character, a NUL byte as well.
std::string read_content(const Field& field) {
  if (field.node().kind != DocumentNode::Kind::kString)
    field.fail_kind("text", "put numbers in quotes");
  return field.node().text;
}

std::string read_base64(const Field& field) {
  auto bytes = from_base64(read_text(field));
  if (!bytes) field.fail("this is not base64", "encode the file with `base64 -w0`");
  return std::move(bytes).value_or("");
}

StagedFile read_file(const Field& field) {
  StagedFile file;
  if (!check_map(field, kFileKeys)) return file;
  const auto path = field.find("path");
  const auto content = field.find("content");
  const auto base64 = field.find("content_base64");
  if (!path) {
    field.fail("path is missing", "add path, relative to the working directory");
    return file;
  }
  file.path = read_text(*path);
  check_path(*path, file.path);
  if (!content == !base64) {
    field.fail("a file needs either content or content_base64", "give one of them");
    return file;
  }
  file.content = content ? read_content(*content) : read_base64(*base64);
  if (const auto executable = field.find("executable")) file.executable = read_bool(*executable);
  return file;
}

// A file cannot be a directory of another.
void check_distinct(const Field& field, const std::vector<StagedFile>& files) {
  std::set<std::string> paths;
  for (const auto& file : files)
    if (!paths.insert(file.path).second)
      field.fail("two files are named " + quote(file.path), "give them different paths");
  for (const auto& path : paths)
    for (auto slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1))
      if (paths.count(path.substr(0, slash)) != 0)
        field.fail(quote(path.substr(0, slash)) + " is a file and a directory",
                   "give one of them another path");
}

}  // namespace

std::vector<StagedFile> read_files(const Field& field) {
  std::vector<StagedFile> files;
  if (!field.is_map() && !field.is_list()) {
    field.fail_kind("a map", "such as {input.txt: content}");
    return files;
  }
  for (std::size_t i = 0; i < field.size(); ++i) {
    const Field entry = field.item(i);
    if (field.is_list()) {
      files.push_back(read_file(entry));
    } else {
      const std::string& path = field.node().entries[i].key;
      check_path(entry, path);
      files.push_back({path, read_content(entry), false});
    }
  }
  check_distinct(field, files);
  return files;
}

}  // namespace gridfold
