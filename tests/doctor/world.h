// Days of a small grid by seed: one on which nothing is wrong, and faults that
// can be put into it, one for each cause that the doctor knows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "doctor/doctor.h"
#include "model/job.h"
#include "model/node.h"
#include "model/queue.h"

namespace gridfold::doctor_worlds {

// What a job is like in truth; the scheduler sees the specification alone, and
// what the job reports.
struct WorldJob {
  JobSpec spec;
  Duration arrives{};
  Duration work{};           // on its devices, without waiting
  std::int32_t used = 0;     // of the devices that each task holds
  std::int64_t input = 0;    // of a step, in millionths
  std::int64_t network = 0;  // likewise
  bool reports = true;

  // All of it.
  Duration run() const {
    return {static_cast<std::int64_t>(static_cast<double>(work.ns) * 1e6 /
                                      static_cast<double>(1'000'000 - input - network))};
  }
};

struct Outage {
  std::string node;
  Duration from{}, until{};
};

struct World {
  std::uint64_t seed = 0;
  Duration length = Duration::hours(24);
  std::vector<NodeSpec> nodes;
  std::vector<std::string> drained;  // all day
  std::vector<QueueSpec> queues;
  BackfillOptions backfill;
  bool learned_run_times = true;
  std::vector<WorldJob> jobs;  // in order of arrival
  std::vector<Outage> outages;
};

World healthy_world(std::uint64_t seed);
// With this wrong as well; how, and how much, follows from the seed.
World inject(World world, Cause cause);
// What `inject` did, undone where it is not left out: the gangs of kGangWait stay,
// and plans go by how long jobs like these have run.
World mend(World world, Cause cause);
// The world in which such a fix was made all day; only of those that are no
// fault's removal: PlanBy, BuyNodes.
World with(World world, const Fix& fix);

}  // namespace gridfold::doctor_worlds
