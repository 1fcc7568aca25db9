// Events, decisions and states as lines for `sim replay`.
#pragma once

#include <span>
#include <string>

#include "model/decision.h"
#include "model/event.h"
#include "simulator/simulated_cluster.h"
#include "simulator/verify/mirror.h"

namespace gridfold::verify {

std::string event_text(const Event& event);
std::string decision_text(const Decision& decision, std::span<const NodeRecord> nodes);
// Who holds what, by the store and really.
std::string state_text(const World& world, const Mirror& mirror,
                       std::span<const SimulatedCluster::Presence> presences);

}  // namespace gridfold::verify
