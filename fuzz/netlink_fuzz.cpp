// Whatever comes from a netlink socket is read within bounds, and what is written again is the
// same.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "nl/policy_reader.hpp"
#include "strata/wire/genl.hpp"

using namespace strata;

namespace {

// Every byte of every attribute is looked at.
std::size_t walk(wire::netlink_attributes all, int depth) {
  std::size_t sum = 0;
  for (const auto& each : all) {
    for (const auto byte : each.value()) sum += static_cast<std::size_t>(byte);
    sum += each.text().size() + each.any_number().value_or(0) + each.padded_size();
    if (depth > 0) sum += walk(wire::netlink_attributes(each.value()), depth - 1);
  }
  return sum + static_cast<std::size_t>(all.is_whole());
}

void copy_into(wire::netlink_writer& to, wire::netlink_attributes all) {
  for (const auto& each : all) {
    auto type = each.type();
    if (each.is_marked_nested()) type |= 0x8000;
    if (each.is_big_endian()) type |= 0x4000;
    to.put(type, each.value());
  }
}

void check(const wire::netlink_message& message) {
  (void)wire::netlink_ack::parse(message);
  const auto generic = wire::genl_message::parse(message);
  if (!generic) return;
  const auto& all = generic->attributes;
  (void)walk(all, 3);
  for (std::size_t at = 0; at < std::min<std::size_t>(all.bytes().size() + 4, 200); ++at) {
    (void)all.path_to(at);
  }
  nl::family_policy policy;
  nl::read_policy(all, policy);
  std::vector<std::byte> memory(message.bytes().size() + 64);
  wire::netlink_writer to(memory);
  wire::begin_genl(to, message.header().type, message.header().flags, generic->command,
                   generic->version);
  copy_into(to, all);
  const auto again = wire::netlink_message::parse(to.bytes().value());
  auto one = again.value().attributes(wire::genl_message::header_size).begin();
  for (const auto& each : all) {
    if (one->type() != each.type() || !std::ranges::equal(one->value(), each.value())) std::abort();
    ++one;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto rest = std::as_bytes(std::span(data, size));
  while (const auto message = wire::netlink_message::parse(rest)) {
    check(*message);
    rest = message->rest_of(rest);
  }
  return 0;
}
