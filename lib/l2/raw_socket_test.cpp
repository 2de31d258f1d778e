#include "strata/l2/raw_socket.hpp"

#include <bpf/bpf.h>
#include <gtest/gtest.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <thread>

#include "l2/veth_test.hpp"
#include "strata/wire/ethernet.hpp"

namespace strata::l2 {
namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t type = 0x88B5;
constexpr auto patience = 10s;  // how long a frame may take on a busy machine

std::vector<std::byte> bytes_of(std::size_t count, int first = 1) {
  std::vector<std::byte> made(count);
  for (std::size_t i = 0; i < count; ++i) {
    made[i] = static_cast<std::byte>(first + static_cast<int>(i));
  }
  return made;
}

class raw_socket_test : public veth_test {
 protected:
  static raw_socket open(const char* name, raw_socket_options options = {}) {
    auto made = raw_socket::create_bound(name, options);
    if (!made) throw std::runtime_error(describe(made.error()));
    return std::move(*made);
  }
  /// Returns the next frame as a value; nullopt if none arrives within `limit`.
  std::optional<wire::ethernet> receive(raw_socket& socket,
                                        std::chrono::milliseconds limit = patience) {
    last_ = socket.receive_with_timeout(memory_, limit).value_or(received_frame{});
    const auto view = wire::ethernet_view::parse(last_.bytes);
    if (!view) return std::nullopt;
    return wire::ethernet::copy_of(*view);
  }
  bool is_silent(raw_socket& socket) { return !receive(socket, 50ms); }

  std::vector<std::byte> memory_ = std::vector<std::byte>(70000);
  received_frame last_;
};

TEST_F(raw_socket_test, a_frame_arrives_as_it_was_sent) {
  auto a = open("vethA");
  auto b = open("vethB", {.filter = {.ethertype = type}});
  ASSERT_TRUE(a.send_to(b.link().mac, type, bytes_of(100)));
  const auto arrived = receive(b);
  ASSERT_TRUE(arrived);
  EXPECT_EQ(arrived->source, a.link().mac);
  EXPECT_EQ(arrived->payload, bytes_of(100));
  EXPECT_EQ(last_.type, packet_type::host);
  EXPECT_TRUE(is_silent(a)) << "a hears itself";
}

TEST_F(raw_socket_test, one_of_all_interfaces_hears_each_and_says_which) {
  auto all = raw_socket::create_on_all({.filter = {.ethertype = type}});
  ASSERT_TRUE(all) << describe(all.error());
  EXPECT_EQ(all->link().index, 0);
  EXPECT_EQ(all->link().mtu, 65536U) << "that of lo";
  auto a = open("vethA");
  auto b = open("vethB");
  ASSERT_TRUE(a.send_to(b.link().mac, type, bytes_of(100)));
  ASSERT_TRUE(receive(*all));
  EXPECT_EQ(last_.interface_index, b.link().index);
  ASSERT_TRUE(b.send_to(a.link().mac, type, bytes_of(100)));
  ASSERT_TRUE(receive(*all));
  EXPECT_EQ(last_.interface_index, a.link().index);
  // Frames of an interface that is added later are received, too.
  run_command("ip link add vethC type veth peer name vethD; ip link set vethC up");
  run_command("ip link set vethD up");
  auto c = open("vethC");
  const auto d = *interface::query("vethD");
  const auto frame = wire::ethernet{d.mac, c.link().mac, {}, type, bytes_of(50)}.build();
  for (int tries = 0; tries < 100 && !receive(*all, 50ms); ++tries) ASSERT_TRUE(c.send_raw(*frame));
  EXPECT_EQ(last_.interface_index, d.index);
  while (!is_silent(*all)) {
  }
  ASSERT_TRUE(all->send_raw(*frame, c.link()));
  EXPECT_TRUE(receive(*all));
  const auto refused = all->send_raw(*frame);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().remedy,
            "name the interface to send through: this socket is open on all");
}

TEST_F(raw_socket_test, one_of_all_interfaces_refuses_what_one_has_to_have) {
  const auto group = *mac_address::from_text("01:00:5e:00:00:07");
  std::vector<raw_socket_options> wrong(4);
  wrong[0].promiscuous = true;
  wrong[1].multicast.push_back(group);
  wrong[2].share = fanout{.group = 7};
  wrong[3].timestamps = timestamping::hardware;
  for (const auto& options : wrong) {
    const auto made = raw_socket::create_on_all(options);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, errc::invalid_argument);
  }
  auto all = raw_socket::create_on_all();
  ASSERT_TRUE(all);
  EXPECT_EQ(all->join(group).error().code, errc::invalid_argument);
  EXPECT_EQ(all->set_promiscuous(true).error().code, errc::invalid_argument);
}

TEST_F(raw_socket_test, a_filter_changes_while_the_socket_is_open) {
  constexpr std::uint16_t other = 0x88B6;
  auto a = open("vethA");
  auto b = open("vethB", {.filter = {.ethertype = type}});
  const auto receives = [&](std::uint16_t which) {
    const auto arrived = receive(b);
    return arrived && arrived->ethertype == which;
  };
  ASSERT_TRUE(b.set_filter({.ethertype = other}));
  for (const auto which : {type, other}) {
    ASSERT_TRUE(a.send_to(b.link().mac, which, bytes_of(50)));
  }
  EXPECT_TRUE(receives(other));
  EXPECT_TRUE(is_silent(b));
  ASSERT_TRUE(b.set_filter({}));
  ASSERT_TRUE(a.send_to(b.link().mac, type, bytes_of(50)));
  EXPECT_TRUE(receives(type));
  ASSERT_TRUE(b.set_filter({})) << "there is none to take away";
  EXPECT_EQ(b.set_filter({.vlan_id = 5000}).error().code, errc::invalid_argument);
  ASSERT_TRUE(a.send_to(b.link().mac, other, bytes_of(50)));
  EXPECT_TRUE(receives(other)) << "what was refused has changed nothing";
  auto sender = open("vethB", {.receives = false});
  EXPECT_EQ(sender.set_filter({}).error().code, errc::invalid_argument);
}

bool shell(const char* line) { return std::system(line) == 0; }  // NOLINT(*-command-processor)

TEST_F(raw_socket_test, groups_and_modes_change_while_the_socket_is_open) {
  const auto is_member = [] {
    return shell("ip maddress show dev vethB | grep -q 01:00:5e:00:00:07");
  };
  const auto group = *mac_address::from_text("01:00:5e:00:00:07");
  auto b = open("vethB");
  ASSERT_TRUE(b.join(group));
  ASSERT_TRUE(b.join(group));
  EXPECT_TRUE(is_member());
  ASSERT_TRUE(b.leave(group));
  EXPECT_TRUE(is_member()) << "it was joined twice";
  ASSERT_TRUE(b.leave(group));
  EXPECT_FALSE(is_member());
  ASSERT_TRUE(b.leave(group));
  for (const bool is : {true, true, false, false, true}) {
    ASSERT_TRUE(b.set_promiscuous(is));
    EXPECT_EQ(shell("ip -d link show vethB | grep -q 'promiscuity 1'"), is);
  }
}

TEST_F(raw_socket_test, buffers_change_while_the_socket_is_open) {
  const auto size_of = [](const raw_socket& socket, int index) {
    int size = 0;
    socklen_t length = sizeof size;
    ::getsockopt(socket.fd(), SOL_SOCKET, index, &size, &length);
    return size / 2;  // the kernel doubles it, for its own overhead
  };
  auto b = open("vethB");
  ASSERT_TRUE(b.set_receive_buffer(3U << 20U));
  ASSERT_TRUE(b.set_send_buffer(2U << 20U));
  EXPECT_EQ(size_of(b, SO_RCVBUF), 3 << 20);
  EXPECT_EQ(size_of(b, SO_SNDBUF), 2 << 20);
  auto sender = open("vethB", {.receives = false});
  EXPECT_EQ(sender.set_receive_buffer(1U << 20U).error().code, errc::invalid_argument);
  EXPECT_TRUE(sender.set_send_buffer(1U << 20U));
}

TEST_F(raw_socket_test, tags_of_every_kind_survive_the_kernel) {
  auto a = open("vethA");
  auto b = open("vethB", {.filter = {.ethertype = type}});
  const std::vector<std::vector<wire::vlan_tag>> kinds{
      {{0x8100, {7, false, 10}}},
      {{0x8100, {3, true, 4094}}},
      {{0x8100, {5, false, 0}}},
      {{0x8100, {0, false, 0}}},
      {{0x88A8, {1, true, 200}}},
      {{0x88A8, {1, true, 200}}, {0x8100, {6, false, 30}}},
      {{0x8100, {1, true, 200}}, {0x8100, {6, true, 30}}},
      {{0x88A8, {1, false, 1}},
       {0x88A8, {2, false, 2}},
       {0x8100, {3, false, 3}},
       {0x8100, {4, true, 4}}},
  };
  for (const auto& tags : kinds) {
    const wire::ethernet sent{b.link().mac, a.link().mac, tags, type, bytes_of(64)};
    ASSERT_TRUE(a.send_raw(*sent.build()));
    EXPECT_EQ(receive(b), sent) << tags.size() << " tags, the first " << tags[0].tci.encode();
    EXPECT_FALSE(last_.is_truncated());
  }
}

TEST_F(raw_socket_test, the_filter_takes_what_it_should_and_nothing_else) {
  const auto a_mac = interface::query("vethA")->mac;
  const auto b_mac = interface::query("vethB")->mac;
  const mac_address other({2, 9, 9, 9, 9, 9});
  auto a = open("vethA");
  auto by_type = open("vethB", {.filter = {.ethertype = type}});
  auto by_vlan = open("vethB", {.filter = {.ethertype = type, .vlan_id = 10}});
  auto by_none = open("vethB", {.filter = {.untagged = true}});
  auto by_source = open("vethB", {.filter = {.source = other}});
  auto by_destination = open("vethB", {.filter = {.destination = b_mac}});
  auto not_other = open("vethB", {.filter = {.not_source = other}});
  const auto expect = [&](const wire::ethernet& sent, bool type_, bool vlan, bool none, bool source,
                          bool destination, bool not_source) {
    ASSERT_TRUE(a.send_raw(*sent.build()));
    EXPECT_EQ(receive(not_other, not_source ? patience : 30ms).has_value(), not_source);
    EXPECT_EQ(receive(by_type, type_ ? patience : 1ms).has_value(), type_);
    EXPECT_EQ(receive(by_vlan, vlan ? patience : 1ms).has_value(), vlan);
    EXPECT_EQ(receive(by_none, none ? patience : 1ms).has_value(), none);
    EXPECT_EQ(receive(by_source, source ? patience : 1ms).has_value(), source);
    EXPECT_EQ(receive(by_destination, destination ? patience : 1ms).has_value(), destination);
  };
  expect({b_mac, a_mac, {}, type, bytes_of(50)}, true, false, true, false, true, true);
  expect({b_mac, a_mac, {}, 0x0800, bytes_of(50)}, false, false, true, false, true, true);
  expect({b_mac, other, {}, type, bytes_of(50)}, true, false, true, true, true, false);
  expect({b_mac, a_mac, {{0x8100, {7, false, 10}}}, type, {}}, true, true, false, false, true,
         true);
  expect({b_mac, a_mac, {{0x88A8, {7, false, 10}}}, type, {}}, true, true, false, false, true,
         true);
  expect({b_mac, a_mac, {{0x8100, {7, false, 11}}}, type, {}}, true, false, false, false, true,
         true);
  expect({other, a_mac, {{0x8100, {}}, {0x8100, {0, false, 10}}}, type, {}}, true, false, false,
         false, false, true);
  expect({b_mac, a_mac, {{0x8100, {}}, {0x8100, {}}, {0x8100, {}}, {0x8100, {}}}, type, {}}, true,
         false, false, false, true, true);
}

TEST_F(raw_socket_test, the_filter_finds_tags_in_frames_on_their_way_out) {
  auto a = open("vethA");
  auto b = open("vethA", {.filter = {.ethertype = type, .vlan_id = 10}, .ignore_outgoing = false});
  const wire::ethernet sent{
      mac_address::broadcast(), a.link().mac, {{0x8100, {7, false, 10}}}, type, {}};
  ASSERT_TRUE(a.send_raw(*sent.build()));
  const auto arrived = receive(b);
  ASSERT_TRUE(arrived);
  EXPECT_EQ(arrived->tags, sent.tags);
  EXPECT_EQ(last_.type, packet_type::outgoing);
}

TEST_F(raw_socket_test, batches_arrive_in_order) {
  auto a = open("vethA", {.receives = false});
  auto b = open("vethB", {.filter = {.ethertype = type}});
  std::vector<std::vector<std::byte>> frames;
  for (int i = 0; i < 150; ++i) {
    frames.push_back(*wire::build_simple_frame(b.link().mac, a.link().mac, type, bytes_of(80, i)));
  }
  const std::vector<byte_span> spans(frames.begin(), frames.end());
  std::size_t sent = 0;
  while (sent < spans.size()) sent += *a.try_send(std::span(spans).subspan(sent));
  std::vector<std::vector<std::byte>> slots_memory(40, std::vector<std::byte>(2048));
  std::vector<frame_slot> slots;
  for (auto& each : slots_memory) slots.push_back({each, {}});
  std::size_t arrived = 0;
  while (arrived < frames.size()) {
    ASSERT_TRUE(*wait_readable(b, patience));
    const auto count = b.try_receive(slots);
    ASSERT_TRUE(count);
    for (std::size_t i = 0; i < *count; ++i, ++arrived) {
      EXPECT_TRUE(std::ranges::equal(slots[i].frame.bytes, frames[arrived])) << arrived;
    }
  }
  EXPECT_EQ(b.statistics()->received, 150U);
}

TEST_F(raw_socket_test, what_is_cut_says_so) {
  run_command("ip link set vethA mtu 9000; ip link set vethB mtu 9000");
  auto a = open("vethA");
  auto b = open("vethB", {.filter = {.ethertype = type}});
  for (const bool tagged : {false, true}) {
    const wire::ethernet sent{b.link().mac, a.link().mac, {}, type, bytes_of(9000)};
    auto frame = *sent.build(9000);
    if (tagged) {
      frame.insert(frame.begin(), 4, std::byte{0});
      ASSERT_TRUE(wire::insert_tag(frame, {0x8100, {1, false, 2}}));
    }
    ASSERT_TRUE(a.send_raw(frame));
    memory_.resize(2048);
    ASSERT_TRUE(receive(b));
    EXPECT_TRUE(last_.is_truncated());
    EXPECT_EQ(last_.wire_size, frame.size());
    EXPECT_EQ(last_.bytes.size(), tagged ? 2048U : 2044U);
    EXPECT_TRUE(std::ranges::equal(last_.bytes, std::span(frame).first(last_.bytes.size())));
  }
}

TEST_F(raw_socket_test, frames_that_cannot_be_are_refused_with_errno_and_remedy) {
  auto a = open("vethA");
  const auto refusal = [&](std::size_t size) {
    const auto sent = a.send_raw(bytes_of(size));
    return sent ? error{} : sent.error();
  };
  for (const std::size_t size : {0U, 1U, 13U}) EXPECT_EQ(refusal(size).sys_errno, EINVAL) << size;
  for (const std::size_t size : {1519U, 65535U}) {
    EXPECT_EQ(refusal(size).sys_errno, EMSGSIZE) << size;
    EXPECT_NE(describe(refusal(size)).find("MTU was 1500"), std::string::npos);
  }
  EXPECT_TRUE(a.send_raw(bytes_of(14)));
  EXPECT_FALSE(raw_socket::create_bound("nosuch"));
  EXPECT_EQ(raw_socket::create_bound("nosuch").error().code, errc::not_found);
  EXPECT_EQ(raw_socket::create_bound("a-name-that-is-too-long").error().code,
            errc::invalid_argument);
}

TEST_F(raw_socket_test, a_receiver_that_is_too_slow_reads_how_many_it_lost) {
  auto a = open("vethA");
  auto b = open("vethB", {.filter = {.ethertype = type}, .receive_buffer = 20000});
  const auto frame = *wire::build_simple_frame(b.link().mac, a.link().mac, type, bytes_of(1000));
  for (int i = 0; i < 500; ++i) ASSERT_TRUE(a.send_raw(frame));
  std::size_t arrived = 0;
  while (receive(b, 20ms)) ++arrived;
  const auto counted = b.statistics();
  ASSERT_TRUE(counted);
  EXPECT_EQ(counted->received, arrived);
  EXPECT_GT(counted->dropped, 0U);
  EXPECT_EQ(counted->received + counted->dropped, 500U);
}

TEST_F(raw_socket_test, a_link_that_goes_down_is_told_once_and_then_works_again) {
  auto a = open("vethA");
  auto b = open("vethB", {.filter = {.ethertype = type}});
  run_command("ip link set vethB down");
  const auto reported = b.receive_with_timeout(memory_, patience);
  ASSERT_FALSE(reported);
  EXPECT_EQ(reported.error().sys_errno, ENETDOWN);
  EXPECT_NE(describe(reported.error()).find("ip link set vethB up"), std::string::npos);
  run_command("ip link set vethB up");
  // The kernel takes up to a second to notice that the link is up again.
  bool arrived = false;
  for (int i = 0; i < 100 && !arrived; ++i) {
    ASSERT_TRUE(a.send_to(b.link().mac, type, bytes_of(50)));
    arrived = receive(b, 50ms).has_value();
  }
  EXPECT_TRUE(arrived);
}

TEST_F(raw_socket_test, a_removed_interface_is_a_clear_error) {
  auto a = open("vethA");
  auto b = open("vethB", {.filter = {.ethertype = type}});
  run_command("ip link del vethA");
  const auto sent = a.send_raw(bytes_of(60));
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().sys_errno, ENODEV);
  EXPECT_NE(describe(sent.error()).find("removed"), std::string::npos);
  // First the link goes down, then the interface is removed.
  EXPECT_EQ(b.receive_with_timeout(memory_, patience).error().sys_errno, ENETDOWN);
  EXPECT_EQ(b.receive_with_timeout(memory_, patience).error().sys_errno, ENODEV);
}

TEST_F(raw_socket_test, an_error_has_the_name_that_the_interface_was_given_since) {
  auto a = open("vethA");
  auto b = open("vethB", {.filter = {.ethertype = type}});
  run_command("ip link set vethA down; ip link set vethA name newA");
  run_command("ip link set vethB down; ip link set vethB name newB");
  const auto sent = a.send_raw(bytes_of(60));
  ASSERT_FALSE(sent);
  EXPECT_TRUE(describe(sent.error()).contains("ip link set newA up")) << describe(sent.error());
  const auto arrived = b.receive_with_timeout(memory_, patience);
  ASSERT_FALSE(arrived);
  EXPECT_TRUE(describe(arrived.error()).contains("receive on newB")) << describe(arrived.error());
}

TEST_F(raw_socket_test, without_the_capability_the_error_says_how_to_grant_it) {
  error refused;
  // Credentials set by the bare system call apply to this thread only.
  std::thread([&] {
    ::syscall(SYS_setresuid, 65534, 65534, 65534);
    const auto made = raw_socket::create_bound("lo");
    if (!made) refused = made.error();
  }).join();
  EXPECT_EQ(refused.code, errc::permission_denied);
  EXPECT_NE(describe(refused).find("setcap cap_net_raw+ep"), std::string::npos);
}

TEST_F(raw_socket_test, what_no_frame_can_be_is_refused_with_what_to_do) {
  const auto refusal = [](const raw_socket_options& options) {
    const auto made = raw_socket::create_bound("vethA", options);
    return made ? "made" : describe(made.error());
  };
  EXPECT_NE(refusal({.filter = {.vlan_id = 5000}}).find("use 0 to 4094"), std::string::npos);
  EXPECT_NE(refusal({.filter = {.ethertype = 100}}).find("is a length"), std::string::npos);
  EXPECT_NE(refusal({.filter = {.ethertype = 0x8100}}).find("vlan_id"), std::string::npos);
  EXPECT_EQ(refusal({.filter = {.ethertype = 0x0600, .vlan_id = 4094}}), "made");
  const auto group = open("vethA", {.share = fanout{.group = 78}});
  const fanout other{.group = 78, .how = fanout::mode::cpu};
  EXPECT_NE(refusal({.share = other}).find("one interface and mode"), std::string::npos)
      << refusal({.share = other});
  auto sender = open("vethA", {.receives = false});
  const auto runt = sender.send_raw(bytes_of(13));
  ASSERT_FALSE(runt);
  EXPECT_NE(describe(runt.error()).find("14 bytes"), std::string::npos) << describe(runt.error());
}

TEST_F(raw_socket_test, a_new_fanout_group_is_one_that_nobody_has) {
  const fanout made{.how = fanout::mode::load_balance, .is_new = true};
  const auto first = open("vethB", {.share = made});
  const auto second = open("vethB", {.share = made});
  ASSERT_TRUE(first.fanout_group() && second.fanout_group());
  EXPECT_NE(*first.fanout_group(), *second.fanout_group());
  const auto third =
      open("vethB",
           {.share = fanout{.group = *first.fanout_group(), .how = fanout::mode::load_balance}});
  EXPECT_EQ(third.fanout_group().value_or(0), *first.fanout_group());
  EXPECT_EQ(open("vethB").fanout_group().error().code, errc::invalid_argument);
  const auto zeroth = open("vethB", {.share = fanout{.group = 0}}).fanout_group();
  ASSERT_TRUE(zeroth) << describe(zeroth.error());
  EXPECT_EQ(*zeroth, 0);
  const auto refused =
      raw_socket::create_bound("vethB", {.share = fanout{.group = 7, .is_new = true}});
  EXPECT_EQ(refused.error().code, errc::invalid_argument);
}

TEST_F(raw_socket_test, a_program_shares_frames_out) {
  // Selects by the last byte of the destination.
  const std::array code{
      bpf_insn{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 6, .src_reg = 1, .off = 0, .imm = 0},
      bpf_insn{.code = BPF_LD | BPF_B | BPF_ABS,
               .dst_reg = 0,
               .src_reg = 0,
               .off = 0,
               .imm = SKF_LL_OFF + 5},
      bpf_insn{.code = BPF_JMP | BPF_EXIT, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0}};
  const unique_fd program(bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, "share", "GPL", code.data(),
                                        code.size(), nullptr));
  ASSERT_TRUE(program);
  const raw_socket_options options{
      .filter = {.ethertype = type},
      .share = fanout{.how = fanout::mode::program, .is_new = true, .program_fd = program.get()}};
  auto first = open("vethB", options);
  auto others = options;
  others.share->is_new = false;
  others.share->group = *first.fanout_group();
  auto second = open("vethB", others);
  auto a = open("vethA");
  for (const auto& [to, which] :
       {std::pair("02:00:00:00:00:04", &first), std::pair("02:00:00:00:00:07", &second)}) {
    ASSERT_TRUE(a.send_to(*mac_address::from_text(to), type, bytes_of(50)));
    EXPECT_TRUE(receive(*which)) << to;
  }
  EXPECT_TRUE(is_silent(first) && is_silent(second));
  others.share->group = 0;
  others.share->is_new = true;
  others.share->program_fd = first.fd();
  EXPECT_FALSE(raw_socket::create_bound("vethB", others)) << "a socket is no program";
}

TEST_F(raw_socket_test, timestamps_groups_fanout_and_priorities_are_accepted_and_work) {
  const mac_address group({1, 0, 0x5E, 0, 0, 5});
  auto a = open("vethA", {.qdisc_bypass = true, .priority = 6, .send_buffer = 1 << 20});
  auto b = open("vethB", {.filter = {.ethertype = type},
                          .promiscuous = true,
                          .multicast = {group},
                          .timestamps = timestamping::software});
  // The kernel begins to take timestamps a little after the request.
  for (int i = 0; i < 500 && last_.time_ns == 0; ++i) {
    if (i != 0) std::this_thread::sleep_for(10ms);
    ASSERT_TRUE(a.send_to(group, type, bytes_of(60)));
    ASSERT_TRUE(receive(b));
  }
  EXPECT_EQ(last_.type, packet_type::multicast);
  EXPECT_GT(last_.time_ns, 1'700'000'000'000'000'000U);
  raw_socket_options shared{.filter = {.ethertype = type}};
  shared.share = fanout{.group = 77, .how = fanout::mode::load_balance};
  auto one = open("vethB", shared);
  auto other = open("vethB", shared);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(a.send_to(b.link().mac, type, bytes_of(60)));
  std::size_t first = 0;
  std::size_t second = 0;
  while (receive(one, 20ms)) ++first;
  while (receive(other, 20ms)) ++second;
  EXPECT_EQ(first, 5U);
  EXPECT_EQ(second, 5U);
  ASSERT_TRUE(one.send_to(a.link().mac, type, bytes_of(60)));
  EXPECT_TRUE(is_silent(one) && is_silent(other)) << "what this machine sends";
  EXPECT_EQ(raw_socket::create_bound("vethA", {.priority = 8}).error().code,
            errc::invalid_argument);
}

}  // namespace
}  // namespace strata::l2
