// Domains of nodes and topology wishes of jobs, from documents.
#pragma once

#include <vector>

#include "model/job.h"
#include "model/topology.h"
#include "wire/field.h"

namespace gridfold {

// [{zone: a}, {rack: r3}], widest first; a plain text is a domain without a
// level.
std::vector<DomainStep> read_domains(const Field& field);

// {prefer: rack, require: spine}, …; wishes that exclude each other are
// refused. `roles`: those of the job, whose tasks segments must divide.
TopologyWish read_topology(const Field& field, const std::vector<Role>& roles);

}  // namespace gridfold
