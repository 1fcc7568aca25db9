// The timeline's books: what is held and booked by node, and the spans that
// follow from it by request. How plans are found is in timeline_plan.cpp.
#include "engine/timeline.h"

#include <algorithm>
#include <cassert>

namespace gridfold {

// --- The books ---

void Timeline::follow(Instant now) {
  now_ = now;
  if (topology_ != cluster_.topology_version() || nodes_.size() != cluster_.size()) {
    rebuild_all();
  } else if (followed_ < cluster_.forgotten_changes()) {
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) rebuild(NodeId(i));
  } else {
    for (std::uint64_t change = followed_ + 1; change <= cluster_.last_change(); ++change) {
      const NodeId node = cluster_.changed(change);
      if (!node.is_none()) rebuild(node);
    }
  }
  followed_ = cluster_.last_change();
}

void Timeline::touch(NodeId node) { rebuild(node); }

void Timeline::rebuild_all() {
  topology_ = cluster_.topology_version();
  nodes_.resize(cluster_.size());
  seen_.assign(cluster_.size(), 0);
  rows_.clear();
  places_.assign(cluster_.size(), 0);
  const DomainTree& tree = domains_.tree();
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    places_[i] = tree.domain_of(NodeId(i)).value;
    rebuild(NodeId(i));
  }
}

std::uint32_t Timeline::make_number(NodeId node) {
  const NodeRoom empty = cluster_.capacity(node);
  const auto [entry, added] = make_numbers_.try_emplace(
      {empty.devices.kinds().data(), empty.layout}, static_cast<std::uint32_t>(makes_.size()));
  if (added) {
    makes_.emplace_back();
    makes_.back().make = make_of(empty);
    makes_.back().empty = empty;
  }
  return entry->second;
}

const SlotNeed& Timeline::need(const Request& request, NodeId node) {
  Make& make = makes_[nodes_[node.value].make];
  if (request.id >= make.needs.size()) make.needs.resize(request.id + std::size_t{1});
  std::unique_ptr<SlotNeed>& need = make.needs[request.id];
  if (!need) need = std::make_unique<SlotNeed>(request, make.make, make.empty);
  return *need;
}

// Holdings from ever until their expected ends, a device until its last holder
// goes; then what is booked.
void Timeline::rebuild(NodeId id) {
  Node& node = nodes_[id.value];
  node.make = make_number(id);
  FreeSteps free;
  if (cluster_.in_service(id)) {
    const NodeMake& make = makes_[node.make].make;
    free = FreeSteps(capacity_of(make, cluster_.capacity(id)));
    std::array<Instant, kMaxDevicesPerNode> busy_until;
    busy_until.fill(kLongAgo);
    std::uint64_t held = 0;
    const auto hold = [&](const Holding& holding) {
      const std::optional<Instant> end = ends_.end_of(holding.job);
      if (!end || *end <= now_) return;
      const Request& request = cluster_.request(holding.request);
      FreeAmount amount;
      amount.cpu = request.cpu;
      amount.memory = request.memory;
      free.add(kLongAgo, *end, amount, -1);
      held |= holding.devices;
      for (std::uint64_t left = holding.devices; left != 0; left &= left - 1) {
        Instant& until = busy_until[static_cast<std::size_t>(std::countr_zero(left))];
        until = std::max(until, *end);
      }
    };
    for (const Holding& holding : cluster_.holdings(id)) hold(holding);
    for (const Holding& claim : cluster_.claims(id)) hold(claim);
    const std::uint64_t usable = cluster_.capacity(id).devices.usable();
    for (held &= usable; held != 0; held &= held - 1) {
      const auto device = static_cast<std::size_t>(std::countr_zero(held));
      const std::uint8_t kind = make.kind_of[device];
      if (kind == NodeMake::kUncounted) continue;
      FreeAmount amount;
      amount.devices[kind] = 1;
      free.add(kLongAgo, busy_until[device], amount, -1);
    }
    if (windows_ != nullptr) {
      for (const NodeWindows::Span& span : windows_->spans(id)) free.close(span.from, span.until);
    }
  }
  for (const Booking& booking : node.bookings)
    free.add(booking.from, booking.until, booking.amount, -1);
  if (free == node.free && node.change != 0) return;
  const bool gained = node.change == 0 || is_more(node.free, free, now_);
  node.free = std::move(free);
  log(id, gained);
  for (const Booking& booking : node.bookings) {
    const Instant from = std::max(booking.from, now_);
    if (from < booking.until && node.free.least(from, booking.until).is_negative())
      shaken_.insert(booking.job);
  }
}

// Whether anything is more at any time from `from` on.
bool Timeline::is_more(const FreeSteps& before, const FreeSteps& now, Instant from) {
  const std::span<const FreeSteps::Step> old = before.steps();
  const std::span<const FreeSteps::Step> fresh = now.steps();
  std::size_t a = 0;
  for (std::size_t b = 0; b < fresh.size(); ++b) {
    const Instant end = b + 1 < fresh.size() ? fresh[b + 1].at : Instant::never();
    if (end <= from) continue;
    while (a + 1 < old.size() && old[a + 1].at <= std::max(fresh[b].at, from)) ++a;
    for (std::size_t i = a; i < old.size() && (i == a || old[i].at < end); ++i) {
      FreeAmount least = old[i].free;
      least.lower_to(fresh[b].free);
      if (!(least == fresh[b].free)) return true;
    }
  }
  return false;
}

void Timeline::log(NodeId node, bool gained) {
  const std::size_t most = std::max<std::size_t>(4 * nodes_.size(), 4096);
  if (log_.size() >= most) {
    const std::size_t dropped = most / 2;
    log_.erase(log_.begin(), log_.begin() + static_cast<std::ptrdiff_t>(dropped));
    first_change_ += dropped;
  }
  log_.push_back({node, gained});
  nodes_[node.value].change = ++last_change_;
  gained_ |= gained;
}

void Timeline::book(JobId job, const Reservation& plan, std::span<const PlanPart> parts) {
  assert(!is_booked(job));
  const Instant until = end_of(plan.start, plan.run);
  std::vector<NodeId>& nodes = booked_[job];
  for (const ReservedSeat& seat : plan.seats) {
    Node& node = nodes_[seat.node.value];
    const FreeAmount amount = need(*parts[seat.role].request, seat.node)
                                  .taken(seat.tasks, node.free.least(plan.start, until));
    node.bookings.push_back({job, plan.start, until, amount});
    node.free.forget_before(now_);
    node.free.add(plan.start, until, amount, -1);
    nodes.push_back(seat.node);
    log(seat.node, false);
  }
}

void Timeline::unbook(JobId job) {
  const auto booked = booked_.find(job);
  if (booked == booked_.end()) return;
  for (const NodeId id : booked->second) {
    if (id.value >= nodes_.size()) continue;  // the node is gone
    Node& node = nodes_[id.value];
    const auto mine = [&](const Booking& booking) { return booking.job == job; };
    for (const Booking& booking : node.bookings) {
      if (mine(booking)) node.free.add(booking.from, booking.until, booking.amount, +1);
    }
    if (std::erase_if(node.bookings, mine) > 0) log(id, true);
  }
  booked_.erase(booked);
  shaken_.erase(job);
}

bool Timeline::is_overbooked(NodeId id, Instant until) const {
  const std::span<const FreeSteps::Step> steps = nodes_[id.value].free.steps();
  for (std::size_t i = 0; i < steps.size() && steps[i].at < until; ++i) {
    const bool is_past = i + 1 < steps.size() && steps[i + 1].at <= now_;
    if (!is_past && steps[i].free.is_negative()) return true;
  }
  return false;
}

// --- The spans that follow from them ---

// A step up opens spans, a step down closes those opened last, so that each is
// as long as can be.
void Timeline::spans_of(const Request& request, NodeId id, std::vector<FreeSpan>& spans) {
  const SlotNeed& counts = need(request, id);
  spans.clear();
  open_.clear();
  std::int32_t slots = 0;
  for (const FreeSteps::Step& step : nodes_[id.value].free.steps()) {
    const std::int32_t now = counts.slots(step.free);
    if (now > slots) open_.emplace_back(step.at, now - slots);
    for (std::int32_t closed = slots - now; closed > 0;) {
      const std::int32_t part = std::min(closed, open_.back().second);
      spans.push_back({open_.back().first, step.at, id, part});
      closed -= part;
      if ((open_.back().second -= part) == 0) open_.pop_back();
    }
    slots = now;
  }
  for (const auto& [begin, part] : open_) spans.push_back({begin, Instant::never(), id, part});
  std::sort(spans.begin(), spans.end());
}

Timeline::Row& Timeline::row(const Request& request) {
  if (request.id >= rows_.size()) rows_.resize(request.id + std::size_t{1});
  std::unique_ptr<Row>& row = rows_[request.id];
  if (!row) {
    row = std::make_unique<Row>();
    row->request = &request;
    row->spans.resize(nodes_.size());
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) spans_of(request, NodeId(i), row->spans[i]);
    row->position = last_change_;
  }
  if (row->position + 1 < first_change_) {
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) update(*row, NodeId(i), true);
  } else {
    for (std::uint64_t change = row->position + 1; change <= last_change_; ++change) {
      const Change& made = log_[change - first_change_];
      const bool is_last = nodes_[made.node.value].change == change;
      if (is_last || made.gained) {
        // What it was meanwhile does not matter, but that it was more does.
        if (is_last) {
          update(*row, made.node, made.gained);
        } else {
          for (Level& level : row->levels) {
            const std::uint32_t domain = level.domain_of[made.node.value];
            if (domain == Level::kNowhere) continue;
            for (auto& [ask, starts] : level.bounds) starts[domain] = kLongAgo;
          }
        }
      }
    }
  }
  row->position = last_change_;
  return *row;
}

void Timeline::update(Row& row, NodeId id, bool gained) {
  spans_of(*row.request, id, fresh_);
  std::vector<FreeSpan>& old = row.spans[id.value];
  if (fresh_ == old) return;
  gone_.clear();
  made_.clear();
  std::set_difference(old.begin(), old.end(), fresh_.begin(), fresh_.end(),
                      std::back_inserter(gone_));
  std::set_difference(fresh_.begin(), fresh_.end(), old.begin(), old.end(),
                      std::back_inserter(made_));
  for (Level& level : row.levels) {
    const std::uint32_t domain = level.domain_of[id.value];
    if (domain == Level::kNowhere) continue;
    for (const FreeSpan& span : gone_) level.spans[domain].erase(span);
    for (const FreeSpan& span : made_) level.spans[domain].insert(span);
    if (!gained) continue;
    for (auto& [ask, starts] : level.bounds) starts[domain] = kLongAgo;
  }
  work_.changed += static_cast<std::int64_t>(gone_.size() + made_.size());
  old = fresh_;
}

Timeline::Level& Timeline::level(Row& row, const std::string& name) {
  for (Level& level : row.levels) {
    if (level.name == name) return level;
  }
  Level& made = row.levels.emplace_back();
  made.name = name;
  if (name.empty()) {
    made.spans.resize(1);
    made.domain_of.assign(nodes_.size(), 0);
  } else {
    const DomainTree& tree = domains_.tree();
    const std::span<const DomainId> domains = tree.domains_at(name);
    made.spans.resize(domains.size());
    made.domain_of.assign(nodes_.size(), Level::kNowhere);
    for (std::uint32_t d = 0; d < domains.size(); ++d) {
      for (const NodeId node : tree.nodes_beneath(domains[d])) made.domain_of[node.value] = d;
    }
  }
  std::vector<std::vector<FreeSpan>> all(made.spans.size());
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    const std::uint32_t domain = made.domain_of[i];
    if (domain == Level::kNowhere) continue;
    all[domain].insert(all[domain].end(), row.spans[i].begin(), row.spans[i].end());
  }
  for (std::size_t d = 0; d < all.size(); ++d) {
    std::sort(all[d].begin(), all[d].end());
    made.spans[d].fill(all[d]);
  }
  return made;
}

std::size_t Timeline::bytes() const {
  std::size_t bytes = log_.capacity() * sizeof(Change) + nodes_.capacity() * sizeof(Node);
  for (const Node& node : nodes_) {
    bytes += node.free.steps().size() * sizeof(FreeSteps::Step);
    bytes += node.bookings.capacity() * sizeof(Booking);
  }
  for (const auto& row : rows_) {
    if (!row) continue;
    for (const auto& spans : row->spans)
      bytes += spans.capacity() * sizeof(FreeSpan) + sizeof spans;
    for (const Level& level : row->levels) {
      bytes += level.domain_of.capacity() * sizeof(std::uint32_t);
      for (const SpanList& spans : level.spans) bytes += spans.size() * sizeof(FreeSpan);
      bytes += level.bounds.size() * level.spans.size() * sizeof(Instant);
    }
  }
  return bytes;
}

}  // namespace gridfold
