// No specification, no message that is read by it, and no header made of it, does harm: up to a NUL
// the input is YAML, and behind it the attributes of a message.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "cli/nl/message.hpp"
#include "ynl/cpp_header.hpp"
#include "ynl/reader.hpp"

using namespace strata;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const auto end = std::min(all.find('\0'), all.size());
  const auto spec = ynl::read_spec(all.substr(0, end), "fuzz.yaml");
  if (!spec) return 0;
  const wire::netlink_attributes rest(as_bytes(all.substr(std::min(end + 1, all.size()))));
  for (const auto& each : spec->operations) {
    (void)cli::attributes_to_json(rest, ynl::scope::of(&*spec, &each));
  }
  (void)ynl::cpp_header(*spec, "fuzz.yaml");
  return 0;
}
