#include "strata/wire/hybrid_handshake.hpp"

#include <string>

#include "strata/wire/big_endian.hpp"
#include "strata/wire/ethernet.hpp"

namespace strata::wire {

namespace {

constexpr std::string_view magic = "strata-h";
constexpr std::uint16_t no_vlan = 0xFFFF;

std::unexpected<error> refuse(std::string reason, std::string remedy = {}) {
  return failure(errc::malformed, "read the peer's hybrid greeting", std::move(reason),
                 std::move(remedy));
}

}  // namespace

result<hybrid_greeting> hybrid_greeting::parse(std::span<const std::byte, size> bytes) {
  const byte_span whole(bytes);
  if (as_text(whole.first(magic.size())) != magic) {
    return refuse("its first bytes are wrong", "check that the port is a hybrid endpoint's");
  }
  const auto version = read_u16(whole.subspan<8, 2>());
  if (version != hybrid_version) {
    return failure(errc::not_supported,
                   "communicate with a hybrid endpoint of version " + std::to_string(version),
                   "this endpoint has version " + std::to_string(hybrid_version),
                   "use the same release at both ends");
  }
  const auto role = read_u16(whole.subspan<10, 2>());
  if (role != 1 && role != 2) return refuse("invalid role " + std::to_string(role));
  const auto vlan_id = read_u16(whole.subspan<28, 2>());
  hybrid_greeting found{.role = static_cast<end>(role),
                        .session = read_u64(whole.subspan<12, 8>()),
                        .mac = mac_address(whole.subspan<20, mac_address::size>()),
                        .ethertype = read_u16(whole.subspan<26, 2>()),
                        .vlan_id = {},
                        .mtu = read_u16(whole.subspan<30, 2>())};
  if (vlan_id != no_vlan) found.vlan_id = vlan_id;
  if ((found.role == end::server) != (found.session != 0)) return refuse("its session is invalid");
  if (found.mac.is_multicast()) return refuse("invalid MAC address " + found.mac.text());
  if (found.vlan_id && *found.vlan_id > max_vlan_id) {
    return refuse("invalid VLAN id " + std::to_string(*found.vlan_id));
  }
  if (found.ethertype < min_ethertype || is_tpid(found.ethertype)) {
    return refuse("invalid EtherType " + std::to_string(found.ethertype));
  }
  if (found.mtu <= hybrid_data::head_size) {
    return refuse("invalid MTU " + std::to_string(found.mtu));
  }
  return found;
}

std::array<std::byte, hybrid_greeting::size> hybrid_greeting::build() const {
  std::array<std::byte, size> made{};
  const mutable_byte_span bytes(made);
  copy_bytes(as_bytes(magic), bytes);
  write_u16(bytes.subspan<8, 2>(), hybrid_version);
  write_u16(bytes.subspan<10, 2>(), static_cast<std::uint16_t>(role));
  write_u64(bytes.subspan<12, 8>(), session);
  copy_bytes(mac.bytes(), bytes.subspan(20));
  write_u16(bytes.subspan<26, 2>(), ethertype);
  write_u16(bytes.subspan<28, 2>(), vlan_id.value_or(no_vlan));
  write_u16(bytes.subspan<30, 2>(), mtu);
  return made;
}

std::optional<hybrid_data> hybrid_data::parse(byte_span payload) {
  if (payload.size() < head_size) return std::nullopt;
  const std::size_t size = read_u16(payload.subspan<8, 2>());
  if (size > payload.size() - head_size) return std::nullopt;
  return hybrid_data{.session = read_u64(payload.first<8>()),
                     .message = payload.subspan(head_size, size)};
}

std::size_t hybrid_data::write(mutable_byte_span memory) const {
  write_u64(memory.first<8>(), session);
  write_u16(memory.subspan<8, 2>(), static_cast<std::uint16_t>(message.size()));
  copy_bytes(message, memory.subspan(head_size));
  return head_size + message.size();
}

}  // namespace strata::wire
