// Job files and stored jobs in JSON from any bytes: no crash, and what is
// accepted is written as JSON that reads back to the same jobs.
#include <cstdint>
#include <cstdlib>

#include "wire/job_file.h"
#include "wire/job_json.h"

namespace {

using namespace gridfold;

void check(const JobSpec& job) {
  const auto again = parse_stored_job(to_json(job));
  if (!again || !(*again == job)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto jobs = parse_job_file(text, JobFileFormat::kJson))
    for (const auto& job : *jobs) check(job);
  if (const auto job = parse_stored_job(text)) check(*job);
  return 0;
}
