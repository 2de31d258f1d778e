// The YAML of a specification, by key: a value of the wrong form is a `flaw`, which is thrown and
// caught by the reader.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace strata::ynl {

struct flaw : std::runtime_error {
  flaw(const YAML::Node& node, const std::string& text)
      : runtime_error(text), line(node.Mark().line + 1) {}
  int line;  ///< from 1; 0 if unknown
};

class node {
 public:
  explicit node(const YAML::Node& yaml) : yaml_(yaml) {}

  [[nodiscard]] const YAML::Node& yaml() const { return yaml_; }
  [[nodiscard]] bool is_map() const { return yaml_.IsMap(); }
  /// Returns nullopt if the map has no such key, or no value for it.
  [[nodiscard]] std::optional<node> find(const char* key) const;
  /// Returns the map of that key, if it has a value.
  [[nodiscard]] std::optional<node> map(const char* key) const;
  /// Returns an empty list if there is no such key.
  [[nodiscard]] std::vector<node> list(const char* key) const;

  /// Returns the scalar; `text` is its expected meaning, for the error.
  [[nodiscard]] std::string text(std::string_view text) const;
  [[nodiscard]] std::string text_of(const char* key, std::string_view otherwise = {}) const;
  [[nodiscard]] std::string needed_text(const char* key) const;
  [[nodiscard]] std::vector<std::string> texts_of(const char* key) const;
  /// Returns a number from 0 to `most`.
  [[nodiscard]] std::optional<std::uint64_t> number_of(const char* key, std::uint64_t most) const;
  [[nodiscard]] bool is_true(const char* key) const;

  [[noreturn]] void refuse(const std::string& text) const { throw flaw(yaml_, text); }

 private:
  YAML::Node yaml_;
};

}  // namespace strata::ynl
