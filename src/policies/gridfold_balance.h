// A second hedge against a mix that turns: while much of the cluster is idle,
// no device model is used up long before the others by tasks that may go
// anywhere. Nobody may have asked for that model so far.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/cluster.h"
#include "policies/gridfold_ledger.h"

namespace gridfold {

class ModelBalance {
 public:
  // Touches the nodes whose model is judged otherwise than before. `watched`:
  // whether much is idle; else no model is short.
  void update(Cluster& cluster, const IdleLedger& ledger, bool watched);

  // Less of the model is idle than of the others.
  bool is_short(std::uint16_t model) const { return model < short_.size() && short_[model]; }
  bool any_short() const { return any_short_; }
  // How often that has changed.
  std::uint64_t changes() const { return changes_; }

 private:
  std::vector<bool> short_;  // by model
  bool any_short_ = false;
  std::uint64_t changes_ = 0;
};

}  // namespace gridfold
