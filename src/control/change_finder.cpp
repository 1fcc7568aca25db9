#include "control/change_finder.h"

namespace gridfold {

std::shared_ptr<const ChangeAnswer> ChangeFinder::find(
    std::shared_ptr<const EngineSnapshot> snapshot, JobId job) {
  const std::lock_guard lock(mutex_);
  if (snapshot_ != snapshot) {
    probe_ = std::make_unique<StartProbe>(snapshot, make_policies_);
    snapshot_ = std::move(snapshot);
  }
  auto answer = std::make_shared<ChangeAnswer>();
  answer->snapshot = snapshot_;
  answer->changes = probe_->changes_for(job);
  return answer;
}

}  // namespace gridfold
