// What kind of thing a file is, by the end of its name.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

namespace strata::http {

class media_types {
 public:
  /// The system's table (`/etc/mime.types`) over a small one of ours. Read once, at the first call.
  [[nodiscard]] static const media_types& of_system();
  /// `table` is the text of such a file: a type, and the endings of names that mean it.
  explicit media_types(std::string_view table);

  /// As Content-Type says it, with the charset where it is text.
  [[nodiscard]] std::string_view of(std::string_view name) const;

 private:
  void set(std::string_view ending, std::string_view type);

  std::unordered_map<std::string, std::string> by_ending_;
};

/// Whether bytes of that Content-Type get smaller by compression.
[[nodiscard]] bool is_compressible(std::string_view type);

}  // namespace strata::http
