// MIG: the ways in which a device can be split, the parts that exist, and making
// and removing them. A part is a GPU instance with one compute instance that
// takes all of it.
#pragma once

#include <vector>

#include "nvml_library.h"

namespace gridfold::nvml {

struct Profile {
  unsigned id = 0;
  unsigned slices = 0;
  std::string name;  // "1g.10gb", as nvidia-smi prints it
  unsigned long long memory_bytes = 0;
  unsigned length = 0;  // slots of one
  std::vector<std::uint32_t> starts;
};
struct Instance {
  std::string uid;  // "MIG-…"
  std::string profile;
  gridfold_device_number start{};
};

bool is_partitioned(const Library& library, nvml_device device);
// Empty when the device cannot be split.
std::vector<Profile> profiles_of(const Library& library, nvml_device device);
std::vector<Instance> instances_of(const Library& library, nvml_device device,
                                   const std::vector<Profile>& profiles);

// Sets `made`. What fails half way leaves nothing behind.
Outcome make_instance(const Library& library, nvml_device device, const Profile& profile,
                      std::uint32_t start, Instance& made);
Outcome remove_instance(const Library& library, nvml_device device, const std::string& uid);

}  // namespace gridfold::nvml
