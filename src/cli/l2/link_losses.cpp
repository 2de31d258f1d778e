#include "cli/l2/link_losses.hpp"

#include <fmt/format.h>

#include <fstream>
#include <string_view>

namespace strata::cli {

namespace {

std::optional<std::uint64_t> counter_at(const std::string& name, std::string_view file) {
  std::ifstream text(fmt::format("/sys/class/net/{}/{}", name, file));
  std::uint64_t number = 0;
  if (text >> number) return number;
  return std::nullopt;
}

std::optional<std::uint64_t> losses_of(const std::string& name) {
  const auto dropped = counter_at(name, "statistics/tx_dropped");
  const auto failed = counter_at(name, "statistics/tx_errors");
  if (!dropped || !failed) return std::nullopt;
  return *dropped + *failed;
}

}  // namespace

link_losses::link_losses(std::string name) : name_(std::move(name)), before_(losses_of(name_)) {}

std::optional<std::uint64_t> link_losses::dropped() const {
  const auto now = losses_of(name_);
  // An interface that was removed and created again counts from 0.
  if (!now || !before_ || *now < *before_) return std::nullopt;
  return *now - *before_;
}

std::optional<std::string> link_losses::trouble(std::uint64_t sent) const {
  const auto lost = dropped().value_or(0);
  if (sent == 0 || lost == 0) return std::nullopt;
  if (counter_at(name_, "carrier").value_or(1) == 0) {
    return fmt::format(
        "'{}' has no carrier and dropped {} of {} frames; is the other end up, and the cable "
        "plugged in?",
        name_, lost, sent);
  }
  if (lost < sent) return std::nullopt;
  return fmt::format(
      "'{}' dropped all of {} frames; is the MTU of its other end smaller? See `ip -s link show "
      "{}`",
      name_, sent, name_);
}

}  // namespace strata::cli
