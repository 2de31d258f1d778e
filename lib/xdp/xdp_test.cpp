// Tests AF_XDP over veth:
//
//     vethA <==========> vethB        both in a namespace of the test's own
#include <bpf/bpf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "l2/veth_test.hpp"
#include "strata/l2/raw_socket.hpp"
#include "strata/wire/ethernet.hpp"
#include "strata/xdp/port.hpp"

namespace strata::xdp {
namespace {

using namespace std::chrono_literals;

using frames = std::vector<std::vector<std::byte>>;

constexpr std::uint16_t type = 0x88B5;
constexpr std::uint16_t other_type = 0x88B6;

std::vector<std::byte> frame_of(std::uint16_t ethertype, std::size_t payload, int seed,
                                std::vector<wire::vlan_tag> tags = {}) {
  wire::ethernet made{mac_address::broadcast(), *mac_address::from_text("02:00:00:00:00:01"),
                      std::move(tags), ethertype, std::vector<std::byte>(payload)};
  for (std::size_t i = 0; i < payload; ++i) {
    made.payload[i] = static_cast<std::byte>(static_cast<std::size_t>(seed) + i);
  }
  return *made.build(9000);
}

std::ptrdiff_t count_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

class xdp_test : public l2::veth_test, public testing::WithParamInterface<attach_mode> {
 protected:
  static port open(const char* name, const port_options& options) {
    auto made = port::open(name, 0, options);
    if (!made) throw std::runtime_error(describe(made.error()));
    return std::move(*made);
  }
  static port sender() { return open("vethA", {.socket = {.receive_size = 0}}); }
  // Sends more frames than a UMEM has, and checks that they arrive in order and whole.
  static void exchange(port& source, port& port) {
    frames sent;
    for (int i = 0; i < 1500; ++i) {
      sent.push_back(frame_of(type, 1000, i));
      send(source, sent.back());
      if (i % 100 == 99) {
        EXPECT_EQ(receive(port, sent.size()), sent);
        sent.clear();
      }
    }
  }
  static void send(port& port, const std::vector<std::byte>& frame) {
    const byte_span one(frame);
    for (;;) {
      const auto sent = port.try_send(std::span(&one, 1));
      ASSERT_TRUE(sent) << describe(sent.error());
      if (*sent == 1) return;
    }
  }
  static frames receive(port& port, std::size_t count) {
    frames all;
    std::array<byte_span, 32> some;
    while (all.size() < count) {
      const auto ready = port.wait_readable(1000ms);
      if (!ready || !*ready) break;
      const auto got = port.try_receive(some);
      if (!got) break;
      for (std::size_t i = 0; i < *got; ++i) all.emplace_back(some[i].begin(), some[i].end());
    }
    return all;
  }
};

INSTANTIATE_TEST_SUITE_P(modes, xdp_test,
                         testing::Values(attach_mode::native, attach_mode::generic));

TEST_P(xdp_test, frames_arrive_whole_in_order_and_with_their_tags) {
  auto b = open("vethB", {.which = {.ethertype = type}, .attach = GetParam()});
  EXPECT_EQ(b.is_native(), GetParam() == attach_mode::native);
  auto a = sender();
  frames sent;
  for (int i = 0; i < 1500; ++i) {
    std::vector<wire::vlan_tag> tags;
    const wire::vlan_tci tci{static_cast<std::uint8_t>(i % 8), i % 3 == 0,
                             static_cast<std::uint16_t>(i % 4095)};
    if (i % 3 == 1) tags = {{0x8100, tci}};
    if (i % 3 == 2) tags = {{0x88A8, tci}, {0x8100, {1, true, 2}}};
    sent.push_back(frame_of(type, 46 + static_cast<std::size_t>(i) % 1400, i, tags));
    send(a, sent.back());
  }
  EXPECT_EQ(receive(b, sent.size()), sent);
  EXPECT_EQ(b.statistics()->receive_ring_full, 0U);
}

TEST_P(xdp_test, what_no_filter_is_about_goes_to_the_kernel) {
  auto b = open("vethB", {.which = {.ethertype = type, .vlan_id = 7}, .attach = GetParam()});
  auto received = l2::raw_socket::create_bound("vethB", {.filter = {.ethertype = other_type}});
  ASSERT_TRUE(received);
  auto a = sender();
  send(a, frame_of(type, 100, 1));
  send(a, frame_of(type, 100, 2, {{0x8100, {0, false, 8}}}));
  const auto wanted = frame_of(type, 100, 3, {{0x8100, {0, false, 7}}});
  send(a, wanted);
  const auto passed = frame_of(other_type, 100, 4);
  send(a, passed);
  EXPECT_EQ(receive(b, 1), frames{wanted});
  std::array<std::byte, 2048> memory;
  const auto got = received->receive_with_timeout(memory, 1000ms);
  ASSERT_TRUE(got) << describe(got.error());
  EXPECT_TRUE(std::ranges::equal(got->bytes, passed));
}

TEST_P(xdp_test, filters_share_an_interface_and_one_socket_has_each) {
  auto one = open("vethB", {.which = {.ethertype = type}, .attach = GetParam()});
  const auto again = port::open("vethB", 0, {.which = {.ethertype = other_type}});
  ASSERT_FALSE(again) << "two UMEMs cannot share a queue";
  EXPECT_EQ(again.error().code, errc::conflict);
  // With one UMEM, two sockets can.
  auto second = socket::create(one.below().memory(), "vethB", 0, {.transmit_size = 0});
  ASSERT_TRUE(second) << describe(second.error());
  auto program = program::attach("vethB", GetParam());
  ASSERT_TRUE(program) << describe(program.error());
  const auto taken = (*program)->add({.ethertype = type}, *second);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, errc::already_exists);
  const auto route = (*program)->add({.ethertype = other_type}, *second);
  ASSERT_TRUE(route) << describe(route.error());
  auto a = sender();
  send(a, frame_of(other_type, 60, 1));
  const auto wanted = frame_of(type, 60, 2);
  send(a, wanted);
  EXPECT_EQ(receive(one, 1), frames{wanted});
  EXPECT_EQ(second->receive().peek(8).size(), 1U);
}

TEST_F(xdp_test, sockets_come_and_go_in_any_order_and_leave_nothing) {
  const auto before = count_descriptors();
  for (int i = 0; i < 50; ++i) {
    auto memory = umem::create({.frame_count = 64});
    ASSERT_TRUE(memory);
    auto first = socket::create(*memory, "vethA", 0, {.fill_size = 64});
    ASSERT_TRUE(first) << describe(first.error());
    auto second = socket::create(*memory, "vethA", 0);
    ASSERT_TRUE(second) << describe(second.error());
    auto other = socket::create(*memory, "vethB", 0);
    ASSERT_TRUE(other) << describe(other.error());
    auto program = program::attach("vethB");
    ASSERT_TRUE(program) << describe(program.error());
    auto route = (*program)->add({}, *other);
    ASSERT_TRUE(route) << describe(route.error());
    memory->reset();
    if (i % 2 == 0) {
      const auto gone = std::move(*first);
    } else {
      const auto gone = std::move(*other);
    }
    // The other rings can still be used, and shared.
    EXPECT_EQ(second->fill().reserve(1).size(), 1U);
    auto third = socket::create(second->memory(), "vethA", 0);
    EXPECT_TRUE(third) << describe(third.error());
  }
  EXPECT_EQ(count_descriptors(), before);
}

// STRATA_XDP_CYCLES=10000 runs as many cycles as issue reports require.
TEST_F(xdp_test, opening_and_closing_again_and_again_leaves_nothing) {
  const char* const asked = std::getenv("STRATA_XDP_CYCLES");
  const int cycles = asked == nullptr ? 40 : std::atoi(asked);
  const auto resident_kib = [] {
    std::ifstream text("/proc/self/statm");
    long all = 0;
    long resident = 0;
    text >> all >> resident;
    return resident * 4;
  };
  const auto count_of = [](int (*next)(std::uint32_t, std::uint32_t*)) {
    int count = 0;
    for (std::uint32_t id = 0; next(id, &id) == 0;) ++count;
    return count;
  };
  const auto count = [&] {
    return std::array{count_of(bpf_prog_get_next_id), count_of(bpf_map_get_next_id),
                      count_of(bpf_link_get_next_id)};
  };
  const auto cycle = [] {
    const auto one = port::open("vethB", 0, {.which = {.ethertype = type}});
    ASSERT_TRUE(one) << describe(one.error());
  };
  for (int i = 0; i < 10; ++i) cycle();
  const auto before = count();
  const auto before_kib = resident_kib();
  for (int i = 0; i < cycles; ++i) cycle();
  // The kernel frees them a moment later, and others on this machine have some too: a leak in each
  // cycle would exceed that.
  const auto is_settled = [&] {
    const auto now = count();
    return std::ranges::equal(before, now, [&](int was, int is) { return is < was + cycles / 2; });
  };
  for (int i = 0; i < 250 && !is_settled(); ++i) std::this_thread::sleep_for(20ms);
  EXPECT_TRUE(is_settled()) << "programs, maps or links";
  EXPECT_LT(resident_kib() - before_kib, 2048) << "after " << cycles << " cycles";
}

// Attaches a program that is neither ours nor libxdp's dispatcher.
void attach_foreign_program(const std::string& name) {
  l2::run_command(
      "cd /tmp && printf 'int p(void*c){return 2;}__attribute__((section(\"xdp\"),used))"
      "int foreign_one(void*c){return 2;}' | clang-19 -O2 -target bpf -x c - -c -o foreign.o && "
      "ip link set " +
      name + " xdpdrv obj foreign.o sec xdp && rm foreign.o");
}

TEST_F(xdp_test, another_program_is_named_in_the_error) {
  const auto held = program::attach("vethB", attach_mode::native);
  ASSERT_TRUE(held) << describe(held.error());
  const auto again = program::attach("vethB", attach_mode::generic);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, errc::conflict);
  attach_foreign_program("vethA");
  const auto refused = program::attach("vethA");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::conflict);
  EXPECT_NE(describe(refused.error()).find("foreign_one"), std::string::npos)
      << describe(refused.error());
}

TEST_F(xdp_test, a_refused_attach_leaves_no_descriptor) {
  attach_foreign_program("vethA");
  (void)program::attach("vethA");
  const auto before = count_descriptors();
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(program::attach("vethA"));
  EXPECT_EQ(count_descriptors(), before);
}

// While it lives, allows no more descriptors than are open.
class last_descriptor {
 public:
  last_descriptor() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const unique_fd next(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const rlimit now{static_cast<rlim_t>(next.get()), before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &now);
  }
  last_descriptor(const last_descriptor&) = delete;
  last_descriptor& operator=(const last_descriptor&) = delete;
  ~last_descriptor() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST_F(xdp_test, the_end_of_descriptors_is_not_a_missing_interface) {
  const auto memory = umem::create();
  ASSERT_TRUE(memory);
  const auto reported = [&] {
    const last_descriptor none;
    return std::array{program::attach("vethA").error().sys_errno,
                      attached_to("vethA").error().sys_errno,
                      socket::create(*memory, "vethA", 0).error().sys_errno};
  }();
  EXPECT_EQ(reported, (std::array{EMFILE, EMFILE, EMFILE}));
  EXPECT_EQ(program::attach("none0").error().code, errc::not_found);
  EXPECT_EQ(attached_to("none0").error().code, errc::not_found);
}

// A process that goes into the background after opening a port continues as the child.
TEST_F(xdp_test, a_forked_process_goes_on_with_a_port) {
  auto b = open("vethB", {.which = {.ethertype = type}});
  auto a = sender();
  const auto wanted = frame_of(type, 100, 7);
  const auto child = ::fork();
  if (child == 0) ::_exit(receive(b, 1) == frames{wanted} ? 0 : 1);
  send(a, wanted);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

// A broker's client is not trusted, whatever the policy permits it.
TEST_F(xdp_test, a_broker_gives_no_more_than_its_limits) {
  broker_request what;
  what.interface_name = "vethA";
  what.memory.frame_count = 1U << 20U;
  EXPECT_EQ(grant_request(-1, what).error().code, errc::limit_exceeded);
  what.memory = {};
  what.socket.fill_size = 1U << 20U;
  EXPECT_EQ(grant_request(-1, what).error().code, errc::limit_exceeded);
}

// The kernel would accept the frame, report it as sent, and drop it.
TEST_F(xdp_test, a_port_waits_for_what_it_has_in_flight) {
  auto made = port::open("vethA", 0, {.socket = {.receive_size = 0}});
  ASSERT_TRUE(made) << describe(made.error());
  auto received = port::open("vethB", 0, {.which = {.ethertype = type}});
  ASSERT_TRUE(received);
  EXPECT_EQ(made->flush(0ms).value_or(false), true) << "there is nothing to wait for";
  const auto frame = frame_of(type, 50, 1);
  std::size_t sent = 0;
  while (sent < 1000) {
    const std::vector<byte_span> batch(std::min<std::size_t>(64, 1000 - sent), byte_span(frame));
    const auto taken = made->try_send(batch);
    ASSERT_TRUE(taken);
    sent += *taken;
  }
  EXPECT_EQ(made->flush(10s).value_or(false), true);
  EXPECT_EQ(made->in_flight(), 0U);
}

TEST_F(xdp_test, a_time_to_poll_that_no_socket_takes_is_named) {
  for (const auto duration : {0us, -1us, std::chrono::microseconds(std::int64_t{1} << 31U)}) {
    port_options options;
    options.socket.busy_poll = busy_poll_options{.duration = duration};
    const auto made = port::open("vethB", 0, options);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, errc::invalid_argument);
    EXPECT_TRUE(describe(made.error()).contains(" " + std::to_string(duration.count()) + " us"))
        << describe(made.error());
  }
}

TEST_F(xdp_test, a_frame_above_the_mtu_is_refused_and_a_tag_is_no_part_of_it) {
  auto a = sender();
  auto b = open("vethB", {.which = {.ethertype = type}});
  const auto refusal_of = [&](const std::vector<std::byte>& frame) {
    const byte_span one(frame);
    const auto sent = a.try_send({&one, 1});
    return sent ? 0 : sent.error().sys_errno;
  };
  EXPECT_EQ(refusal_of(frame_of(type, 1501, 1)), EMSGSIZE);
  const frames fitting{frame_of(type, 1500, 2), frame_of(type, 1500, 3, {{0x8100, {1, true, 2}}})};
  for (const auto& each : fitting) send(a, each);
  EXPECT_EQ(receive(b, 2), fitting);
  a.update_mtu(1000);
  EXPECT_EQ(refusal_of(fitting[0]), EMSGSIZE);
  const auto whole = frame_of(type, 100, 4);
  const std::array<byte_span, 3> mixed{whole, fitting[0], whole};
  EXPECT_EQ(a.try_send(mixed), 1U) << "the one before it was taken";
}

TEST_F(xdp_test, an_interface_that_is_gone_is_named) {
  auto a = open("vethA", {});
  l2::run_command("ip link set vethA down");
  EXPECT_EQ(a.below().wake_transmit().error().sys_errno, ENETDOWN);
  l2::run_command("ip link del vethA");
  for (const auto& reported :
       {a.below().wake_transmit().error(), a.below().wake_receive().error()}) {
    EXPECT_EQ(reported.sys_errno, ENODEV);
    EXPECT_NE(describe(reported).find("on 'vethA'"), std::string::npos) << describe(reported);
  }
}

TEST_F(xdp_test, bad_sizes_are_refused_with_what_to_do) {
  EXPECT_FALSE(umem::create({.frame_count = 0}));
  EXPECT_FALSE(umem::create({.frame_size = 1024}));
  EXPECT_FALSE(umem::create({.frame_size = 3000}));
  EXPECT_TRUE(umem::create({.frame_size = 3000, .unaligned = true}));
  EXPECT_FALSE(umem::create({.frame_size = 4096, .headroom = 3840}));
  auto memory = umem::create();
  EXPECT_FALSE(socket::create(*memory, "vethA", 0, {.receive_size = 100}));
  EXPECT_FALSE(socket::create(*memory, "vethA", 0, {.receive_size = 0, .transmit_size = 0}));
  EXPECT_EQ(socket::create(*memory, "none0", 0).error().code, errc::not_found);
  const auto no_queue = socket::create(*memory, "vethA", 9);
  ASSERT_FALSE(no_queue);
  EXPECT_EQ(no_queue.error().code, errc::invalid_argument) << describe(no_queue.error());
  const auto zerocopy = socket::create(*memory, "vethA", 0, {.mode = copy_mode::zerocopy});
  ASSERT_FALSE(zerocopy);
  EXPECT_EQ(zerocopy.error().code, errc::not_supported) << describe(zerocopy.error());
}

TEST_F(xdp_test, large_frames_come_in_several_chunks) {
  l2::run_command("ip link set vethA mtu 9000; ip link set vethB mtu 9000");
  const port_options options{.which = {.ethertype = type}, .socket = {.multi_buffer = true}};
  auto b = port::open("vethB", 0, options);
  if (!b) GTEST_SKIP() << "THIS KERNEL HAS NO MULTI-BUFFER: " << describe(b.error());
  auto a = open("vethA", {.socket = {.receive_size = 0, .multi_buffer = true}});
  frames sent;
  for (int i = 0; i < 100; ++i) {
    sent.push_back(frame_of(type, 50 + static_cast<std::size_t>(i) * 89, i));
    send(a, sent.back());
  }
  EXPECT_EQ(receive(*b, sent.size()), sent);
}

TEST_F(xdp_test, unaligned_frames_are_found_with_their_headroom) {
  for (const std::uint32_t headroom : {0U, 128U}) {
    auto b = open(
        "vethB",
        {.which = {.ethertype = type},
         .memory = {
             .frame_count = 1024, .frame_size = 3000, .headroom = headroom, .unaligned = true}});
    auto a = sender();
    frames sent;
    for (int i = 0; i < 200; ++i) {
      sent.push_back(frame_of(type, 1000, i));
      send(a, sent.back());
    }
    EXPECT_EQ(receive(b, sent.size()), sent);
  }
}

// Returns the size in KiB, as the kernel reports it.
long huge_memory() {
  std::ifstream text("/proc/self/smaps_rollup");
  long all = 0;
  for (std::string word; text >> word;) {
    long size = 0;
    if (word == "Shared_Hugetlb:" || word == "Private_Hugetlb:") text >> size;
    all += size;
  }
  return all;
}

TEST_P(xdp_test, frames_may_lie_in_huge_pages) {
  // One page of 2 MiB per port, twice, as the kernel may keep the first for a moment.
  const umem_options memory{.frame_count = 1000, .frame_size = 2048, .huge_pages = true};
  if (const auto free = mapping::free_huge_pages(); free < 4) {
    GTEST_SKIP() << "NEEDS HUGE PAGES: 4 of 2 MiB, and " << free
                 << " are free; see /proc/sys/vm/nr_hugepages";
  }
  for (const bool unaligned : {false, true}) {
    auto options = memory;
    options.unaligned = unaligned;
    auto b = open("vethB", {.which = {.ethertype = type}, .attach = GetParam(), .memory = options});
    auto a = open("vethA", {.memory = options, .socket = {.receive_size = 0}});
    exchange(a, b);
    EXPECT_GE(huge_memory(), 4096);
  }
}

// Applies also if there are none at all.
TEST(umem_test, more_huge_pages_than_there_are_is_refused_with_what_to_do) {
  const auto count = mapping::free_huge_pages() + 3;
  const auto refused = umem::create({.frame_count = static_cast<std::uint32_t>(count) * 512,
                                     .frame_size = 4096,
                                     .huge_pages = true});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::limit_exceeded);
  const auto text = describe(refused.error());
  for (const auto& part : {"it needs " + std::to_string(count) + " huge pages of 2 MiB",
                           std::to_string(count - 3) + " are free", std::string("nr_hugepages")}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace strata::xdp
