// Appends JSON to a string, without a tree in between: for records and answers
// written in large numbers. Reading is nlohmann's work.
//
//   JsonWriter json(out);
//   json.begin_object().key("state").string("running").key("tasks").begin_array();
//   ...
//
// The caller nests correctly; commas and escapes are the writer's work.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace gridfold {

class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }

  JsonWriter& key(std::string_view name) {
    string(name);
    out_ += ':';
    comma_due_ = false;
    return *this;
  }
  JsonWriter& string(std::string_view text) {
    separate();
    out_ += '"';
    escape(text);
    out_ += '"';
    return *this;
  }
  template <class Integer>
  requires std::is_integral_v<Integer> JsonWriter& number(Integer value) {
    separate();
    char buffer[24];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
    out_.append(buffer, end);
    return *this;
  }
  // Shortest text that reads back to the same double; null when not finite.
  JsonWriter& real(double value) {
    separate();
    if (!(value - value == 0)) {
      out_ += "null";
      return *this;
    }
    char buffer[40];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
    out_.append(buffer, end);
    return *this;
  }
  JsonWriter& boolean(bool value) {
    separate();
    out_ += value ? "true" : "false";
    return *this;
  }
  JsonWriter& null() {
    separate();
    out_ += "null";
    return *this;
  }
  // Text that already is JSON.
  JsonWriter& raw(std::string_view json) {
    separate();
    out_ += json;
    return *this;
  }

 private:
  void separate() {
    if (comma_due_) out_ += ',';
    comma_due_ = true;
  }
  JsonWriter& open(char bracket) {
    separate();
    out_ += bracket;
    comma_due_ = false;
    return *this;
  }
  JsonWriter& close(char bracket) {
    out_ += bracket;
    comma_due_ = true;
    return *this;
  }
  // Runs that need no escape, nearly always the whole text, are copied at once.
  void escape(std::string_view text) {
    std::size_t copied = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto u = static_cast<unsigned char>(text[i]);
      if (u >= 0x20 && u != '"' && u != '\\') continue;
      out_.append(text.substr(copied, i - copied));
      escape_one(text[i]);
      copied = i + 1;
    }
    out_.append(text.substr(copied));
  }
  void escape_one(char c) {
    static constexpr char kHex[] = "0123456789abcdef";
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out_ += '\\';
      out_ += c;
    } else if (c == '\n') {
      out_ += "\\n";
    } else if (c == '\t') {
      out_ += "\\t";
    } else {
      out_ += "\\u00";
      out_ += kHex[u >> 4];
      out_ += kHex[u & 15];
    }
  }

  std::string& out_;
  bool comma_due_ = false;
};

}  // namespace gridfold
