// The world of ElasticFlow's artefact: jobs with deadlines, measured by steps a
// second on 1, 2, 4, … devices for each global batch, and workloads of which
// each line is a job:
//
//   job_id,submit_time,iteration,model_name,ddl,batch_size,num_gpu,…
//   0,3715485,2011,cifar10,3719996,4096,1     seconds; ddl as submit_time counts
//
// `real_iteration` stands for `iteration` where there is such a column. Time
// counts from the first submission.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "simulator/training/scaling_process.h"
#include "simulator/training_workload.h"

namespace gridfold {

enum class ElasticFlowCluster : std::uint8_t {
  kT4,    // 16 nodes of 4
  kA100,  // 32 nodes of 8
};

// By model and global batch.
using RateTables =
    std::map<std::string, std::map<std::int64_t, std::shared_ptr<const RateTable>>, std::less<>>;
// `tables` is the folder data/elasticflow.
Result<RateTables> read_rate_tables(const std::string& tables, ElasticFlowCluster cluster);
// One file of it. `file` is named in errors.
Result<std::map<std::int64_t, std::shared_ptr<const RateTable>>> read_rate_table(
    std::string_view text, const std::string& file);

// `file` is named in errors.
Result<TrainingWorkload> read_elasticflow_workload(std::string_view text, const std::string& file,
                                                   const RateTables& tables,
                                                   ElasticFlowCluster cluster, Duration restart);

}  // namespace gridfold
