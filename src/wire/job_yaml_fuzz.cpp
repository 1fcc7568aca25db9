// Job files in YAML from any bytes: no crash, and what is accepted is written
// as JSON that reads back to the same jobs.
#include <cstdint>
#include <cstdlib>

#include "wire/job_file.h"
#include "wire/job_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gridfold;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto jobs = parse_job_file(text, JobFileFormat::kYaml);
  if (!jobs) return 0;
  for (const auto& job : *jobs) {
    const auto again = parse_stored_job(to_json(job));
    if (!again || !(*again == job)) std::abort();
  }
  return 0;
}
