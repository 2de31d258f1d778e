// Media types of files, by the ending of their names.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

namespace strata::http {

class media_types {
 public:
  /// The system's table (`/etc/mime.types`) merged over a small built-in one. Read at the first
  /// call.
  [[nodiscard]] static const media_types& of_system();
  /// `table` is the text of such a file: a type, followed by its name endings.
  explicit media_types(std::string_view table);

  /// The Content-Type of a file name, with the charset for text.
  [[nodiscard]] std::string_view of(std::string_view name) const;

 private:
  void set(std::string_view ending, std::string_view type);

  std::unordered_map<std::string, std::string> by_ending_;
};

/// Whether compression makes content of that Content-Type smaller.
[[nodiscard]] bool is_compressible(std::string_view type);

}  // namespace strata::http
