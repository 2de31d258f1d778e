// The C ABI of link addresses.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "abi/error.hpp"
#include "strata/nl/route.hpp"
#include "strata/strata_nl.h"

struct strata_nl_addresses {
  std::vector<std::string> texts;
  std::vector<strata_nl_address> shown;
};

namespace {

strata_nl_address show_address(const strata::nl::link_address& address, const std::string& text) {
  strata_nl_address made{};
  made.link = address.interface_index;
  made.is_v6 = static_cast<std::uint8_t>(address.is_v6);
  made.prefix = address.prefix;
  const auto count = std::min(address.bytes.size(), sizeof made.bytes);
  for (std::size_t i = 0; i < count; ++i) {
    made.bytes[i] = std::to_integer<std::uint8_t>(address.bytes[i]);
  }
  made.text = text.c_str();
  return made;
}

}  // namespace

int strata_nl_addresses_open(int32_t link, strata_nl_addresses** addresses) {
  if (addresses == nullptr) return strata::abi::fail_missing("the output pointer for addresses");
  auto on = strata::nl::route::open();
  if (!on) return strata::abi::fail(on.error());
  auto found = on->addresses();
  if (!found) return strata::abi::fail(found.error());
  if (link != 0) {
    std::erase_if(*found, [link](const auto& each) { return each.interface_index != link; });
  }
  auto made = std::make_unique<strata_nl_addresses>();
  for (const auto& each : *found) made->texts.push_back(each.text());
  for (std::size_t i = 0; i < found->size(); ++i) {
    made->shown.push_back(show_address((*found)[i], made->texts[i]));
  }
  *addresses = made.release();
  return 0;
}

void strata_nl_addresses_close(strata_nl_addresses* addresses) { delete addresses; }

size_t strata_nl_addresses_count(const strata_nl_addresses* addresses) {
  return addresses->shown.size();
}

const strata_nl_address* strata_nl_addresses_at(const strata_nl_addresses* addresses,
                                                size_t index) {
  return index < addresses->shown.size() ? &addresses->shown[index] : nullptr;
}
