#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "cli/system/checks.hpp"
#include "cli/terminal/table.hpp"

namespace strata::cli {

using nlohmann::json;

namespace {

constexpr std::int64_t soon_s = std::int64_t{14} * 24 * 3600;

/// The check of one certificate; nullopt if it is valid for a while, or is no certificate.
std::optional<check> check_certificate(const std::string& owner, const json& shown) {
  if (!shown.is_object()) return {};
  const auto left = shown.find("expires_in_s");
  if (left == shown.end() || !left->is_number()) return {};
  const auto seconds = left->get<double>();
  if (seconds > static_cast<double>(soon_s)) return {};
  const auto file = text_at(shown, "file");
  const auto date = text_at(shown, "not_after");
  return check{check_status::warn, "certificate",
               seconds <= 0 ? fmt::format("{} of {} expired on {}", file, owner, date)
                            : fmt::format("{} of {} expires within {} days, on {}", file, owner,
                                          static_cast<int>(seconds / 86400) + 1, date),
               "renew it in the same file, with 'strata cert make' or at its authority; then run "
               "'strata reload'"};
}

}  // namespace

std::vector<check> certificate_checks(const std::vector<certificate_owner>& owners) {
  std::vector<check> found;
  std::size_t count = 0;
  for (const auto& [name, certificates] : owners) {
    if (!certificates.is_array()) continue;
    for (const auto& each : certificates) {
      ++count;
      if (auto said = check_certificate(name, each)) found.push_back(std::move(*said));
    }
  }
  if (found.empty() && count != 0) {
    found.push_back({check_status::ok, "certificates",
                     fmt::format("{} in use, none expires within 14 days", count), ""});
  }
  return found;
}

}  // namespace strata::cli
