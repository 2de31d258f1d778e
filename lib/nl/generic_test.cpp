// Tests against the controller, which every kernel has.
#include "strata/nl/generic.hpp"

#include <gtest/gtest.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include <algorithm>

namespace strata::nl {
namespace {

class generic_test : public testing::Test {
 protected:
  static generic open() {
    auto made = generic::open();
    if (!made) throw std::runtime_error(describe(made.error()));
    return std::move(*made);
  }
};

TEST_F(generic_test, the_controller_tells_of_itself) {
  auto on = open();
  EXPECT_EQ(on.resolve("nlctrl").value(), GENL_ID_CTRL);
  const auto family = on.family("nlctrl");
  ASSERT_TRUE(family) << describe(family.error());
  EXPECT_EQ(family->name, "nlctrl");
  EXPECT_EQ(family->version, 2U);
  ASSERT_NE(family->find_group("notify"), nullptr);
  EXPECT_EQ(family->find_group("other"), nullptr);
  const auto getfamily =
      std::ranges::find(family->operations, CTRL_CMD_GETFAMILY, &generic_operation::command);
  ASSERT_NE(getfamily, family->operations.end());
  EXPECT_TRUE(getfamily->can_do && getfamily->can_dump && getfamily->has_policy);
  const auto all = on.families();
  ASSERT_TRUE(all);
  EXPECT_NE(std::ranges::find(*all, "nlctrl", &generic_family::name), all->end());
}

TEST_F(generic_test, the_controller_tells_what_it_takes) {
  auto on = open();
  const auto policy = on.policy(on.family("nlctrl").value());
  ASSERT_TRUE(policy) << describe(policy.error());
  const auto* const table = policy->table_of(CTRL_CMD_GETFAMILY, false);
  ASSERT_NE(table, nullptr);
  const auto name = std::ranges::find(*table, CTRL_ATTR_FAMILY_NAME, &attribute_policy::type);
  ASSERT_NE(name, table->end());
  EXPECT_EQ(name->kind, attribute_kind::nul_string);
  EXPECT_EQ(name->most_size, 15U);
  EXPECT_EQ(policy->table_of(200, false), nullptr);
}

TEST_F(generic_test, an_error_has_the_kernels_words_and_the_place) {
  auto on = open();
  const auto absent = on.resolve("no-such-family");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, errc::not_found);
  EXPECT_NE(describe(absent.error()).find("'no-such-family'"), std::string::npos);
  auto request = on.over().request();
  wire::begin_genl(request, GENL_ID_CTRL, wire::netlink_flag::request, CTRL_CMD_GETFAMILY, 2)
      .put_number(CTRL_ATTR_FAMILY_ID, std::uint16_t{GENL_ID_CTRL})
      .put(CTRL_ATTR_FAMILY_NAME, as_bytes("sixteen letters!"));
  const auto refused = on.over().ask(request, "ask");
  ASSERT_FALSE(refused);
  const auto text = describe(refused.error());
  EXPECT_EQ(refused.error().offset, 28U) << text;
  EXPECT_NE(text.find("Attribute failed policy validation"), std::string::npos) << text;
  EXPECT_NE(text.find("attribute 2"), std::string::npos) << text;
  EXPECT_EQ(on.resolve("nlctrl").value(), GENL_ID_CTRL) << "and it goes on";
}

TEST_F(generic_test, a_reply_stays_when_its_ack_has_come) {
  auto on = open();
  auto request = on.over().request();
  wire::begin_genl(request, GENL_ID_CTRL, wire::netlink_flag::request | wire::netlink_flag::ack,
                   CTRL_CMD_GETFAMILY, 2)
      .put_text(CTRL_ATTR_FAMILY_NAME, "nlctrl");
  const auto reply = on.over().ask(request, "ask");
  ASSERT_TRUE(reply) << describe(reply.error());
  const auto message = wire::genl_message::parse(*reply);
  EXPECT_EQ(message->attributes.find(CTRL_ATTR_FAMILY_NAME)->text(), "nlctrl");
  EXPECT_TRUE(on.over().cookie().empty());
}

TEST_F(generic_test, a_request_that_is_too_large_is_not_sent) {
  auto on = open();
  auto request = on.over().request();
  wire::begin_genl(request, GENL_ID_CTRL, wire::netlink_flag::request, CTRL_CMD_GETFAMILY, 2);
  const std::vector<std::byte> large(40000);
  request.put(1, large).put(1, large);
  const auto refused = on.over().ask(request, "ask for much");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::limit_exceeded);
  EXPECT_TRUE(on.resolve("nlctrl"));
}

TEST_F(generic_test, a_listener_hears_nothing_when_nothing_happens) {
  auto on = open();
  const auto family = on.family("nlctrl").value();
  ASSERT_TRUE(on.over().join(family.find_group("notify")->id));
  const auto event = on.over().try_event();
  ASSERT_TRUE(event) << describe(event.error());
  EXPECT_FALSE(*event);
  EXPECT_TRUE(on.over().leave(family.find_group("notify")->id));
}

}  // namespace
}  // namespace strata::nl
