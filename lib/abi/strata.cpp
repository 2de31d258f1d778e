// The C ABI's common part: errors, the version, MAC addresses.
#include "strata/strata.h"

#include <algorithm>
#include <cstring>

#include "abi/error.hpp"
#include "strata/base/mac_address.hpp"

using strata::abi::fail;
using strata::abi::fail_missing;

const char* strata_last_error(void) { return strata::abi::last_error(); }

const char* strata_version(void) { return STRATA_VERSION; }

int strata_mac_parse(const char* text, uint8_t mac[6]) {
  if (text == nullptr || mac == nullptr) return fail_missing("a MAC address");
  const auto parsed = strata::mac_address::from_text(text);
  if (!parsed) return fail(parsed.error());
  std::ranges::copy(parsed->octets(), mac);
  return 0;
}

void strata_mac_format(const uint8_t mac[6], char* text) {
  const std::span<const std::uint8_t, strata::mac_address::size> octets(mac,
                                                                        strata::mac_address::size);
  const auto made = strata::mac_address(std::as_bytes(octets)).text();
  std::memcpy(text, made.c_str(), made.size() + 1);
}
