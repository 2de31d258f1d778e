// Lua's patterns (Lua 5.1 manual, section 5.4.1), matched step by step, so that an endless match
// can be stopped between two steps.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>

namespace strata::script {

/// The fault of a malformed pattern, in words.
struct pattern_error {
  std::string what;
};

class pattern_matcher {
 public:
  static constexpr int most_captures = 32;

  struct capture {
    std::size_t begin;
    std::ptrdiff_t size;  // or one of the two below
  };
  static constexpr std::ptrdiff_t open = -1;
  static constexpr std::ptrdiff_t position = -2;
  static constexpr std::size_t none = std::string_view::npos;

  /// `between` is called from time to time during a match, and may throw. Both texts must outlive
  /// the matcher.
  pattern_matcher(std::string_view subject, std::string_view pattern, std::function<void()> between)
      : subject_(subject), pattern_(pattern), between_(std::move(between)) {}

  /// Matches the pattern from its byte `start` against the subject at `offset`; returns the end of
  /// the match, or `none`. Throws pattern_error.
  std::size_t match(std::size_t offset, std::size_t start = 0);
  [[nodiscard]] int captures() const { return captured_; }
  [[nodiscard]] const capture& captured(int index) const {
    return all_[static_cast<std::size_t>(index)];
  }

 private:
  std::size_t run(std::size_t offset, std::size_t in);
  std::size_t run_single(std::size_t offset, std::size_t position, std::size_t end, bool& goes_on,
                         std::size_t& next_at, std::size_t& next_in);
  std::size_t expand_most(std::size_t offset, std::size_t position, std::size_t end);
  std::size_t expand_least(std::size_t offset, std::size_t position, std::size_t end);
  std::size_t begin_capture(std::size_t offset, std::size_t position, std::ptrdiff_t what);
  std::size_t end_capture(std::size_t offset, std::size_t position);
  std::size_t balance(std::size_t offset, std::size_t position);
  std::size_t back_reference(std::size_t offset, char character);
  bool is_frontier(std::size_t offset, std::size_t set, std::size_t end) const;
  [[nodiscard]] std::size_t class_end(std::size_t position) const;
  [[nodiscard]] bool fits(std::size_t offset, std::size_t position, std::size_t end) const;
  [[nodiscard]] bool in_set(unsigned char letter, std::size_t position, std::size_t end) const;
  [[nodiscard]] char at_pattern(std::size_t position) const {
    return position < pattern_.size() ? pattern_[position] : '\0';
  }
  void step();

  std::string_view subject_;
  std::string_view pattern_;
  std::function<void()> between_;
  std::array<capture, most_captures> all_{};
  int captured_ = 0;
  int depth_ = 0;
  unsigned steps_ = 0;
};

}  // namespace strata::script
