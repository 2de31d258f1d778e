// Requests of Redis's protocol, in parts of any size: what is read is the same as when it comes in
// one part.
#include <cassert>
#include <cstdint>
#include <string>
#include <vector>

#include "proto/resp/resp_request.hpp"

namespace {

using strata::proto::request_reader;

std::vector<std::string> read_all(std::string_view bytes, std::size_t part) {
  request_reader reader;
  reader.set_limits({.max_bulk = 1U << 16U, .max_arguments = 1000, .max_buffer = 1U << 20U});
  std::vector<std::string> found;
  while (!bytes.empty()) {
    const std::string arrived(bytes.substr(0, part));
    bytes.remove_prefix(arrived.size());
    reader.feed(strata::as_bytes(arrived));
    std::vector<std::string_view> arguments;
    for (;;) {
      arguments.clear();
      const auto outcome = reader.next(arguments);
      if (outcome == request_reader::outcome::broken) {
        found.push_back(reader.error());
        return found;
      }
      if (outcome == request_reader::outcome::incomplete) break;
      found.push_back("request");
      found.insert(found.end(), arguments.begin(), arguments.end());
    }
    reader.keep();
    assert(reader.held() <= (2U << 20U));
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
