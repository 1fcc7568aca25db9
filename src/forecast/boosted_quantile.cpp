#include "forecast/boosted_quantile.h"

#include <xgboost/c_api.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace gridfold {
namespace {

constexpr int kRounds = 60;
constexpr std::int64_t kDepth = 4;

// A call fails only for want of memory or by a mistake of ours.
void check(int status) {
  if (status != 0) throw std::runtime_error(std::string("xgboost: ") + XGBGetLastError());
}

struct FreeMatrix {
  void operator()(void* matrix) const { XGDMatrixFree(matrix); }
};
struct FreeBooster {
  void operator()(void* booster) const { XGBoosterFree(booster); }
};
using Matrix = std::unique_ptr<void, FreeMatrix>;
using Booster = std::unique_ptr<void, FreeBooster>;

Matrix matrix_of(const QuantileTable& table) {
  DMatrixHandle handle = nullptr;
  check(XGDMatrixCreateFromMat(table.cells.data(), table.targets.size(), table.columns, kNotKnown,
                               &handle));
  Matrix matrix(handle);
  check(XGDMatrixSetFloatInfo(handle, "base_margin", table.bases.data(), table.bases.size()));
  return matrix;
}

Booster booster_for(const Matrix& matrix) {
  DMatrixHandle rows = matrix.get();
  BoosterHandle handle = nullptr;
  check(XGBoosterCreate(&rows, 1, &handle));
  Booster booster(handle);
  const std::string depth = std::to_string(kDepth);
  const std::pair<const char*, const char*> settings[] = {
      {"nthread", "1"},        {"verbosity", "0"},
      {"tree_method", "hist"}, {"max_depth", depth.c_str()},
      {"eta", "0.2"},          {"min_child_weight", "10"},
      {"lambda", "1"},         {"seed", "0"},
      {"base_score", "0"},
  };
  for (const auto& [name, value] : settings) check(XGBoosterSetParam(handle, name, value));
  return booster;
}

}  // namespace

class TreeReader {
 public:
  explicit TreeReader(BoostedTrees& trees) : trees_(trees) {}

  void read(const char* text) {
    trees_.roots_.push_back(static_cast<std::uint32_t>(trees_.nodes_.size()));
    add(nlohmann::json::parse(text));
  }

 private:
  std::uint32_t add(const nlohmann::json& from) {
    const std::size_t at = trees_.nodes_.size();
    trees_.nodes_.emplace_back();
    if (from.contains("leaf")) {
      trees_.nodes_[at].value = from["leaf"].get<float>();
      return static_cast<std::uint32_t>(at);
    }
    BoostedTrees::Node node;
    node.column = std::stoi(from["split"].get<std::string>().substr(1));  // "f12"
    node.value = from["split_condition"].get<float>();
    for (const auto& child : from["children"]) {
      const auto id = child["nodeid"];
      const std::uint32_t added = add(child);
      if (id == from["yes"]) node.left = added;
      if (id == from["no"]) node.right = added;
      if (id == from["missing"]) node.unknown = added;
    }
    trees_.nodes_[at] = node;
    return static_cast<std::uint32_t>(at);
  }

  BoostedTrees& trees_;
};

double BoostedTrees::correction(std::span<const float> row) const {
  double sum = 0;
  for (std::uint32_t at : roots_) {
    while (nodes_[at].column >= 0) {
      const Node& node = nodes_[at];
      const float cell = row[static_cast<std::size_t>(node.column)];
      at = std::isnan(cell) ? node.unknown : cell < node.value ? node.left : node.right;
    }
    sum += nodes_[at].value;
  }
  return sum;
}

std::int64_t growing_steps(std::size_t rows, std::size_t columns) {
  return static_cast<std::int64_t>(rows * columns) * kRounds * kDepth;
}

BoostedTrees grow_quantile_trees(const QuantileTable& table) {
  const Matrix matrix = matrix_of(table);
  const Booster booster = booster_for(matrix);
  const std::size_t rows = table.targets.size();
  const auto share = static_cast<float>(table.quantile);
  std::vector<float> gradients(rows);
  std::vector<float> curvatures(rows, 1);  // the loss has none: steps of one size
  for (int round = 0; round < kRounds; ++round) {
    bst_ulong length = 0;
    const float* said = nullptr;
    constexpr int kMargin = 1;
    check(XGBoosterPredict(booster.get(), matrix.get(), kMargin, 0, 1, &length, &said));
    for (std::size_t i = 0; i < rows; ++i)
      gradients[i] = table.targets[i] > said[i] ? -share : 1 - share;
    check(XGBoosterBoostOneIter(booster.get(), matrix.get(), gradients.data(), curvatures.data(),
                                rows));
  }
  bst_ulong count = 0;
  const char** texts = nullptr;
  check(XGBoosterDumpModelEx(booster.get(), "", 0, "json", &count, &texts));
  BoostedTrees trees;
  TreeReader reader(trees);
  for (bst_ulong i = 0; i < count; ++i) reader.read(texts[i]);
  return trees;
}

}  // namespace gridfold
