// The tokens of the control API's callers, each with its role, as --token-file lists them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/operations.hpp"
#include "strata/base/result.hpp"

namespace strata::daemon {

class token_list {
 public:
  static constexpr std::size_t shortest_token = 16;
  static constexpr std::size_t longest_token = 1024;
  static constexpr std::size_t max_tokens = 1000;
  static constexpr std::size_t max_file_size = 1U << 20U;

  /// Reads a regular file that only its owner may read. Errors: those of `parse`; those of opening
  /// and reading the file; permission_denied if others may read it; limit_exceeded if it is larger
  /// than `max_file_size`.
  [[nodiscard]] static result<token_list> read(const std::string& file);

  /// Parses one token per line: `ROLE TOKEN`, or `TOKEN`, whose role is admin. Blank lines and
  /// lines that begin with # are skipped. Errors: invalid_argument, naming file and line but never
  /// the content; limit_exceeded.
  [[nodiscard]] static result<token_list> parse(std::string_view text, const std::string& file);

  [[nodiscard]] bool empty() const { return tokens_.empty(); }
  [[nodiscard]] std::size_t size() const { return tokens_.size(); }

  /// Returns the token's role; nullopt if it is not listed. The time depends on the length of
  /// `guess` and on the list, not on how similar `guess` is to a token.
  [[nodiscard]] std::optional<runtime::role> find(std::string_view guess) const;

 private:
  struct entry {
    std::string token;
    runtime::role role;
    std::size_t line;
  };
  [[nodiscard]] result<void> add_line(std::string_view line, std::size_t number,
                                      const std::string& file);
  [[nodiscard]] result<void> add(entry added, const std::string& file);

  std::vector<entry> tokens_;
};

}  // namespace strata::daemon
