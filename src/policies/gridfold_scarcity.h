// Device models that the tasks tied to them will need: tasks that may go
// elsewhere take them only when nothing else fits.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/cluster.h"
#include "policies/gridfold_mix.h"

namespace gridfold {

class ScarceModels {
 public:
  explicit ScarceModels(std::uint16_t device_class) : device_class_(device_class) {}

  // Looks at all nodes, when any task is tied to a model. True when a model has
  // become scarce or is so no more.
  bool update(const Cluster& cluster, const LearnedMix& mix);

  bool is_scarce(std::uint16_t model) const { return state(model) == State::kScarce; }
  bool has_any() const { return !states_.empty(); }  // tasks are tied to models
  // Whether the task may also go to models that are not scarce.
  bool has_choice(const DeviceNeed& need) const;

 private:
  enum class State : std::uint8_t { kAbsent, kPlenty, kScarce };
  State state(std::uint16_t model) const {
    return model < states_.size() ? states_[model] : State::kAbsent;
  }

  // Tasks that accept the same models.
  struct Tied {
    std::vector<std::uint16_t> models;
    std::int64_t demand = 0;  // weight * thousandths
  };
  std::vector<Tied> tied_tasks(const LearnedMix& mix) const;
  // Thousandths of devices by model that the nodes' CPU lets one use when tasks
  // ask for so much CPU and so much share together. 0: no node has the model.
  std::vector<std::int64_t> usable_idle(const Cluster& cluster, std::int64_t cpu,
                                        std::int64_t share) const;
  std::vector<std::int64_t> expected_load(const std::vector<std::int64_t>& idle,
                                          const std::vector<Tied>& tied, std::int64_t demand) const;
  std::vector<State> judge(const std::vector<std::int64_t>& idle,
                           const std::vector<std::int64_t>& load) const;

  std::uint16_t device_class_;
  std::vector<State> states_;  // by model
};

}  // namespace gridfold
