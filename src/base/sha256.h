// SHA-256 of a stream of bytes (OpenSSL), for decision hashes and staged files.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace gridfold {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void update(std::string_view bytes);
  // Hex digest of all bytes so far; more may follow.
  std::string hex() const;

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

std::string sha256_hex(std::string_view bytes);

}  // namespace gridfold
