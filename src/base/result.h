// Result<T>: a value or an Error, with the interface of C++23's std::expected.
//
//   Result<Bytes> size = parse_bytes("0.5Gi");
//   if (!size) return size.error();
//   use(*size);
//
// Errors are for input and the outside world. A job that cannot be placed is
// not an error but a decision with reasons; a broken invariant of ours is an
// assertion. Values may be used from any thread that owns them.
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace gridfold {

// What kind of trouble it is. Each maps to one exit code and one HTTP status.
enum class ErrorKind : std::uint8_t {
  kInvalid,        // the input is wrong: exit 2, HTTP 400
  kNotFound,       // exit 3, 404
  kUnauthorised,   // exit 4, 401
  kConflict,       // compare failed, wrong state: exit 5, 409
  kUnavailable,    // time-out, nobody listens, read-only store: exit 6, 503
  kInfeasible,     // quota or capacity can never allow it: exit 7, 422
  kLimit,          // input over a published limit: exit 2, 413
  kCorrupt,        // stored data does not read back: exit 1, 500
  kInternal,       // the operating system or a library failed: exit 1, 500
};

// Stable lower-case name, as printed in JSON ("invalid", "not_found", …).
std::string_view to_string(ErrorKind kind);

// Where in a text the trouble lies; 0 means unknown.
struct TextPosition {
  int line = 0;    // from 1
  int column = 0;  // from 1
};

// Message: what is wrong with which thing, and why. Hint: the next step.
// Field: the path of the input field, such as "roles[0].each.gpu".
struct Error {
  ErrorKind kind = ErrorKind::kInternal;
  std::string message;
  std::string field = {};
  std::string hint = {};
  TextPosition position = {};

  // One line: "line 4, column 7: roles[0].each.gpu: message (hint)".
  std::string describe() const;

  // The same error with "context: " before its message.
  Error with_context(std::string_view context) const;
};

inline Error invalid(std::string message) { return {ErrorKind::kInvalid, std::move(message)}; }
inline Error not_found(std::string message) { return {ErrorKind::kNotFound, std::move(message)}; }
inline Error conflict(std::string message) { return {ErrorKind::kConflict, std::move(message)}; }
inline Error unavailable(std::string message) {
  return {ErrorKind::kUnavailable, std::move(message)};
}
inline Error corrupt(std::string message) { return {ErrorKind::kCorrupt, std::move(message)}; }
inline Error internal(std::string message) { return {ErrorKind::kInternal, std::move(message)}; }

// "open /x: Permission denied": kind kInternal (kNotFound for ENOENT,
// kUnavailable for ENOSPC and EROFS).
Error from_errno(int error_number, std::string_view what);

template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& value() & { assert(has_value()); return *std::get_if<0>(&state_); }
  const T& value() const& { assert(has_value()); return *std::get_if<0>(&state_); }
  T&& value() && { assert(has_value()); return std::move(*std::get_if<0>(&state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const { assert(!has_value()); return *std::get_if<1>(&state_); }
  T value_or(T fallback) const { return has_value() ? value() : std::move(fallback); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool has_value() const { return !error_; }
  explicit operator bool() const { return has_value(); }
  const Error& error() const { assert(error_); return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace gridfold
