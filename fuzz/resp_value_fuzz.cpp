// Replies of Redis's protocol, in parts of any size: what is read is the same as when it comes in
// one part, and within the limits.
#include <cassert>
#include <cstdint>
#include <string>
#include <vector>

#include "proto/resp/resp_value.hpp"

namespace {

using strata::proto::resp_value;

constexpr strata::proto::value_limits limits{
    .max_depth = 8, .max_bulk = 1U << 10U, .max_values = 500, .max_reply = 1U << 16U};

struct outcome {
  std::vector<resp_value> values;
  bool is_broken = false;
  bool operator==(const outcome&) const = default;
};

std::size_t depth_of(const resp_value& value) {
  std::size_t deepest = 0;
  for (const auto& each : value.elements) deepest = std::max(deepest, depth_of(each));
  return value.is_aggregate() ? deepest + 1 : 0;
}

outcome read_all(std::string_view bytes, std::size_t part) {
  strata::proto::value_reader reader(limits);
  outcome found;
  while (!bytes.empty()) {
    const auto arrived = bytes.substr(0, part);
    bytes.remove_prefix(arrived.size());
    reader.feed(strata::as_bytes(arrived));
    for (;;) {
      auto next = reader.next();
      if (!next) {
        found.is_broken = true;
        return found;
      }
      if (!*next) break;
      // An aggregate without elements is not opened, and may stand one level deeper.
      assert(depth_of(**next) <= limits.max_depth + 1);
      found.values.push_back(std::move(**next));
    }
  }
  return found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto whole = read_all(bytes, bytes.size());
  const auto parts = read_all(bytes, data[0] % 16U + 1);
  assert(whole == parts);
  return 0;
}
