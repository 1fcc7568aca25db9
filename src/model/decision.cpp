#include "model/decision.h"

#include <bit>
#include <cstring>
#include <type_traits>

namespace gridfold {
namespace {

// In the byte that names the kind: a launch whose last field is a partition's
// start.
constexpr std::uint8_t kWithPartition = 0x80;

// The canonical form: one byte that names the kind of decision, then its
// fields in order. Integers are little-endian and of fixed width; texts and
// lists begin with their length as 32 bits.
class CanonicalWriter {
 public:
  explicit CanonicalWriter(std::string& out) : out_(out) {}
  ~CanonicalWriter() { flush(); }
  CanonicalWriter(const CanonicalWriter&) = delete;
  CanonicalWriter& operator=(const CanonicalWriter&) = delete;

  template <class Integer>
  void integer(Integer value) {
    if (sizeof value > sizeof buffer_ - used_) flush();
    if constexpr (std::endian::native == std::endian::little) {
      std::memcpy(buffer_ + used_, &value, sizeof value);
    } else {
      auto bits = static_cast<std::make_unsigned_t<Integer>>(value);
      for (std::size_t i = 0; i < sizeof bits; ++i)
        buffer_[used_ + i] = static_cast<char>(bits >> (8 * i) & 0xFF);
    }
    used_ += sizeof value;
  }
  void text(std::string_view value) {
    length(value.size());
    if (value.size() > sizeof buffer_ - used_) {
      flush();
      out_ += value;
      return;
    }
    std::memcpy(buffer_ + used_, value.data(), value.size());
    used_ += value.size();
  }
  void length(std::size_t n) { integer(static_cast<std::uint32_t>(n)); }
  void task(TaskId id) {
    integer(id.job.value);
    integer(id.index);
  }
  void reason(const Reason& value) {
    integer(static_cast<std::uint8_t>(value.code));
    length(value.params.size());
    for (const auto& [name, param] : value.params) {
      text(name);
      integer(static_cast<std::uint8_t>(param.index()));
      if (const auto* number = std::get_if<std::int64_t>(&param)) {
        integer(*number);
      } else {
        text(std::get<std::string>(param));
      }
    }
  }

  void operator()(const LaunchTask& d) {
    task(d.task);
    integer(d.attempt);
    integer(d.allocation.node.value);
    integer(d.allocation.devices);
    integer(d.feasible_nodes);
    integer(d.score);
    if (d.allocation.start != kNoPartition) integer(d.allocation.start);
  }
  void operator()(const StopTask& d) {
    task(d.task);
    integer(d.attempt);
    integer(static_cast<std::uint8_t>(d.cause));
  }
  void operator()(const JobChanged& d) {
    integer(d.job.value);
    integer(static_cast<std::uint8_t>(d.from));
    integer(static_cast<std::uint8_t>(d.to));
    reason(d.reason);
  }
  void operator()(const Preempted& d) {
    integer(d.job.value);
    length(d.victims.size());
    for (const JobId victim : d.victims) integer(victim.value);
  }
  void operator()(const NodeDrained& d) {
    integer(d.node.value);
    reason(d.reason);
  }
  void operator()(const BootNode& d) {
    integer(d.node.value);
    integer(d.job.value);
  }
  void operator()(const ReleaseNode& d) {
    integer(d.node.value);
    integer(static_cast<std::uint8_t>(d.cause));
  }

 private:
  void flush() {
    out_.append(buffer_, used_);
    used_ = 0;
  }

  std::string& out_;
  char buffer_[256];  // appended at once; nearly every decision fits
  std::size_t used_ = 0;
};

}  // namespace

void append_canonical(const Decision& decision, std::string& out) {
  CanonicalWriter writer(out);
  auto kind = static_cast<std::uint8_t>(decision.index());
  const auto* launch = std::get_if<LaunchTask>(&decision);
  if (launch != nullptr && launch->allocation.start != kNoPartition) kind |= kWithPartition;
  writer.integer(kind);
  std::visit(writer, decision);
}

}  // namespace gridfold
