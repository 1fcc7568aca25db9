// The cluster as the engine sees it: free room of every node and device, in
// flat arrays, and requests compiled against the tables of device classes and
// models. All integers; see base/units.h for the units.
//
// A node's books are what changes: which of the shared states (room_states.h)
// its room is in, and what tasks hold (holding_lists.h). Nothing is allocated
// to take or give back once the tables have grown to the cluster's size.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "engine/holding_lists.h"
#include "engine/node_room.h"
#include "engine/room_states.h"
#include "model/node.h"
#include "model/record.h"

namespace gridfold {

// One device group of a compiled request.
struct DeviceNeed {
  std::uint16_t device_class = 0;
  std::int32_t count = 0;
  std::int32_t share = 1000;          // thousandths of each; 0: by memory only
  std::int64_t memory = 0;            // bytes of each
  std::vector<std::uint16_t> models;  // any of these; empty: any
  DevicePlace place = DevicePlace::kAny;
  std::uint16_t partition = 0;       // number of the profile's name, from 1; 0: none asked for
  std::vector<PartitionKind> kinds;  // of that name, by table; length 0: the table has none
  bool is_whole() const { return share == 1000; }
  bool accepts(std::uint16_t model) const {
    return models.empty() || std::find(models.begin(), models.end(), model) != models.end();
  }
  // Against a queue's limits: thousandths a task. A slice accounted by memory
  // only counts as a whole device, since its share is known only once placed.
  std::int64_t charge() const {
    return static_cast<std::int64_t>(count) * (share == 0 ? 1000 : share);
  }
};

// What one task asks, compiled. Equal requests share one object and one id.
struct Request {
  std::uint32_t id = 0;
  std::int64_t cpu = 0;
  std::int64_t memory = 0;
  std::vector<DeviceNeed> devices;
  TaskRequest source;
  RoomBound least;  // of what it asks
};

// Whether the room of one device suffices for one unit of the need.
bool device_fits(const DeviceRoom& device, const DeviceNeed& need);
// At least what the room has.
RoomBound bound_of(const NodeRoom& room);
// Whether one task of the request fits on the node now.
bool fits(const NodeRoom& node, const Request& request);
// At most so many tasks of the request fit on the node at once: exact for a
// request with at most one device group of count 1 or of whole devices, else
// an upper bound.
std::int32_t slots(const NodeRoom& node, const Request& request);

// What all nodes together have that take tasks, sound devices only.
struct Supply {
  std::int64_t cpu = 0;
  std::int64_t memory = 0;
  std::vector<std::int64_t> devices;  // thousandths by device class
  struct Model {
    std::uint16_t device_class = 0;
    std::uint16_t model = 0;
    std::int64_t thousandths = 0;
  };
  std::vector<Model> models;  // all that there ever were, in the order of their coming
};

// Owns the nodes' books. A node's room is what a new task may take: the free
// part, less what is earmarked by claims. Where claims exist it is the smaller
// of two books: `actual` (capacity less all holdings) and `planned` (capacity
// less the holdings that stay, less the claims).
class Cluster {
 public:
  // --- Nodes ---
  std::size_t size() const { return nodes_.size(); }
  const NodeRecord& record(NodeId node) const { return records_[node.value]; }
  std::span<const NodeRecord> records() const { return records_; }
  std::optional<NodeId> find(std::string_view name) const;
  // Adds the node or takes over its new spec; holdings stay.
  NodeId put(NodeRecord record);
  // Takes the last node away again (undo of a put that added it).
  void remove_last();
  // Up, drained, dirty devices, reason: everything but id and spec.
  void set_status(const NodeRecord& record);
  bool usable(NodeId node) const {  // takes new tasks
    return nodes_[node.value].takes_tasks;
  }
  // By its status: up, and not drained.
  bool in_service(NodeId node) const {
    const NodeRecord& record = records_[node.value];
    return record.up && !record.drained && record.power == NodePower::kOn;
  }
  // A closed node takes no new tasks, whatever its status.
  void set_closed(NodeId node, bool closed);
  bool is_closed(NodeId node) const { return nodes_[node.value].is_closed; }
  // For planning with a node that will be there: it takes tasks as if it were.
  void set_awaited(NodeId node, bool awaited);
  // Another number whenever nodes came, left, or changed their path of domains.
  std::uint64_t topology_version() const { return membership_ + path_changes_; }
  // Likewise, and whenever what a node tells of its links changed.
  std::uint64_t links_version() const { return topology_version() + link_changes_; }
  // Order of the node's name among all nodes.
  std::uint32_t name_rank(NodeId node) const;

  // --- Requests ---
  const Request& compile(const TaskRequest& request);
  std::size_t request_count() const { return requests_.size(); }
  const Request& request(std::uint32_t id) const { return requests_[id]; }
  std::string_view class_name(std::uint16_t id) const { return names_.classes[id]; }
  std::optional<std::uint16_t> find_class(std::string_view name) const;
  std::string_view model_name(std::uint16_t id) const { return names_.models[id]; }
  std::string_view profile_name(const DeviceNeed& need) const {
    return names_.profiles[need.partition - std::size_t{1}];
  }

  // --- Books ---
  NodeRoom room(NodeId node) const {
    const Node& here = nodes_[node.value];
    return states_.room(here.state, node, here.version);
  }
  NodeRoom capacity(NodeId node) const;
  const Supply& supply() const { return supply_; }
  // Only makes room() of these nodes faster: they are fetched side by side.
  void prefetch(std::span<const NodeId> nodes) const;
  std::span<const Holding> holdings(NodeId node) const {
    return holdings_.holdings(nodes_[node.value].holdings);
  }
  std::span<const Holding> claims(NodeId node) const;

  enum class Staying : std::uint8_t { kStays, kLeaves };
  void take(const Allocation& at, TaskId task, const Request& request,
            Staying staying = Staying::kStays);
  // The task must hold something of the node.
  void give_back(NodeId node, TaskId task);
  // The holding is being stopped: its room may be claimed.
  void set_staying(NodeId node, TaskId task, Staying staying);
  void claim(const Allocation& at, TaskId task, const Request& request);
  void unclaim(NodeId node, TaskId task);

  // Room by the books with some holdings regarded as gone, written into
  // `scratch`; for planning whom to evict.
  struct Scratch {
    const NodeShape* shape = nullptr;
    std::vector<DeviceState> devices;
    std::uint64_t usable = 0;
    std::int64_t cpu = 0;
    std::int64_t memory = 0;
    NodeRoom room() const {
      return {
          cpu, memory, {shape->kinds, devices, usable}, NodeId::none(), 0, shape->known_layout()};
    }
  };
  // What room() gives.
  void copy_room(NodeId node, Scratch& scratch) const;
  // Capacity less the holdings that stay, less the claims.
  void planned(NodeId node, Scratch& scratch) const;
  // Capacity less all holdings, claims not counted.
  void actual(NodeId node, Scratch& scratch) const;
  static void add_back(Scratch& scratch, const Request& request, std::uint64_t devices,
                       std::int32_t start);
  static void take_out(Scratch& scratch, const Request& request, std::uint64_t devices,
                       std::int32_t start);
  // Whether exactly these devices, and a partition from just there, can be taken
  // for the request.
  static bool fits_exactly(const NodeRoom& room, const Request& request, const Allocation& at);

  // --- Changes ---
  // Changes of rooms and of who may be used are numbered from 1; those up to
  // forgotten_changes() are no longer known.
  std::uint64_t last_change() const { return last_change_; }
  std::uint64_t forgotten_changes() const;
  // The node that this change was made to; none when it has changed again.
  NodeId changed(std::uint64_t change) const { return log_[change & (log_.size() - 1)].node; }
  // At least what it takes since then; nothing when it may not be used.
  const RoomBound& changed_to(std::uint64_t change) const {
    return log_[change & (log_.size() - 1)].room;
  }
  // Scores of this node are out of date although its room is not: for a policy
  // that has changed its mind about one node.
  void touch(NodeId node) { log(node); }
  // How often nodes were added or removed: when it differs, ids and name ranks
  // may mean other nodes.
  std::uint64_t membership() const { return membership_; }

  // --- Sharing and size ---
  // Equal for nodes of the same shape and room; never used for another state.
  std::uint64_t state_serial(NodeId node) const { return states_.serial(nodes_[node.value].state); }
  // All that is kept of the nodes' rooms and holdings, and beside it an
  // estimate of the records (names, specs) they were made from.
  std::size_t book_bytes() const;
  std::size_t record_bytes() const;

 private:
  struct Change {
    NodeId node = NodeId::none();
    RoomBound room;
  };
  struct Node {
    std::uint64_t version = 0;  // its last change
    HoldingLists::List holdings;
    StateIndex state = RoomStates::kNone;
    bool takes_tasks = false;
    bool is_claimed = false;
    bool is_closed = false;
    bool is_awaited = false;
  };
  struct Names {
    std::vector<std::string> classes;
    std::vector<std::string> models;
    std::vector<std::string> profiles;
  };

  static std::uint16_t intern(std::vector<std::string>& names, std::string_view name);
  std::uint16_t table_of(const std::vector<PartitionProfile>& profiles);
  void take_over_spec(NodeId node);
  void count_supply(NodeId node, int sign);
  void empty_into(NodeId node, Scratch& scratch) const;
  void book(Scratch& scratch, const Holding& holding, int sign) const;
  void change_room(Node& node, const Holding& holding, int sign);
  void recompute(NodeId node);
  void enter(Node& node, const RoomState& state);
  void log(NodeId node);
  void grow_log();
  void rank_names() const;

  std::vector<Node> nodes_;          // by NodeId
  std::vector<NodeRecord> records_;  // likewise
  std::map<std::string, NodeId, std::less<>> by_name_;
  mutable std::vector<std::uint32_t> name_ranks_;
  std::deque<Request> requests_;  // stable addresses
  std::map<std::string, std::uint32_t> request_ids_;
  Names names_;
  std::deque<PartitionTable> tables_{1};  // stable addresses; number 0 is none
  RoomStates states_;
  HoldingLists holdings_;
  Supply supply_;
  std::map<NodeId, std::vector<Holding>> claims_;  // of the few nodes that have any
  std::vector<DeviceState> changing_;              // the devices of a room that changes
  std::vector<Change> log_;                        // by change, modulo its size (a power of two)
  std::uint64_t first_change_ = 0;                 // nothing before it was ever known
  std::uint64_t last_change_ = 0;
  std::uint64_t membership_ = 0;
  std::uint64_t path_changes_ = 0;
  std::uint64_t link_changes_ = 0;
};

}  // namespace gridfold
