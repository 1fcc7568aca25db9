// Why the grid did less than it could: what was noted of the last day is let
// happen again outside the loop, as it was and with what would be done about it.
#include "api/api.h"
#include "base/json_writer.h"
#include "doctor/diagnosis_json.h"

namespace gridfold {
namespace {

void answer(const Solved& solved, const Respond& respond) {
  const auto answer = std::static_pointer_cast<const DiagnosisAnswer>(solved.answer);
  HttpResponse response;
  JsonWriter json(response.body);
  write_diagnosis(json, answer->diagnosis);
  respond(std::move(response));
}

}  // namespace

void add_doctor_route(Router& router, const ApiContext& api) {
  router.add("GET", "/v1/doctor", {}, [&api](const ApiRequest&, Respond respond) {
    api.loop.post([&api, respond = std::move(respond)](ControlLoop& loop) {
      const auto problem =
          std::make_shared<DiagnosisProblem>(api.day_log.day(loop.engine(), api.clock.now()));
      api.examiner.run(Solve{0, problem}, [respond](Event event) {
        if (const auto* solved = std::get_if<Solved>(&event)) answer(*solved, respond);
      });
    });
  });
}

}  // namespace gridfold
