#include "api/access.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/units.h"

namespace gridfold {
namespace {

constexpr std::size_t kTokenBytes = 32;

// The host of "host:port", "[v6]:port" or "host"; "" when it is neither.
std::string_view host_of(std::string_view authority) {
  if (authority.starts_with('[')) {
    const auto close = authority.find(']');
    if (close == std::string_view::npos) return {};
    const auto rest = authority.substr(close + 1);
    if (!rest.empty() && rest.front() != ':') return {};
    return authority.substr(1, close - 1);
  }
  const auto colon = authority.find(':');
  if (colon == std::string_view::npos) return authority;
  for (const char c : authority.substr(colon + 1))
    if (c < '0' || c > '9') return {};
  return authority.substr(0, colon);
}

Result<std::string> read_token(int descriptor, const std::string& path) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return from_errno(errno, "look at " + path);
  if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 077) != 0) {
    Error error{ErrorKind::kUnauthorised,
                "the token file " + path + " is not a file that only its owner can read"};
    error.hint = "run chmod 600 " + path + ", or remove it to have a new one made";
    return error;
  }
  std::array<char, 256> buffer{};
  const auto got = read(descriptor, buffer.data(), buffer.size());
  if (got < 0) return from_errno(errno, "read " + path);
  std::string token(buffer.data(), static_cast<std::size_t>(got));
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
  if (token.size() < kTokenBytes) {
    Error error{ErrorKind::kUnauthorised,
                "the token in " + path + " is shorter than 32 characters"};
    error.hint = "remove the file to have a new one made";
    return error;
  }
  return token;
}

Result<std::string> draw_token() {
  std::array<unsigned char, kTokenBytes> bits{};
  if (RAND_bytes(bits.data(), static_cast<int>(bits.size())) != 1)
    return internal("no random bits for a token");
  static constexpr char kHex[] = "0123456789abcdef";
  std::string token;
  for (const auto byte : bits) {
    token += kHex[byte >> 4];
    token += kHex[byte & 15];
  }
  return token;
}

}  // namespace

Result<ListenAddress> parse_listen_address(std::string_view text) {
  const auto colon = text.rfind(':');
  const auto host = host_of(text);
  if (colon == std::string_view::npos || colon + 1 == text.size() || host.empty()) {
    Error error = invalid("the address \"" + std::string(text) + "\" is not HOST:PORT");
    error.field = "listen";
    error.hint = "write 127.0.0.1:8080, or 127.0.0.1:0 for any free port";
    return error;
  }
  const auto port = parse_count(text.substr(colon + 1));
  if (!port || *port > 65535) {
    Error error = invalid("the port of \"" + std::string(text) + "\" is not a number up to 65535");
    error.field = "listen";
    return error;
  }
  if (host != "::1" && host != "localhost" && !(host.starts_with("127.") && host_allowed(host))) {
    Error error =
        invalid("the address \"" + std::string(text) +
                "\" could be reached from other machines, and only this machine is served");
    error.field = "listen";
    error.hint = "listen on 127.0.0.1 and reach it from elsewhere through an SSH tunnel";
    return error;
  }
  return ListenAddress{host == "localhost" ? "127.0.0.1" : std::string(host),
                       static_cast<std::uint16_t>(*port)};
}

bool tokens_equal(std::string_view given, std::string_view expected) {
  if (given.size() != expected.size() || expected.empty()) return false;
  return CRYPTO_memcmp(given.data(), expected.data(), expected.size()) == 0;
}

std::string_view bearer_token(std::string_view authorization) {
  constexpr std::string_view kScheme = "Bearer ";
  if (!authorization.starts_with(kScheme)) return {};
  return authorization.substr(kScheme.size());
}

bool host_allowed(std::string_view host) {
  const auto name = host_of(host);
  if (name == "localhost" || name == "::1") return true;
  if (!name.starts_with("127.")) return false;
  // Digits and dots only: "127.0.0.1.example.org" is somebody's name.
  return name.find_first_not_of("0123456789.") == std::string_view::npos;
}

bool origin_allowed(std::string_view origin, std::string_view host) {
  if (origin.empty()) return true;
  for (const std::string_view scheme : {"http://", "https://"})
    if (origin.starts_with(scheme)) return origin.substr(scheme.size()) == host;
  return false;  // "null" and all others
}

Result<std::string> load_or_create_token(const std::string& path) {
  int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor >= 0) {
    auto token = read_token(descriptor, path);
    close(descriptor);
    return token;
  }
  if (errno != ENOENT) return from_errno(errno, "open " + path);
  auto token = draw_token();
  if (!token) return token;
  descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor < 0) return from_errno(errno, "create " + path);
  const std::string line = *token + "\n";
  const bool written =
      write(descriptor, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  const int error_number = errno;
  close(descriptor);
  if (!written) return from_errno(error_number, "write " + path);
  return token;
}

}  // namespace gridfold
