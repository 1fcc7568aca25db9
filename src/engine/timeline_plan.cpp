// How the timeline finds the earliest plan, and which nodes it takes.
#include <algorithm>
#include <bit>
#include <queue>

#include "base/planted.h"
#include "engine/timeline.h"

namespace gridfold {
namespace {

// Rounded down so that alike run times share what is known of them.
Duration rounded_down(Duration run) {
  if (run == kForEver || run.ns < 16) return run;
  const int shift = std::bit_width(static_cast<std::uint64_t>(run.ns)) - 4;
  return {run.ns >> shift << shift};
}

bool needs_trial(const PlanAsk& ask) {
  return ask.parts.size() != 1 ||
         (ask.wish != nullptr &&
          (ask.wish->segments ||
           (!ask.wish->spread.empty() && !GRIDFOLD_PLANTED_BUG(plan_spreads_anywhere))));
}

}  // namespace

Reservation Timeline::plan(const PlanAsk& ask) {
  Reservation plan = needs_trial(ask) ? plan_mixed(ask) : plan_alike(ask);
  plan.run = ask.run;
  if (!plan.start.is_never()) sort_along_tree(plan);
  return plan;
}

void Timeline::sort_along_tree(Reservation& plan) const {
  std::sort(plan.seats.begin(), plan.seats.end(),
            [&](const ReservedSeat& a, const ReservedSeat& b) {
              if (a.role != b.role) return a.role < b.role;
              return places_[a.node.value] < places_[b.node.value];
            });
  std::vector<ReservedSeat> seats;
  for (const ReservedSeat& seat : plan.seats) {
    const bool same =
        !seats.empty() && seats.back().node == seat.node && seats.back().role == seat.role;
    if (same) seats.back().tasks += seat.tasks;
    if (!same) seats.push_back(seat);
  }
  plan.seats = std::move(seats);
}

// --- Alike tasks ---

// In the domain with the earliest start; of several the first.
Timeline::Found Timeline::earliest(Level& level, std::int64_t tasks, Duration run) {
  const Duration shorter = rounded_down(run);
  if (level.bounds.size() > kMostBounds) level.bounds.clear();
  std::vector<Instant>& starts = level.bounds[{tasks, shorter.ns}];
  starts.resize(level.spans.size(), kLongAgo);

  using Bound = std::pair<Instant, std::uint32_t>;
  std::vector<Bound> open;
  open.reserve(starts.size());
  for (std::uint32_t d = 0; d < starts.size(); ++d) open.emplace_back(std::max(starts[d], now_), d);
  work_.looked_at += static_cast<std::int64_t>(starts.size());
  std::make_heap(open.begin(), open.end(), std::greater<>());
  Found best;
  while (!open.empty()) {
    std::pop_heap(open.begin(), open.end(), std::greater<>());
    const auto [bound, domain] = open.back();
    open.pop_back();
    if (bound > best.start || bound.is_never()) break;
    if (bound == best.start && domain > best.domain) continue;
    const SpanList& spans = level.spans[domain];
    Instant start = spans.earliest(tasks, shorter, bound, work_.looked_at);
    starts[domain] = start;
    if (start > best.start) continue;
    if (shorter != run && !start.is_never())
      start = spans.earliest(tasks, run, start, work_.looked_at);
    if (start < best.start || (start == best.start && domain < best.domain)) best = {start, domain};
  }
  return best;
}

Reservation Timeline::plan_alike(const PlanAsk& ask) {
  const PlanPart& part = ask.parts.front();
  Row& spans = row(*part.request);
  Level& places = level(spans, ask.wish == nullptr ? std::string() : ask.wish->require);
  const Found found = earliest(places, part.tasks, ask.run);
  Reservation plan;
  plan.start = found.start;
  if (found.start.is_never()) return plan;

  // Some more nodes than are needed, to choose from.
  const std::size_t enough = static_cast<std::size_t>(part.tasks) * 2 + 64;
  found_.clear();
  places.spans[found.domain].collect(found.start, ask.run, part.tasks, enough, found_,
                                     work_.looked_at);
  struct Candidate {
    std::int64_t left_over;
    Instant begin;
    std::uint32_t place;
    NodeId node;
    std::int32_t slots;
  };
  std::vector<Candidate> candidates;
  ++search_;
  const Instant until = end_of(found.start, ask.run);
  for (const FreeSpan& span : found_) {
    std::uint64_t& seen = seen_[span.node.value];
    if (seen == search_) continue;
    seen = search_;
    const FreeAmount least = nodes_[span.node.value].free.least(found.start, until);
    const SlotNeed& counts = need(*part.request, span.node);
    const std::int32_t slots = counts.slots(least);
    const auto taken = static_cast<std::int32_t>(std::min<std::int64_t>(slots, part.tasks));
    candidates.push_back(
        {counts.left_over(taken, least), span.begin, places_[span.node.value], span.node, slots});
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    if (a.left_over != b.left_over) return a.left_over < b.left_over;
    if (a.begin != b.begin) return a.begin > b.begin;
    return a.place < b.place;
  });
  std::int64_t left = part.tasks;
  for (const Candidate& candidate : candidates) {
    if (left == 0) break;
    const auto tasks = static_cast<std::int32_t>(std::min<std::int64_t>(candidate.slots, left));
    plan.seats.push_back({candidate.node, 0, tasks});
    left -= tasks;
  }
  return plan;
}

// --- Several roles, segments ---

// So many tasks of the part on the domain's nodes, least left over first.
bool Timeline::seat(Trial& trial, const PlanPart& part, std::uint32_t number, std::int64_t tasks,
                    DomainId domain) {
  struct Candidate {
    std::int64_t left_over;
    std::uint32_t place;
    NodeId node;
    std::int32_t slots;
  };
  std::vector<Candidate> candidates;
  for (const NodeId node : domains_.tree().nodes_beneath(domain)) {
    const auto known = trial.left.find(node);
    const FreeAmount least = known != trial.left.end()
                                 ? known->second
                                 : nodes_[node.value].free.least(trial.start, trial.until);
    ++work_.looked_at;
    const SlotNeed& counts = need(*part.request, node);
    const std::int32_t slots = counts.slots(least);
    if (slots == 0) continue;
    const auto taken = static_cast<std::int32_t>(std::min<std::int64_t>(slots, tasks));
    candidates.push_back({counts.left_over(taken, least), places_[node.value], node, slots});
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return a.left_over != b.left_over ? a.left_over < b.left_over : a.place < b.place;
  });
  for (const Candidate& candidate : candidates) {
    if (tasks == 0) break;
    const auto taken = static_cast<std::int32_t>(std::min<std::int64_t>(candidate.slots, tasks));
    const NodeId node = candidate.node;
    const auto left =
        trial.left.try_emplace(node, nodes_[node.value].free.least(trial.start, trial.until)).first;
    left->second.add(need(*part.request, node).taken(taken, left->second), -1);
    trial.plan.seats.push_back({node, number, taken});
    tasks -= taken;
  }
  return tasks == 0;
}

// Segment after segment into the first domain that still holds it.
bool Timeline::seat_segments(const PlanAsk& ask, DomainId home, Trial& trial) {
  const Segments& segments = *ask.wish->segments;
  std::vector<std::int64_t> left;
  for (const PlanPart& part : ask.parts) left.push_back(part.tasks);
  std::uint32_t first = 0;  // the part whose turn it is
  while (true) {
    while (first < left.size() && left[first] == 0) ++first;
    if (first == left.size()) return true;
    std::vector<std::pair<std::uint32_t, std::int64_t>> segment;
    std::int64_t size = segments.size;
    for (std::uint32_t p = first; p < left.size() && size > 0; ++p) {
      const std::int64_t tasks = std::min(size, left[p]);
      if (tasks > 0) segment.emplace_back(p, tasks);
      left[p] -= tasks;
      size -= tasks;
    }
    bool seated = false;
    for (const DomainId domain : domains_.tree().domains_at(segments.within)) {
      if (!domains_.tree().contains(home, domain)) continue;
      Trial with = trial;
      seated = std::all_of(segment.begin(), segment.end(), [&](const auto& share) {
        return seat(with, ask.parts[share.first], share.first, share.second, domain);
      });
      if (seated) trial = std::move(with);
      if (seated) break;
    }
    if (!seated) return false;
  }
}

// Task after task into the domain that has fewest of them and room for it.
bool Timeline::seat_evenly(const PlanAsk& ask, DomainId home, Trial& trial) {
  std::vector<std::pair<std::int64_t, DomainId>> domains;  // and their tasks
  for (const DomainId domain : domains_.tree().domains_at(ask.wish->spread)) {
    if (domains_.tree().contains(home, domain)) domains.emplace_back(0, domain);
  }
  for (std::uint32_t p = 0; p < ask.parts.size(); ++p) {
    auto open = domains;  // that may have room for this part
    for (std::int64_t task = 0; task < ask.parts[p].tasks; ++task) {
      bool seated = false;
      while (!seated && !open.empty()) {
        const auto fewest =
            std::min_element(open.begin(), open.end(),
                             [](const auto& a, const auto& b) { return a.first < b.first; });
        seated = seat(trial, ask.parts[p], p, 1, fewest->second);
        if (!seated) {
          open.erase(fewest);
          continue;
        }
        ++fewest->first;
        for (auto& [tasks, domain] : domains) tasks += domain == fewest->second;
      }
      if (!seated) return false;
    }
  }
  return true;
}

bool Timeline::try_at(const PlanAsk& ask, DomainId home, Trial& trial) {
  trial.until = end_of(trial.start, ask.run);
  trial.plan.start = trial.start;
  if (ask.wish != nullptr && ask.wish->segments) return seat_segments(ask, home, trial);
  if (ask.wish != nullptr && !ask.wish->spread.empty()) return seat_evenly(ask, home, trial);
  // The part that asks for most on a node first.
  std::vector<std::uint32_t> order(ask.parts.size());
  for (std::uint32_t p = 0; p < order.size(); ++p) order[p] = p;
  const auto weight = [&](std::uint32_t p) {
    std::int64_t devices = 0;
    for (const DeviceNeed& need : ask.parts[p].request->devices) devices += need.count;
    return std::pair(devices, ask.parts[p].request->cpu);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return weight(a) > weight(b); });
  return std::all_of(order.begin(), order.end(), [&](std::uint32_t p) {
    return seat(trial, ask.parts[p], p, ask.parts[p].tasks, home);
  });
}

Reservation Timeline::plan_mixed(const PlanAsk& ask) {
  const std::string require = ask.wish == nullptr ? std::string() : ask.wish->require;
  const DomainTree& tree = domains_.tree();
  std::vector<DomainId> homes{DomainTree::root()};
  if (!require.empty()) {
    const auto at = tree.domains_at(require);
    homes.assign(at.begin(), at.end());
  }
  for (const PlanPart& part : ask.parts) level(row(*part.request), require);
  const auto spans = [&](const PlanPart& part, std::uint32_t home) -> const SpanList& {
    return level(*rows_[part.request->id], require).spans[home];
  };

  // In order of time; a home is tried again when something in it becomes free.
  using Try = std::pair<Instant, std::uint32_t>;
  std::priority_queue<Try, std::vector<Try>, std::greater<>> tries;
  for (std::uint32_t h = 0; h < homes.size(); ++h) {
    Instant start = now_;
    for (const PlanPart& part : ask.parts)
      start = std::max(start, spans(part, h).earliest(part.tasks, ask.run, now_, work_.looked_at));
    if (!start.is_never()) tries.push({start, h});
  }
  if (tries.empty()) return {};
  for (int tried = 0; tried < kMostTries && !tries.empty(); ++tried) {
    const auto [start, h] = tries.top();
    tries.pop();
    Trial trial{start, {}, {}, {}};
    if (try_at(ask, homes[h], trial)) return trial.plan;
    Instant next = Instant::never();
    for (const PlanPart& part : ask.parts) next = std::min(next, spans(part, h).next_begin(start));
    if (!next.is_never()) tries.push({next, h});
  }
  // Late, but never wrong: when all that will ever be free is free.
  Reservation best;
  for (const DomainId home : homes) {
    Instant all_free = now_;
    for (const NodeId node : tree.nodes_beneath(home))
      all_free = std::max(all_free, nodes_[node.value].free.steps().back().at);
    if (all_free >= best.start) continue;
    Trial trial{all_free, {}, {}, {}};
    if (try_at(ask, home, trial)) best = std::move(trial.plan);
  }
  return best;
}

bool Timeline::fits(const Reservation& plan, std::span<const PlanPart> parts) {
  const Instant start = std::max(plan.start, now_);
  const Instant until = end_of(start, plan.run);
  Overlay left;
  for (const ReservedSeat& seat : plan.seats) {
    if (seat.node.value >= nodes_.size()) return false;
    const auto here =
        left.try_emplace(seat.node, nodes_[seat.node.value].free.least(start, until)).first;
    const SlotNeed& counts = need(*parts[seat.role].request, seat.node);
    if (counts.slots(here->second) < seat.tasks) return false;
    here->second.add(counts.taken(seat.tasks, here->second), -1);
  }
  return true;
}

}  // namespace gridfold
