// No specification, no message that is read by it, and no header made of it, does harm: up to a NUL
// the input is YAML, and behind it the attributes of a message.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cli/nl/message.hpp"
#include "ynl/cpp_header.hpp"
#include "ynl/reader.hpp"
#include "ynl/table.hpp"

using namespace strata;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const auto end = std::min(all.find('\0'), all.size());
  const auto spec = ynl::read_spec(all.substr(0, end), "fuzz.yaml");
  if (!spec) return 0;
  const wire::netlink_attributes rest(as_bytes(all.substr(std::min(end + 1, all.size()))));
  for (const auto& each : spec->operations) {
    const auto scope = ynl::scope::of(&*spec, &each);
    (void)cli::attributes_to_json(rest, scope);
    // As scripts have it, and back.
    std::array<std::byte, 4096> memory{};
    wire::netlink_writer to(memory);
    to.begin(1, 0);
    (void)ynl::put_table(to, ynl::to_table(rest, scope), scope);
    (void)to.bytes();
  }
  (void)ynl::cpp_header(*spec, "fuzz.yaml");
  return 0;
}
