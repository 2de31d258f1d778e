// Tests typed commands that `strata nl generate` wrote from tests/ynl/forms.yaml (an attribute of
// each form), kernel/strata_echo.yaml, and kernel/ynl/nlctrl.yaml, which the kernel answers.
#include "strata/nl/typed.hpp"

#include <gtest/gtest.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include <algorithm>
#include <array>
#include <forms.hpp>
#include <nlctrl.hpp>
#include <random>
#include <strata_echo.hpp>
#include <vector>

namespace strata::nl {
namespace {

constexpr std::uint16_t family = 0x1234;

std::vector<std::byte> bytes_of(std::initializer_list<unsigned> all) {
  std::vector<std::byte> made;
  for (const auto each : all) made.push_back(static_cast<std::byte>(each));
  return made;
}

/// A message in memory of its own.
class message {
 public:
  explicit message(std::uint8_t command, std::uint16_t type = family) : to(memory_) {
    wire::begin_genl(to, type, 0, command, 1);
  }
  [[nodiscard]] wire::netlink_message parsed() const {
    return wire::netlink_message::parse(to.bytes().value()).value();
  }

 private:
  std::array<std::byte, 4096> memory_{};

 public:
  wire::netlink_writer to;
};

class typed_test : public testing::Test {
 protected:
  connection over = connection::open(NETLINK_GENERIC).value();

  template <class Request>
  static wire::netlink_message sent(const Request& request) {
    return wire::netlink_message::parse(request.bytes().value()).value();
  }
};

TEST_F(typed_test, a_request_is_the_bytes_that_the_specification_says) {
  strata_echo::echo_batch_request request(over, family);
  request.item([](auto& item) { item.msg("a"); }).item([](auto& item) { item.msg("bcd"); });
  const auto wanted = bytes_of({
      44, 0, 0, 0,    0x34, 0x12, 1, 0, 0,   0,   0,   0, 0, 0, 0, 0,  // the message
      3,  1, 0, 0,                                                     // ECHO_BATCH
      12, 0, 3, 0x80, 6,    0,    1, 0, 'a', 0,   0,   0,              // ITEM { MSG }
      12, 0, 3, 0x80, 8,    0,    1, 0, 'b', 'c', 'd', 0,
  });
  const auto made = request.bytes().value();
  EXPECT_EQ(std::vector(made.begin(), made.end()), wanted);
  EXPECT_EQ(sent(strata_echo::echo_msg_dump_request(over, family)).header().flags,
            NLM_F_REQUEST | NLM_F_DUMP);
  EXPECT_EQ(sent(strata_echo::notify_request(over, family)).header().flags,
            NLM_F_REQUEST | NLM_F_ACK);
}

TEST_F(typed_test, constants_are_numbers_or_texts) {
  EXPECT_EQ(forms::answer, 42U);
  EXPECT_EQ(forms::motto, "many forms");
}

TEST_F(typed_test, numbers_of_messages_go_each_way_of_their_own) {
  const auto command = [](const auto& request) {
    return wire::genl_message::parse(sent(request))->command;
  };
  EXPECT_EQ(command(forms::set_all_request(over, family)), 5);
  EXPECT_EQ(command(forms::get_some_request(over, family)), 6);
  EXPECT_EQ(command(forms::get_some_dump_request(over, family)), 6);
  EXPECT_EQ(command(forms::forget_request(over, family)), 7);
  EXPECT_EQ(command(forms::list_only_dump_request(over, family)), 8);
  EXPECT_EQ(forms::set_all_reply::command, 1);
  EXPECT_EQ(forms::get_some_reply::command, 9);
  EXPECT_EQ(forms::some_ntf_notification::command, 10);
  EXPECT_EQ(forms::list_only_reply::command, 11);
}

/// Reads the contents of a request as a reply.
forms::set_all_reply read(const forms::set_all_request& request) {
  const auto message = wire::netlink_message::parse(request.bytes().value());
  return forms::set_all_reply(message->attributes(wire::genl_message::header_size));
}

TEST_F(typed_test, what_is_written_is_read) {
  forms::set_all_request request(over, family);
  const auto blob = bytes_of({1, 2, 3});
  request.u8(200).u16_be(0x0102).s32(-5).s64(INT64_MIN).uint(7).sint(-7).color(forms::color::green);
  request.mode(forms::mode::read | forms::mode::exec).colors(8).default_().blob(blob);
  request.bits({.value = 1, .selector = 3})._2nd_name("x").value(1).value(2);
  const auto got = read(request);
  EXPECT_EQ(got.u8(), 200);
  EXPECT_EQ(got.u16_be(), 0x0102);
  EXPECT_EQ(got.attributes().find(2)->number<std::uint16_t>(), 0x0201) << "big-endian";
  EXPECT_EQ(got.s32(), -5);
  EXPECT_EQ(got.s64(), INT64_MIN);
  EXPECT_EQ(got.uint(), 7U);
  EXPECT_EQ(got.attributes().find(11)->value().size(), 4U);
  EXPECT_EQ(got.sint(), -7);
  EXPECT_EQ(got.color(), forms::color::green);
  EXPECT_EQ(static_cast<unsigned>(forms::color::blue), 8U);
  EXPECT_EQ(got.mode(), 0x101U);
  EXPECT_TRUE(got.default_());
  EXPECT_TRUE(std::ranges::equal(got.blob().value(), blob));
  EXPECT_EQ(got.bits(), (typed::bitfield32{1, 3}));
  EXPECT_EQ(got._2nd_name(), "x");
  std::vector<std::uint32_t> values;
  for (const auto each : got.value()) values.push_back(each);
  EXPECT_EQ(values, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(read(forms::set_all_request(over, family).uint(UINT64_MAX)).uint(), UINT64_MAX);
}

TEST_F(typed_test, nests_and_arrays_are_walked) {
  forms::set_all_request request(over, family);
  request.tree([](auto& tree) {
    tree.name("root").child([](auto& child) { child.name("twig").leaf(1).leaf(2); });
  });
  request.trees([](auto& trees) {
    trees.add([](auto& tree) { tree.name("oak"); }).add([](auto& tree) { tree.name("elm"); });
  });
  request.ports(std::array<std::uint16_t, 2>{80, 443});
  const auto got = read(request);
  EXPECT_EQ(got.tree()->name(), "root");
  EXPECT_EQ(got.tree()->child()->name(), "twig");
  EXPECT_FALSE(got.tree()->child()->child());
  const auto leaves = got.tree()->child()->leaf();
  EXPECT_EQ(std::ranges::distance(leaves.begin(), leaves.end()), 2);
  std::string names;
  for (const auto& each : got.trees()) names += each.name().value();
  EXPECT_EQ(names, "oakelm");
  unsigned sum = 0;
  for (const auto each : got.ports()) sum += each;
  EXPECT_EQ(sum, 523U);
  EXPECT_TRUE(got.table().empty() && got.forest().empty());
}

TEST_F(typed_test, what_is_not_there_or_in_another_form_is_nothing) {
  message given(1);
  given.to.put(1, bytes_of({1, 2})).put(10, {}).put(11, bytes_of({1})).put(13, {});
  given.to.put(19, bytes_of({1, 2, 3, 4})).put(22, bytes_of({255, 255, 1, 0}));
  given.to.put(21, bytes_of({1})).put_number(21, 9U).put(24, bytes_of({6, 0, 0, 0, 7, 0, 0, 0}));
  const auto got = forms::set_all_reply::parse(given.parsed()).value();
  EXPECT_FALSE(got.u8() || got.s64() || got.uint() || got.color() || got.bits() || got.s32());
  EXPECT_FALSE(got.tree()->name() || got.tree()->child());
  EXPECT_EQ(*got.value().begin(), 9U) << "the first has a byte";
  EXPECT_EQ(*got.ports().begin(), 7);
  EXPECT_FALSE(got.default_());
}

TEST_F(typed_test, another_message_is_no_reply) {
  using strata_echo::event_notification;
  EXPECT_TRUE(event_notification::parse(message(7).parsed()));
  EXPECT_FALSE(event_notification::parse(message(6).parsed()));
  EXPECT_FALSE(event_notification::parse(message(7, NLMSG_ERROR).parsed()));
  const auto cut = bytes_of({18, 0, 0, 0, 0x34, 0x12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 1});
  EXPECT_FALSE(event_notification::parse(wire::netlink_message::parse(cut).value()));
}

/// Reads all of a tree, under the eyes of a sanitizer.
std::size_t walk(const forms::tree_view& tree, int depth) {
  std::size_t sum = tree.name().value_or("").size();
  for (const auto each : tree.leaf()) sum += each;
  const auto child = tree.child();
  return sum + (child && depth > 0 ? walk(*child, depth - 1) : 0);
}

TEST_F(typed_test, no_bytes_are_read_out_of_bounds) {
  const auto seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  std::size_t sum = 0;
  for (int round = 0; round < 20000; ++round) {
    // On the heap, so that a sanitizer notices reads beyond the end.
    std::vector<std::byte> bytes(random() % 96);
    // Numbers of two bytes, mostly small: attributes that nearly fit.
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      const bool is_small = at % 2 == 1 && random() % 8 != 0;
      bytes[at] = static_cast<std::byte>(is_small ? 0 : random() % 28);
    }
    const forms::set_all_reply got{wire::netlink_attributes(bytes)};
    sum += got.u8().value_or(0) + got.u16_be().value_or(0) + got.uint().value_or(0);
    sum += got.blob().value_or(byte_span()).size() + got._2nd_name().value_or("").size();
    sum += got.bits().value_or(typed::bitfield32()).value + (got.color() ? 1U : 0U);
    if (const auto tree = got.tree()) sum += walk(*tree, 20);
    for (const auto& each : got.trees()) sum += walk(each, 20);
    for (const auto& each : got.forest()) sum += walk(each, 20);
    for (const auto each : got.ports()) sum += each;
    for (const auto& row : got.table()) {
      for (const auto& column : row.value) sum += row.number + walk(column.value, 20);
    }
  }
  EXPECT_NE(sum, 0U);
}

TEST_F(typed_test, the_controller_answers) {
  auto client = nlctrl::client::open();
  ASSERT_TRUE(client) << describe(client.error());
  const auto reply = client->getfamily().family_name("nlctrl").ask();
  ASSERT_TRUE(reply) << describe(reply.error());
  EXPECT_EQ(reply->family_id(), GENL_ID_CTRL);
  EXPECT_EQ(reply->version(), 2U);
  EXPECT_FALSE(reply->ops().empty());
  bool has_notify = false;
  for (const auto& each : reply->mcast_groups()) {
    has_notify = has_notify || each.name() == nlctrl::groups::notify;
  }
  EXPECT_TRUE(has_notify);
  std::size_t count = 0;
  const auto done = client->dump_getfamily().for_each([&](const auto& each) {
    EXPECT_TRUE(each.family_id() && each.family_name());
    ++count;
  });
  ASSERT_TRUE(done) << describe(done.error());
  EXPECT_EQ(count, client->on().families()->size());
}

TEST_F(typed_test, policies_are_arrays_whose_numbers_say_something) {
  auto client = nlctrl::client::open().value();
  bool has_name = false;
  bool has_getfamily = false;
  const auto done = client.dump_getpolicy().family_name("nlctrl").for_each([&](const auto& each) {
    for (const auto& policy : each.policy()) {
      for (const auto& attribute : policy.value) {
        has_name = has_name || (attribute.number == CTRL_ATTR_FAMILY_NAME &&
                                attribute.value.type() == nlctrl::attr_type::nul_string &&
                                attribute.value.max_length() == 15U);
      }
    }
    for (const auto& operation : each.op_policy()) {
      has_getfamily = has_getfamily || operation.number == CTRL_CMD_GETFAMILY;
    }
  });
  ASSERT_TRUE(done) << describe(done.error());
  EXPECT_TRUE(has_name && has_getfamily);
}

TEST_F(typed_test, a_refusal_has_the_kernels_words_and_the_place) {
  auto client = nlctrl::client::open().value();
  const auto refused = client.getfamily().family_name("sixteen letters!").ask();
  ASSERT_FALSE(refused);
  EXPECT_NE(describe(refused.error()).find("call getfamily of nlctrl"), std::string::npos);
  EXPECT_EQ(client.over().refused().path[0], CTRL_ATTR_FAMILY_NAME);
  EXPECT_FALSE(client.over().refused().is_missing);
  EXPECT_TRUE(client.getfamily().family_id(GENL_ID_CTRL).ask());
  EXPECT_EQ(client.over().refused().path[0], 0) << "it was not refused";
}

TEST_F(typed_test, a_client_joins_its_familys_groups) {
  auto client = nlctrl::client::open().value();
  EXPECT_TRUE(client.join(nlctrl::groups::notify));
  EXPECT_FALSE(client.over().try_event().value());
  const auto unknown = client.join("nobody");
  ASSERT_FALSE(unknown);
  EXPECT_NE(describe(unknown.error()).find("'nobody'"), std::string::npos);
  EXPECT_EQ(strata_echo::client::open({}, "no-such").error().code, errc::not_found);
}

}  // namespace
}  // namespace strata::nl
