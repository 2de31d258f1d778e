// Tests disciplines as bytes; tests/guest/test_tsn.py tests those that a kernel reports.
#include <gtest/gtest.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#include <array>
#include <ctime>

#include "l2/veth_test.hpp"
#include "nl/qdisc_reader.hpp"
#include "strata/nl/route.hpp"

namespace strata::nl {
namespace {

class qdisc_message {
 public:
  explicit qdisc_message(std::string_view kind) {
    const tcmsg head{.tcm_ifindex = 3, .tcm_handle = 0x80010000U, .tcm_parent = TC_H_ROOT};
    to_.begin(RTM_NEWQDISC, 0).put_header(std::as_bytes(std::span(&head, 1)));
    to_.put_text(TCA_KIND, kind).open_nest(TCA_OPTIONS);
  }
  wire::netlink_writer& options() { return to_; }
  std::optional<qdisc> read() {
    to_.close_nest();
    const auto message = wire::netlink_message::parse(to_.bytes().value());
    return message ? qdisc_of(*message) : std::nullopt;
  }

 private:
  std::array<std::byte, 1024> memory_{};
  wire::netlink_writer to_{memory_};
};

void put_schedule(wire::netlink_writer& writer, std::int64_t base_time_ns, std::uint32_t gates) {
  writer.put_number(TCA_TAPRIO_ATTR_SCHED_BASE_TIME, base_time_ns);
  writer.put_number(TCA_TAPRIO_ATTR_SCHED_CYCLE_TIME, std::int64_t{500'000});
  writer.open_nest(TCA_TAPRIO_ATTR_SCHED_ENTRY_LIST).open_nest(TCA_TAPRIO_SCHED_ENTRY);
  writer.put_number(TCA_TAPRIO_SCHED_ENTRY_CMD, std::uint8_t{0});
  writer.put_number(TCA_TAPRIO_SCHED_ENTRY_GATE_MASK, gates);
  writer.put_number(TCA_TAPRIO_SCHED_ENTRY_INTERVAL, std::uint32_t{500'000});
  writer.close_nest().close_nest();
}

TEST(qdisc_test, taprio_has_the_schedule_that_runs_and_the_next) {
  qdisc_message made("taprio");
  made.options().put_number(TCA_TAPRIO_ATTR_SCHED_CLOCKID, std::int32_t{CLOCK_TAI});
  made.options().put_number(TCA_TAPRIO_ATTR_FLAGS, std::uint32_t{1});
  put_schedule(made.options(), 7, 0x1);
  made.options().open_nest(TCA_TAPRIO_ATTR_ADMIN_SCHED);
  put_schedule(made.options(), 8, 0x2);
  made.options().close_nest();
  const auto found = made.read();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, "taprio");
  EXPECT_EQ(found->interface_index, 3);
  EXPECT_EQ(qdisc::text_of(found->handle), "8001:");
  EXPECT_EQ(qdisc::text_of(found->parent), "root");
  EXPECT_TRUE(found->is_root());
  EXPECT_TRUE(found->holds_frames()) << "it assists";
  const auto& gates = std::get<taprio>(found->what);
  EXPECT_EQ(clock_text(gates.clock_id), "tai");
  EXPECT_FALSE(gates.is_offloaded());
  const gate_schedule running{.base_time_ns = 7,
                              .cycle_time_ns = 500'000,
                              .cycle_extension_ns = 0,
                              .entries = {{.command = 0, .gates = 1, .interval_ns = 500'000}}};
  EXPECT_EQ(gates.running, running);
  ASSERT_TRUE(gates.next);
  EXPECT_EQ(gates.next->base_time_ns, 8);
  EXPECT_EQ(gates.next->entries.at(0).gates, 2U);
}

TEST(qdisc_test, etf_has_its_clock_and_delta) {
  qdisc_message made("etf");
  const tc_etf_qopt said{
      .delta = 300'000, .clockid = CLOCK_MONOTONIC, .flags = TC_ETF_DEADLINE_MODE_ON};
  made.options().put(TCA_ETF_PARMS, std::as_bytes(std::span(&said, 1)));
  const auto found = made.read();
  ASSERT_TRUE(found);
  const etf wanted{.clock_id = CLOCK_MONOTONIC, .delta_ns = 300'000, .is_deadline = true};
  EXPECT_EQ(std::get<etf>(found->what), wanted);
  EXPECT_TRUE(found->holds_frames());
}

TEST(qdisc_test, one_that_is_cut_has_no_parameters) {
  qdisc_message made("etf");
  made.options().put_number(TCA_ETF_PARMS, std::uint32_t{1});
  const auto found = made.read();
  ASSERT_TRUE(found);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(found->what));
  qdisc_message other("pfifo");
  EXPECT_FALSE(other.read()->holds_frames());
}

using qdisc_veth_test = l2::veth_test;

TEST_F(qdisc_veth_test, only_those_of_the_interface_are_told) {
  l2::run_command("tc qdisc replace dev vethA root handle 5: tbf rate 1mbit burst 2000 limit 3000");
  auto on = route::open();
  ASSERT_TRUE(on);
  const auto found = on->qdiscs(on->link_named("vethA").value().index);
  ASSERT_TRUE(found) << describe(found.error());
  ASSERT_FALSE(found->empty());
  EXPECT_EQ(found->front().kind, "tbf");
  EXPECT_EQ(qdisc::text_of(found->front().handle), "5:");
  const auto other = on->qdiscs(on->link_named("vethB").value().index);
  ASSERT_TRUE(other);
  for (const auto& each : *other) EXPECT_NE(each.kind, "tbf");
}

}  // namespace
}  // namespace strata::nl
