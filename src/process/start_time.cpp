#include "process/start_time.hpp"

#include <fstream>
#include <sstream>
#include <string>

namespace strata::process {

namespace {

constexpr int state_field = 3;  // the first behind the name
constexpr int start_time_field = 22;

}  // namespace

std::optional<std::uint64_t> start_ticks(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  // The name stands in parentheses, and may have blanks and parentheses itself.
  const auto end_of_name = line.rfind(')');
  if (end_of_name == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(end_of_name + 1));
  std::string skipped;
  for (int field = state_field; field < start_time_field; ++field) fields >> skipped;
  std::uint64_t ticks = 0;
  if (!(fields >> ticks)) return std::nullopt;
  return ticks;
}

}  // namespace strata::process
