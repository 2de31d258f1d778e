#include "http/http_date.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <ctime>

namespace strata::http {

namespace {

using namespace std::chrono;

constexpr std::array<std::string_view, 7> day_names = {"Sun", "Mon", "Tue", "Wed",
                                                       "Thu", "Fri", "Sat"};
constexpr std::array<std::string_view, 12> month_names = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

// A two-digit year of the obsolete form that would be more than 50 years ahead is in the past.
int full_year(int two_digits) {
  const auto today = year_month_day(floor<days>(system_clock::now()));
  const int now = static_cast<int>(today.year());
  const int guess = now - now % 100 + two_digits;
  return guess > now + 50 ? guess - 100 : guess;
}

std::optional<std::int64_t> seconds_of(const std::tm& parts) {
  const year_month_day date{year(parts.tm_year), month(static_cast<unsigned>(parts.tm_mon + 1)),
                            day(static_cast<unsigned>(parts.tm_mday))};
  // A leap second is valid.
  const bool is_time = parts.tm_hour < 24 && parts.tm_min < 60 && parts.tm_sec <= 60;
  if (!date.ok() || !is_time) return std::nullopt;
  const auto moment = sys_days(date) + hours(parts.tm_hour) + minutes(parts.tm_min);
  return duration_cast<seconds>(moment.time_since_epoch()).count() + parts.tm_sec;
}

// Reads `text` by a pattern: a letter stands for a name or a number of that many digits, other
// characters for themselves. `_` is a digit or a space.
class date_reader {
 public:
  explicit date_reader(std::string_view text) : rest_(text) {}

  std::optional<int> number(std::size_t digits) {
    if (rest_.size() < digits) return std::nullopt;
    int value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      const char letter = i == 0 && digits == 2 && rest_[0] == ' ' && is_padded_ ? '0' : rest_[i];
      if (letter < '0' || letter > '9') return std::nullopt;
      value = value * 10 + (letter - '0');
    }
    rest_.remove_prefix(digits);
    return value;
  }
  template <std::size_t N>
  std::optional<int> name(const std::array<std::string_view, N>& names) {
    for (std::size_t i = 0; i < N; ++i) {
      if (!rest_.starts_with(names[i])) continue;
      rest_.remove_prefix(names[i].size());
      return static_cast<int>(i);
    }
    return std::nullopt;
  }
  bool skip(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  void allow_padding() { is_padded_ = true; }
  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  void skip_past(char mark) {
    const auto at = rest_.find(mark);
    rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at);
  }

  bool time_of_day(std::tm& time) {
    const auto hour = number(2);
    if (!hour || !skip(":")) return false;
    const auto minute = number(2);
    if (!minute || !skip(":")) return false;
    const auto second = number(2);
    if (!second) return false;
    time.tm_hour = *hour;
    time.tm_min = *minute;
    time.tm_sec = *second;
    return true;
  }

 private:
  std::string_view rest_;
  bool is_padded_ = false;
};

// Reads `06 Nov 1994 08:49:37 GMT`, or the form with dashes and a short year.
bool read_modern(date_reader& reader, std::tm& time, std::string_view between, std::size_t digits) {
  const auto day_of_month = reader.number(2);
  if (!day_of_month || !reader.skip(between)) return false;
  const auto month_of_year = reader.name(month_names);
  if (!month_of_year || !reader.skip(between)) return false;
  const auto of_era = reader.number(digits);
  if (!of_era || !reader.skip(" ") || !reader.time_of_day(time)) return false;
  time.tm_mday = *day_of_month;
  time.tm_mon = *month_of_year;
  time.tm_year = digits == 2 ? full_year(*of_era) : *of_era;
  return reader.skip(" GMT") && reader.at_end();
}

// Reads `Nov  6 08:49:37 1994`, as asctime(3) writes it.
bool read_asctime(date_reader& reader, std::tm& time) {
  const auto month_of_year = reader.name(month_names);
  if (!month_of_year || !reader.skip(" ")) return false;
  reader.allow_padding();
  const auto day_of_month = reader.number(2);
  if (!day_of_month || !reader.skip(" ") || !reader.time_of_day(time) || !reader.skip(" "))
    return false;
  const auto of_era = reader.number(4);
  if (!of_era) return false;
  time.tm_mday = *day_of_month;
  time.tm_mon = *month_of_year;
  time.tm_year = *of_era;
  return reader.at_end();
}

}  // namespace

std::string date_text(std::int64_t offset) {
  const auto moment = sys_seconds(seconds(offset));
  const auto today = floor<days>(moment);
  const year_month_day date(today);
  const hh_mm_ss clock(moment - today);
  return fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT",
                     day_names[weekday(today).c_encoding()], static_cast<unsigned>(date.day()),
                     month_names[static_cast<unsigned>(date.month()) - 1],
                     static_cast<int>(date.year()), clock.hours().count(), clock.minutes().count(),
                     clock.seconds().count());
}

std::string_view date_now() {
  thread_local std::int64_t written_at = -1;
  thread_local std::string written;
  const std::int64_t now = ::time(nullptr);
  if (now != written_at) {
    written = date_text(now);
    written_at = now;
  }
  return written;
}

std::optional<std::int64_t> parse_date(std::string_view text) {
  date_reader from(text);
  std::tm parts{};
  const auto is_short = from.name(day_names).has_value();
  if (!is_short) return std::nullopt;
  bool is_read = false;
  if (from.skip(", ")) {
    is_read = read_modern(from, parts, " ", 4);
  } else if (from.skip(" ")) {
    is_read = read_asctime(from, parts);
  } else {
    // The rest of the weekday is not checked: the date implies it.
    from.skip_past(',');
    is_read = from.skip(", ") && read_modern(from, parts, "-", 2);
  }
  return is_read ? seconds_of(parts) : std::nullopt;
}

}  // namespace strata::http
