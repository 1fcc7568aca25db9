// Who may speak to the daemon: the address it may listen on, the token a
// caller must show, and the Host and Origin headers it accepts. The last two
// stop a web page from reaching the daemon through the user's own browser
// (DNS rebinding), on every verb.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gridfold {

struct ListenAddress {
  std::string host;        // numeric: "127.0.0.1", "::1"
  std::uint16_t port = 0;  // 0: any free one
};
// "127.0.0.1:8080", "localhost:0", "[::1]:8080". An address that other
// machines could reach is refused: nothing wider than this machine is served.
Result<ListenAddress> parse_listen_address(std::string_view text);

// Takes as long whether or not the two agree.
bool tokens_equal(std::string_view given, std::string_view expected);
// The token of "Bearer TOKEN"; "" when the header has another form.
std::string_view bearer_token(std::string_view authorization);

// Host is this machine's loopback, by name or address, with any port.
bool host_allowed(std::string_view host);
// No Origin (not a browser), or a page that came from this very host and port.
bool origin_allowed(std::string_view origin, std::string_view host);

// Reads the token file, or makes one with 256 random bits when there is none.
// Refused unless the file is a regular one of ours that nobody else can read.
Result<std::string> load_or_create_token(const std::string& path);

}  // namespace gridfold
