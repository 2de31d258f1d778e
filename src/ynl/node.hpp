// The YAML of a specification, by key: what is of another form is a `flaw`, which is thrown
// and caught by the reader.
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
  int line;  ///< from 1; 0 when it is not known
};

class node {
 public:
  explicit node(const YAML::Node& yaml) : yaml_(yaml) {}

  [[nodiscard]] const YAML::Node& yaml() const { return yaml_; }
  [[nodiscard]] bool is_map() const { return yaml_.IsMap(); }
  /// nullopt when the map has no such key, or nothing behind it.
  [[nodiscard]] std::optional<node> find(const char* key) const;
  /// A map with something behind that key.
  [[nodiscard]] std::optional<node> map(const char* key) const;
  /// Empty when there is no such key.
  [[nodiscard]] std::vector<node> list(const char* key) const;

  /// Of a scalar itself; `text` is what it is to be.
  [[nodiscard]] std::string text(std::string_view text) const;
  [[nodiscard]] std::string text_of(const char* key, std::string_view otherwise = {}) const;
  [[nodiscard]] std::string needed_text(const char* key) const;
  [[nodiscard]] std::vector<std::string> texts_of(const char* key) const;
  /// From 0 to `most`.
  [[nodiscard]] std::optional<std::uint64_t> number_of(const char* key, std::uint64_t most) const;
  [[nodiscard]] bool is_true(const char* key) const;

  [[noreturn]] void refuse(const std::string& text) const { throw flaw(yaml_, text); }

 private:
  YAML::Node yaml_;
};

}  // namespace strata::ynl
