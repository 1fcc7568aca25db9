// For trying a plan out: the books without some of what is held.
#pragma once

#include <utility>
#include <vector>

#include "engine/state.h"

namespace gridfold {

// Takes what these hold off the books for as long as it lives.
class Engine::State::Absence {
 public:
  Absence(State& state, std::vector<Leaver> gone, Cluster::Staying staying)
      : state_(state), gone_(std::move(gone)), staying_(staying) {
    for (const Leaver& one : gone_) state_.cluster.give_back(one.at.node, one.task);
  }
  ~Absence() {
    for (const Leaver& one : gone_) state_.cluster.take(one.at, one.task, *one.request, staying_);
  }
  Absence(const Absence&) = delete;
  Absence& operator=(const Absence&) = delete;

 private:
  State& state_;
  std::vector<Leaver> gone_;
  Cluster::Staying staying_;
};

}  // namespace gridfold
