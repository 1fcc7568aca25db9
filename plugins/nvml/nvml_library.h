// The library, found at run time: nothing of NVIDIA's is needed to build.
#pragma once

#include <string>

#include "gridfold/device_plugin.h"
#include "nvml_api.h"

namespace gridfold::nvml {

// Text of a failed call and the status it maps to, ready for the host.
struct Outcome {
  std::int32_t status = GRIDFOLD_OK;
  std::string message;

  bool ok() const { return status == GRIDFOLD_OK; }
};

struct Library {
  // Every call as a pointer of its own name; optional ones may be null.
#define GRIDFOLD_NVML_POINTER(name, parameters) nvml_status(*name) parameters = nullptr;
  GRIDFOLD_NVML_CALLS(GRIDFOLD_NVML_POINTER, GRIDFOLD_NVML_POINTER)
#undef GRIDFOLD_NVML_POINTER
  const char* (*nvmlErrorString)(nvml_status) = nullptr;

  // Opens `path`, or the system's library when empty, and resolves the calls.
  // The object stays loaded.
  Outcome load(const std::string& path);
  // "nvmlDeviceGetName: GPU is lost".
  std::string describe(const char* call, nvml_status status) const;
};

// True when the device or the driver is in trouble, not merely unable to tell.
bool is_failure(nvml_status status);

}  // namespace gridfold::nvml
