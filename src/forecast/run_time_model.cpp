#include "forecast/run_time_model.h"

#include <algorithm>
#include <cmath>

namespace gridfold {
namespace {

float scaled(Duration ran) { return static_cast<float>(std::log1p(ran.in_seconds())); }

float scaled(std::optional<Duration> ran) { return ran ? scaled(*ran) : kNotKnown; }

std::int64_t devices_of(const JobSpec& spec) {
  std::int64_t thousandths = 0;
  for (const Role& role : spec.roles) {
    for (const DeviceRequest& device : role.each.devices)
      thousandths += std::int64_t{role.count} * device.count * device.share.value;
  }
  return thousandths;
}

std::int64_t millicores_of(const JobSpec& spec) {
  std::int64_t millicores = 0;
  for (const Role& role : spec.roles) millicores += std::int64_t{role.count} * role.each.cpu.value;
  return millicores;
}

struct RunTimeAnswer final : SolveAnswer {
  std::shared_ptr<const BoostedTrees> trees;
};

struct RunTimeProblem final : SolveProblem {
  QuantileTable table;

  std::int64_t steps() const override { return growing_steps(table.targets.size(), table.columns); }
  std::shared_ptr<const SolveAnswer> solve() const override {
    auto answer = std::make_shared<RunTimeAnswer>();
    answer->trees = std::make_shared<const BoostedTrees>(grow_quantile_trees(table));
    return answer;
  }
};

// What is corrected: what the most alike said, or the limit, or what others with
// such a limit took.
std::optional<Duration> base_of(const JobSpec& spec, const RunHistory::Kinds& kinds) {
  for (std::size_t i = 0; i < kLikenessesThatSay; ++i) {
    if (kinds[i] != nullptr) return kinds[i]->quantile(kPlannedPerCent);
  }
  if (!spec.time_limit.is_unlimited()) return spec.time_limit.bound();
  const LastRuns* unlimited = kinds[static_cast<std::size_t>(Likeness::kLimit)];
  return unlimited == nullptr ? std::nullopt : unlimited->quantile(kPlannedPerCent);
}

}  // namespace

std::optional<RunTimeModel::Row> RunTimeModel::row_of(const JobSpec& spec,
                                                      const RunHistory::Kinds& kinds) {
  const auto base = base_of(spec, kinds);
  if (!base) return std::nullopt;
  Row row;
  row.base = scaled(*base);
  std::size_t column = 0;
  for (const LastRuns* kind : kinds) {
    row.cells[column++] = kind == nullptr ? kNotKnown : scaled(kind->quantile(kPlannedPerCent));
    row.cells[column++] = kind == nullptr ? kNotKnown : scaled(kind->quantile(25));
    row.cells[column++] = kind == nullptr ? kNotKnown : scaled(kind->newest());
  }
  const LastRuns* own = kinds[static_cast<std::size_t>(Likeness::kUserNameSizeLimit)];
  const LastRuns* named = kinds[static_cast<std::size_t>(Likeness::kUserName)];
  row.cells[column++] = own == nullptr ? 0 : static_cast<float>(own->size());
  row.cells[column++] =
      named == nullptr || named->size() < 2 ? kNotKnown : scaled(named->newest(1));
  row.cells[column++] =
      spec.time_limit.is_unlimited() ? kNotKnown : scaled(spec.time_limit.bound());
  row.cells[column++] = static_cast<float>(devices_of(spec));
  row.cells[column++] = static_cast<float>(millicores_of(spec));
  return row;
}

std::optional<Duration> RunTimeModel::predict(const JobSpec& spec,
                                              const RunHistory::Kinds& kinds) const {
  if (trees_ == nullptr) return std::nullopt;
  const auto row = row_of(spec, kinds);
  if (!row) return std::nullopt;
  // In whole seconds: the last bits of exp() differ between machines.
  const double seconds = std::expm1(row->base + trees_->correction(row->cells));
  constexpr double kLongest = 1e9;
  const auto said =
      Duration::seconds(static_cast<std::int64_t>(std::clamp(seconds, 1.0, kLongest)));
  return spec.time_limit.is_unlimited() ? said : std::min(said, spec.time_limit.bound());
}

void RunTimeModel::observe(const JobSpec& spec, const RunHistory::Kinds& kinds, Duration ran) {
  auto row = row_of(spec, kinds);
  if (!row) return;
  row->target = scaled(ran);
  if (rows_.size() == kMostRows) rows_.pop_front();
  rows_.push_back(*row);
  ++seen_;
}

std::shared_ptr<const SolveProblem> RunTimeModel::problem() {
  if (seen_ < next_) return nullptr;
  while (next_ <= seen_)
    next_ += std::clamp(next_ / 4, std::min(next_, kInterval), kLongestInterval);
  auto problem = std::make_shared<RunTimeProblem>();
  QuantileTable& table = problem->table;
  table.quantile = kPlannedPerCent / 100.0;
  table.columns = kColumns;
  table.cells.reserve(rows_.size() * kColumns);
  for (const Row& row : rows_) {
    table.cells.insert(table.cells.end(), row.cells.begin(), row.cells.end());
    table.bases.push_back(row.base);
    table.targets.push_back(row.target);
  }
  return problem;
}

void RunTimeModel::adopt(const SolveAnswer& answer) {
  trees_ = static_cast<const RunTimeAnswer&>(answer).trees;
}

}  // namespace gridfold
