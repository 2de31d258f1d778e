#include "cli/runtimes/moment.hpp"

#include <fmt/format.h>

#include <string>

#include "options/option_table.hpp"

namespace strata::cli {

using namespace std::chrono;

namespace {

/// Parses a text from its beginning. A mismatch makes the reader bad for good.
class time_reader {
 public:
  explicit time_reader(std::string_view text) : rest_(text) {}

  int number(std::size_t digits, int low, int high) {
    int value = 0;
    for (std::size_t at = 0; at < digits; ++at) value = value * 10 + digit();
    if (value < low || value > high) is_good_ = false;
    return value;
  }

  char one_of(std::string_view letters) {
    const bool fits = !rest_.empty() && letters.contains(rest_.front());
    if (!fits) is_good_ = false;
    return fits ? take() : '\0';
  }

  /// The milliseconds of ".250"; 0 if there is no fraction. Further digits are dropped.
  milliseconds fraction() {
    if (!rest_.starts_with('.')) return {};
    take();
    int value = digit();
    for (int at = 1; at < 3; ++at) value = value * 10 + (has_digit() ? digit() : 0);
    while (has_digit()) take();
    return milliseconds(value);
  }

  [[nodiscard]] bool is_read() const { return is_good_ && rest_.empty(); }

 private:
  [[nodiscard]] bool has_digit() const {
    return !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9';
  }
  int digit() {
    if (!has_digit()) {
      is_good_ = false;
      return 0;
    }
    return take() - '0';
  }
  char take() {
    const char first = rest_.front();
    rest_.remove_prefix(1);
    return first;
  }

  std::string_view rest_;
  bool is_good_ = true;
};

minutes read_offset(time_reader& reader) {
  const char sign = reader.one_of("Zz+-");
  if (sign != '+' && sign != '-') return {};
  const auto ahead = hours(reader.number(2, 0, 23));
  reader.one_of(":");
  const auto whole = ahead + minutes(reader.number(2, 0, 59));
  return sign == '+' ? whole : -whole;
}

}  // namespace

std::optional<moment> parse_rfc3339(std::string_view text) {
  time_reader reader(text);
  const auto in_year = year(reader.number(4, 0, 9999));
  reader.one_of("-");
  const auto in_month = month(static_cast<unsigned>(reader.number(2, 1, 12)));
  reader.one_of("-");
  const year_month_day date(in_year, in_month, day(static_cast<unsigned>(reader.number(2, 1, 31))));
  reader.one_of("Tt ");
  const auto hour = hours(reader.number(2, 0, 23));
  reader.one_of(":");
  const auto minute = minutes(reader.number(2, 0, 59));
  reader.one_of(":");
  const auto second = seconds(reader.number(2, 0, 60));  // 60 is a leap second
  const auto part = reader.fraction();
  const auto offset = read_offset(reader);
  if (!reader.is_read() || !date.ok()) return std::nullopt;
  return sys_days(date) + hour + minute + second + part - offset;
}

outcome<moment> parse_since(std::string_view text, moment moment) {
  if (const auto at = parse_rfc3339(text)) return *at;
  constexpr double longest_s = 1e10;  // earlier than any log
  const auto ago = options::parse_seconds(text);
  if (ago && *ago >= 0 && *ago < longest_s) {
    return moment - milliseconds(static_cast<std::int64_t>(*ago * 1000));
  }
  return refuse(exit_misused,
                fmt::format("--since takes a time such as 2026-03-04T12:00:00Z, or an age such as "
                            "30s, 10m or 2h; not '{}'",
                            text));
}

}  // namespace strata::cli
