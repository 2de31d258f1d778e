#include "cli/l2/round_trips.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace strata::cli {

bool round_trips::take(std::uint64_t sequence, std::uint64_t took_ns) {
  if (sequence == 0 || sequence > seen_.size()) return false;
  if (seen_[sequence - 1]) {
    ++duplicates_;
    return false;
  }
  seen_[sequence - 1] = true;
  times_.record(took_ns);
  return true;
}

std::string round_trips::text() const {
  const auto part = sent_count() == 0
                        ? 0.0
                        : static_cast<double>(lost()) * 100 / static_cast<double>(sent_count());
  auto all = fmt::format("{} sent, {} received, {} lost ({:.1f} %), {} duplicates\n", sent_count(),
                         received(), lost(), part, duplicates_);
  if (refused_ != 0) all += fmt::format("{} did not leave this machine\n", refused_);
  return received() == 0 ? all : all + times_.text() + "\n";
}

nlohmann::json round_trips::json() const {
  nlohmann::json all{{"sent", sent_count()},
                     {"received", received()},
                     {"lost", lost()},
                     {"duplicates", duplicates_},
                     {"not_taken", refused_}};
  times_.put_into(all);
  return all;
}

}  // namespace strata::cli
