#include "strata/wire/vlan.hpp"

#include <cstring>

#include "strata/base/mac_address.hpp"
#include "strata/wire/big_endian.hpp"

namespace strata::wire {

result<void> vlan_tci::check() const {
  if (priority > 7) {
    return failure(errc::invalid_argument, "use VLAN priority " + std::to_string(priority),
                   "a PCP has 3 bits", "use 0 to 7");
  }
  if (vlan_id > max_vlan_id) {
    return failure(errc::invalid_argument, "use VLAN id " + std::to_string(vlan_id),
                   "4095 is reserved and a VID has 12 bits", "use 0 to 4094");
  }
  return {};
}

std::optional<vlan_tag> outer_tag(byte_span frame) {
  if (frame.size() < mac_addresses_size + vlan_tag_size) return std::nullopt;
  const auto tpid = read_u16(frame.subspan<mac_addresses_size, 2>());
  if (!is_tpid(tpid)) return std::nullopt;
  return vlan_tag{tpid, vlan_tci::decode(read_u16(frame.subspan<mac_addresses_size + 2, 2>()))};
}

mutable_byte_span strip_tag(mutable_byte_span frame) {
  if (!outer_tag(frame)) return frame;
  std::memmove(frame.data() + vlan_tag_size, frame.data(), mac_addresses_size);
  return frame.subspan(vlan_tag_size);
}

result<void> insert_tag(mutable_byte_span memory, const vlan_tag& tag) {
  if (memory.size() < vlan_tag_size + mac_addresses_size) {
    return failure(errc::invalid_argument,
                   "tag a frame in " + std::to_string(memory.size()) + " bytes",
                   "it must hold two addresses after four free bytes");
  }
  std::memmove(memory.data(), memory.data() + vlan_tag_size, mac_addresses_size);
  write_u16(memory.subspan<mac_addresses_size, 2>(), tag.tpid);
  write_u16(memory.subspan<mac_addresses_size + 2, 2>(), tag.tci.encode());
  return {};
}

}  // namespace strata::wire
