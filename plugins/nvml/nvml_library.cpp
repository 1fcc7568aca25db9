#include "nvml_library.h"

#include <dlfcn.h>

namespace gridfold::nvml {
namespace {

constexpr char kSystemLibrary[] = "libnvidia-ml.so.1";

std::string last_error() {
  const char* text = dlerror();
  return text != nullptr ? text : "no reason given";
}

}  // namespace

Outcome Library::load(const std::string& path) {
  const bool is_system = path.empty();
  void* object = dlopen(is_system ? kSystemLibrary : path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (object == nullptr) {
    // A machine without the driver is no mistake, a wrong path is one.
    return {is_system ? GRIDFOLD_UNAVAILABLE : GRIDFOLD_INVALID, last_error()};
  }
  std::string missing;
#define GRIDFOLD_NVML_OPTIONAL(name, parameters) \
  name = reinterpret_cast<nvml_status(*) parameters>(dlsym(object, #name));
#define GRIDFOLD_NVML_REQUIRED(name, parameters) \
  GRIDFOLD_NVML_OPTIONAL(name, parameters)       \
  if (name == nullptr && missing.empty()) missing = #name;
  GRIDFOLD_NVML_CALLS(GRIDFOLD_NVML_REQUIRED, GRIDFOLD_NVML_OPTIONAL)
#undef GRIDFOLD_NVML_REQUIRED
#undef GRIDFOLD_NVML_OPTIONAL
  nvmlErrorString =
      reinterpret_cast<const char* (*)(nvml_status)>(dlsym(object, "nvmlErrorString"));
  if (!missing.empty()) return {GRIDFOLD_INVALID, "the library has no function " + missing};
  return {};
}

std::string Library::describe(const char* call, nvml_status status) const {
  const char* text = nvmlErrorString != nullptr ? nvmlErrorString(status) : nullptr;
  const std::string reason = text != nullptr ? text : "status " + std::to_string(status);
  return std::string(call) + ": " + reason;
}

bool is_failure(nvml_status status) {
  switch (status) {
    case NVML_OK:
    case NVML_BAD_ARGUMENT:
    case NVML_NOT_SUPPORTED:
    case NVML_NO_PERMISSION:
    case NVML_NOT_FOUND: return false;
    default: return true;
  }
}

}  // namespace gridfold::nvml
