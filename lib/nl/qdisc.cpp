#include "strata/nl/qdisc.hpp"

#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "nl/qdisc_reader.hpp"
#include "strata/nl/route.hpp"

namespace strata::nl {

namespace {

template <class Value>
std::optional<Value> struct_in(byte_span bytes) {
  Value made{};
  if (bytes.size() < sizeof made) return std::nullopt;
  std::memcpy(&made, bytes.data(), sizeof made);
  return made;
}

template <class Number>
Number number_in(const wire::netlink_attributes& attributes, std::uint16_t type) {
  const auto found = attributes.find(type);
  return found ? found->number<Number>().value_or(0) : Number{0};
}

std::optional<gate_schedule> schedule_in(const wire::netlink_attributes& attributes) {
  if (!attributes.find(TCA_TAPRIO_ATTR_SCHED_ENTRY_LIST)) return std::nullopt;
  gate_schedule made;
  made.base_time_ns = number_in<std::int64_t>(attributes, TCA_TAPRIO_ATTR_SCHED_BASE_TIME);
  made.cycle_time_ns = number_in<std::int64_t>(attributes, TCA_TAPRIO_ATTR_SCHED_CYCLE_TIME);
  made.cycle_extension_ns =
      number_in<std::int64_t>(attributes, TCA_TAPRIO_ATTR_SCHED_CYCLE_TIME_EXTENSION);
  for (const auto& each : attributes.nest(TCA_TAPRIO_ATTR_SCHED_ENTRY_LIST)) {
    const wire::netlink_attributes entry(each.value());
    made.entries.push_back(
        {.command = number_in<std::uint8_t>(entry, TCA_TAPRIO_SCHED_ENTRY_CMD),
         .gates = number_in<std::uint32_t>(entry, TCA_TAPRIO_SCHED_ENTRY_GATE_MASK),
         .interval_ns = number_in<std::uint32_t>(entry, TCA_TAPRIO_SCHED_ENTRY_INTERVAL)});
  }
  return made;
}

taprio taprio_in(const wire::netlink_attributes& attributes) {
  taprio made;
  made.clock_id = number_in<std::int32_t>(attributes, TCA_TAPRIO_ATTR_SCHED_CLOCKID);
  made.flags = number_in<std::uint32_t>(attributes, TCA_TAPRIO_ATTR_FLAGS);
  made.txtime_delay_ns = number_in<std::uint32_t>(attributes, TCA_TAPRIO_ATTR_TXTIME_DELAY);
  if (const auto found = attributes.find(TCA_TAPRIO_ATTR_PRIOMAP)) {
    if (const auto map = struct_in<tc_mqprio_qopt>(found->value())) {
      made.class_of_priority.assign(map->prio_tc_map, map->prio_tc_map + TC_QOPT_BITMASK + 1);
    }
  }
  made.running = schedule_in(attributes);
  made.next = schedule_in(attributes.nest(TCA_TAPRIO_ATTR_ADMIN_SCHED));
  return made;
}

std::optional<etf> etf_in(const wire::netlink_attributes& attributes) {
  const auto found = attributes.find(TCA_ETF_PARMS);
  const auto said = found ? struct_in<tc_etf_qopt>(found->value()) : std::nullopt;
  if (!said) return std::nullopt;
  return etf{.clock_id = said->clockid,
             .delta_ns = said->delta,
             .is_deadline = (said->flags & TC_ETF_DEADLINE_MODE_ON) != 0,
             .is_offloaded = (said->flags & TC_ETF_OFFLOAD_ON) != 0,
             .skips_socket_check = (said->flags & TC_ETF_SKIP_SOCK_CHECK) != 0};
}

}  // namespace

std::optional<qdisc> qdisc_of(const wire::netlink_message& message) {
  if (message.header().type != RTM_NEWQDISC) return std::nullopt;
  const auto head = struct_in<tcmsg>(message.payload());
  if (!head) return std::nullopt;
  const auto all = message.attributes(sizeof(tcmsg));
  const auto kind = all.find(TCA_KIND);
  if (!kind) return std::nullopt;
  qdisc made{.interface_index = head->tcm_ifindex,
             .handle = head->tcm_handle,
             .parent = head->tcm_parent,
             .kind = std::string(kind->text()),
             .what = {}};
  const auto options = all.nest(TCA_OPTIONS);
  if (made.kind == "taprio") {
    made.what = taprio_in(options);
  } else if (made.kind == "etf") {
    if (auto found = etf_in(options)) made.what = *found;
  }
  return made;
}

bool qdisc::holds_frames() const {
  const auto* const gates = std::get_if<taprio>(&what);
  return kind == "etf" || kind == "fq" || (gates != nullptr && gates->assists_txtime());
}

std::string qdisc::text_of(std::uint32_t handle) {
  if (handle == UINT32_MAX) return "root";
  char text[16];
  const auto minor = handle & 0xFFFFU;
  std::snprintf(text, sizeof text, minor == 0 ? "%x:" : "%x:%x", handle >> 16U, minor);
  return text;
}

std::string clock_text(int clock_id) {
  switch (clock_id) {
    case CLOCK_REALTIME: return "real";
    case CLOCK_MONOTONIC: return "mono";
    case CLOCK_BOOTTIME: return "boot";
    case CLOCK_TAI: return "tai";
    case -1: return "card";
    default: return std::to_string(clock_id);
  }
}

result<std::vector<qdisc>> route::qdiscs(int index) {
  std::vector<qdisc> all;
  auto request = over_.request();
  const tcmsg head{.tcm_ifindex = index};
  request.begin(RTM_GETQDISC, wire::netlink_flag::request | wire::netlink_flag::dump)
      .put_header(std::as_bytes(std::span(&head, 1)));
  auto done = over_.dump(request, "list the queueing disciplines", [&](const auto& each) {
    auto made = qdisc_of(each);
    // The kernel reports all interfaces.
    if (made && made->interface_index == index) all.push_back(std::move(*made));
  });
  if (!done) return std::unexpected(done.error());
  return all;
}

}  // namespace strata::nl
