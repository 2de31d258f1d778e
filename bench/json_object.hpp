// One flat JSON object, built in order and printed as one line: the output of every scenario.
#pragma once

#include <fmt/core.h>

#include <concepts>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace strata::bench {

class json_object {
 public:
  void add(std::string_view name, std::string_view text) {
    std::string quoted;
    for (const char c : text) {
      if (c == '"' || c == '\\') {
        quoted += '\\';
        quoted += c;
      } else if (static_cast<unsigned char>(c) < 0x20) {
        quoted += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
      } else {
        quoted += c;
      }
    }
    append(name, fmt::format("\"{}\"", quoted));
  }

  void add(std::string_view name, std::integral auto number) {
    append(name, fmt::format("{}", number));
  }

  void add(std::string_view name, double number) { append(name, fmt::format("{:.6f}", number)); }

  // Flushed at once: a reader of the pipe waits for this line.
  void print() const {
    fmt::print("{{{}}}\n", members_);
    std::fflush(stdout);
  }

 private:
  void append(std::string_view name, std::string_view value) {
    if (!members_.empty()) members_ += ", ";
    members_ += fmt::format("\"{}\": {}", name, value);
  }

  std::string members_;
};

}  // namespace strata::bench
