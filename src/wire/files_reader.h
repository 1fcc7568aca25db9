// The files that a job lays into its working directory.
#pragma once

#include <vector>

#include "model/job.h"
#include "wire/field.h"

namespace gridfold {

// {path: content}, or a list of {path, content | content_base64, executable}.
// Paths lie beneath the working directory, each once.
std::vector<StagedFile> read_files(const Field& field);

}  // namespace gridfold
