#include "policies/type_seating.h"

#include "policies/declared_rates.h"
#include "policies/round_room.h"
#include "policies/round_seating.h"

namespace gridfold {

bool may_have(const RoundJob& job, std::int32_t tasks) {
  const Role& role = job.spec->roles.front();
  return tasks == 0 || (tasks >= role.min && tasks <= role.count && tasks % role.multiple_of == 0);
}

double speed_on(const RoundJob& job, const GoodputPage& page, const RoundType& type,
                std::int32_t nodes, std::int32_t tasks) {
  if (declares_rates(*job.spec))
    return declared_rate(*job.spec->training, type.model, nodes, tasks);
  return page.goodput(nodes, tasks);
}

RoundPlan seat_types(std::span<const RoundType> types, std::span<const TypeSeat> seats,
                     const TypeSeatCost& cost, std::int64_t& steps) {
  std::vector<std::vector<RoundPlace>> places(seats.size());
  for (std::size_t t = 0; t < types.size(); ++t) {
    std::vector<SeatWish> wishes;
    std::vector<std::size_t> seat_of;
    for (std::size_t i = 0; i < seats.size(); ++i) {
      const auto& [job, choice] = seats[i];
      if (choice.type != t) continue;
      const bool keeps = task_count(job->places) == choice.tasks && type_of(types, *job) == t;
      wishes.push_back({job, choice.tasks, keeps});
      seat_of.push_back(i);
    }
    auto seated = seat_best(
        types[t].nodes, std::move(wishes),
        [&](std::size_t w, std::span<const RoundPlace> at) {
          const std::size_t i = seat_of[w];
          return cost(i,
                      may_have(*seats[i].job, task_count(at)) ? at : std::span<const RoundPlace>{});
        },
        steps);
    for (std::size_t w = 0; w < seated.size(); ++w) {
      const std::size_t i = seat_of[w];
      if (may_have(*seats[i].job, task_count(seated[w]))) places[i] = std::move(seated[w]);
    }
  }
  RoundPlan plan;
  for (std::size_t i = 0; i < seats.size(); ++i) {
    if (!places[i].empty()) plan.assignments.push_back({seats[i].job->id, std::move(places[i])});
  }
  return plan;
}

}  // namespace gridfold
