// Tests the C ABI of netlink against the controller, which every kernel has, and against the test's
// own links.
#include "strata/strata_nl.h"

#include <gtest/gtest.h>
#include <linux/genetlink.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "l2/veth_test.hpp"

namespace strata::nl {
namespace {

using l2::run_command;

template <auto Close>
struct closing {
  template <class Handle>
  void operator()(Handle* handle) const {
    Close(handle);
  }
};
using connection_handle = std::unique_ptr<strata_nl, closing<strata_nl_close>>;
using families_handle = std::unique_ptr<strata_nl_families, closing<strata_nl_families_close>>;
using links_handle = std::unique_ptr<strata_nl_links, closing<strata_nl_links_close>>;
using policies_handle = std::unique_ptr<strata_nl_policies, closing<strata_nl_policies_close>>;
using addresses_handle = std::unique_ptr<strata_nl_addresses, closing<strata_nl_addresses_close>>;
using watch_handle = std::unique_ptr<strata_nl_watch, closing<strata_nl_watch_close>>;

connection_handle open(const strata_nl_options* options = nullptr) {
  strata_nl* made = nullptr;
  if (strata_nl_open(options, &made) != 0) throw std::runtime_error(strata_last_error());
  return connection_handle(made);
}

families_handle families(strata_nl* connection, const char* name) {
  strata_nl_families* made = nullptr;
  if (strata_nl_families_open(connection, name, &made) != 0)
    throw std::runtime_error(strata_last_error());
  return families_handle(made);
}

links_handle links(const char* name) {
  strata_nl_links* made = nullptr;
  if (strata_nl_links_open(name, &made) != 0) throw std::runtime_error(strata_last_error());
  return links_handle(made);
}

void begin_getfamily(strata_nl* connection, const std::string& name) {
  strata_nl_begin(connection, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 2);
  strata_nl_put_text(connection, CTRL_ATTR_FAMILY_NAME, name.data(), name.size());
}

std::string text_in(const strata_nl_message& message, std::uint16_t type) {
  strata_nl_attribute found{};
  if (strata_nl_find(message.attributes, type, &found) == 0) return "none";
  std::size_t size = 0;
  const auto* const text = strata_nl_text(&found, &size);
  return {text, size};
}

TEST(strata_nl_test, a_family_is_resolved_and_described) {
  const auto on = open();
  std::uint16_t id = 0;
  ASSERT_EQ(strata_nl_resolve(on.get(), "nlctrl", &id), 0) << strata_last_error();
  EXPECT_EQ(id, GENL_ID_CTRL);
  const auto one = families(on.get(), "nlctrl");
  ASSERT_EQ(strata_nl_families_count(one.get()), 1U);
  const auto* const family = strata_nl_families_at(one.get(), 0);
  EXPECT_STREQ(family->name, "nlctrl");
  EXPECT_EQ(family->id, GENL_ID_CTRL);
  EXPECT_EQ(family->version, 2U);
  EXPECT_EQ(family->header_size, 0U);
  ASSERT_GE(family->operation_count, 1U);
  EXPECT_EQ(family->operations[0].command, unsigned{CTRL_CMD_GETFAMILY});
  EXPECT_EQ(family->operations[0].flags,
            STRATA_NL_CAN_DO | STRATA_NL_CAN_DUMP | STRATA_NL_HAS_POLICY);
  ASSERT_EQ(family->group_count, 1U);
  EXPECT_STREQ(family->groups[0].name, "notify");
  EXPECT_EQ(strata_nl_families_at(one.get(), 1), nullptr);
  const auto all = families(on.get(), nullptr);
  EXPECT_GT(strata_nl_families_count(all.get()), 1U);
}

TEST(strata_nl_test, a_family_that_is_not_there_is_named_with_the_remedy) {
  const auto on = open();
  std::uint16_t id = 0;
  EXPECT_EQ(strata_nl_resolve(on.get(), "no_such", &id), -ENOENT);
  EXPECT_NE(std::string(strata_last_error()).find("'no_such'"), std::string::npos);
  EXPECT_NE(std::string(strata_last_error()).find("module"), std::string::npos);
  EXPECT_EQ(strata_nl_last_failure(on.get())->error_number, ENOENT);
  strata_nl_families* reported = nullptr;
  EXPECT_EQ(strata_nl_families_open(on.get(), "no_such", &reported), -ENOENT);
  EXPECT_EQ(reported, nullptr);
}

TEST(strata_nl_test, a_request_is_answered_by_attributes) {
  const auto on = open();
  const strata_nl_message* reply = nullptr;
  begin_getfamily(on.get(), "nlctrl");
  // The request may be sent again.
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(strata_nl_ask(on.get(), &reply), 0) << strata_last_error();
    EXPECT_EQ(reply->family, GENL_ID_CTRL);
    EXPECT_EQ(reply->command, CTRL_CMD_NEWFAMILY);
    EXPECT_EQ(reply->is_ack, 0);
    EXPECT_EQ(text_in(*reply, CTRL_ATTR_FAMILY_NAME), "nlctrl");
    strata_nl_attribute id{};
    std::uint64_t number = 0;
    ASSERT_EQ(strata_nl_find(reply->attributes, CTRL_ATTR_FAMILY_ID, &id), 1);
    ASSERT_EQ(strata_nl_number(&id, &number), 1);
    EXPECT_EQ(number, std::uint64_t{GENL_ID_CTRL});
  }
  begin_getfamily(on.get(), "nlctrl");
  strata_nl_add_flags(on.get(), STRATA_NL_ACK);
  ASSERT_EQ(strata_nl_ask(on.get(), &reply), 0) << strata_last_error();
  EXPECT_EQ(text_in(*reply, CTRL_ATTR_FAMILY_NAME), "nlctrl");
  std::size_t size = 1;
  strata_nl_cookie(on.get(), &size);
  EXPECT_EQ(size, 0U);
}

TEST(strata_nl_test, the_kernels_words_and_the_place_are_kept) {
  const auto on = open();
  EXPECT_EQ(strata_nl_last_failure(on.get())->error_number, 0);
  begin_getfamily(on.get(), "averyverylongname12345");
  const strata_nl_message* reply = nullptr;
  EXPECT_EQ(strata_nl_ask(on.get(), &reply), -EINVAL);
  const auto* const failure = strata_nl_last_failure(on.get());
  EXPECT_EQ(failure->error_number, EINVAL);
  EXPECT_EQ(failure->offset, 20);
  EXPECT_STREQ(failure->text, "Attribute failed policy validation");
  const std::string sentence = strata_last_error();
  EXPECT_NE(sentence.find("command 3 of generic netlink family 16"), std::string::npos) << sentence;
  EXPECT_NE(sentence.find("check attribute 2"), std::string::npos) << sentence;
}

TEST(strata_nl_test, a_dump_hands_each_message_over) {
  const auto on = open();
  std::set<std::string> names;
  strata_nl_begin(on.get(), GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 2);
  const auto each = [](void* context, const strata_nl_message* message) {
    static_cast<std::set<std::string>*>(context)->insert(text_in(*message, CTRL_ATTR_FAMILY_NAME));
  };
  ASSERT_EQ(strata_nl_dump(on.get(), each, &names), 0) << strata_last_error();
  EXPECT_TRUE(names.contains("nlctrl"));
  EXPECT_FALSE(names.contains("none"));
}

TEST(strata_nl_test, attributes_of_every_kind_are_written_as_the_kernel_reads_them) {
  // The offset that the kernel reports shows what was sent: the last attribute is one too many.
  const auto on = open();
  strata_nl_begin(on.get(), GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 2);
  strata_nl_put_u16(on.get(), CTRL_ATTR_FAMILY_ID, GENL_ID_CTRL);  // 8 bytes, behind 20
  strata_nl_put_flag(on.get(), 0x2001);                            // 4
  strata_nl_put_u8(on.get(), 0x2001, 1);                           // 8
  strata_nl_put_u32(on.get(), 0x2001, 1);                          // 8
  strata_nl_put_u64(on.get(), 0x2001, 1);                          // 12
  strata_nl_put_bytes(on.get(), 0x2001, "12345", 5);               // 12
  strata_nl_open_nest(on.get(), 0x2001);                           // 4
  strata_nl_put_text(on.get(), 1, "hello", 5);                     // 12
  strata_nl_close_nest(on.get());
  strata_nl_put_text(on.get(), CTRL_ATTR_FAMILY_NAME, "averyverylongname12345", 22);
  const strata_nl_message* reply = nullptr;
  EXPECT_EQ(strata_nl_ask(on.get(), &reply), -EINVAL);
  EXPECT_EQ(strata_nl_last_failure(on.get())->offset, 20 + 8 + 4 + 8 + 8 + 12 + 12 + 4 + 12);
}

TEST(strata_nl_test, what_cannot_be_sent_is_refused) {
  const auto on = open();
  const strata_nl_message* reply = nullptr;
  EXPECT_EQ(strata_nl_ask(on.get(), &reply), -EINVAL) << "nothing was begun";
  begin_getfamily(on.get(), "nlctrl");
  std::uint16_t id = 0;
  ASSERT_EQ(strata_nl_resolve(on.get(), "nlctrl", &id), 0);
  EXPECT_EQ(strata_nl_ask(on.get(), &reply), -EINVAL) << "another request took its place";
  begin_getfamily(on.get(), std::string(40000, 'x'));
  EXPECT_EQ(strata_nl_ask(on.get(), &reply), -EMSGSIZE);
  strata_nl_begin(on.get(), GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 2);
  for (int i = 0; i < 9; ++i) strata_nl_open_nest(on.get(), 1);
  EXPECT_EQ(strata_nl_ask(on.get(), &reply), -EMSGSIZE);
  EXPECT_EQ(strata_nl_dump(on.get(), nullptr, nullptr), -EINVAL);
  EXPECT_EQ(strata_nl_open(nullptr, nullptr), -EINVAL);
  strata_nl_options options;
  strata_nl_defaults(&options);
  for (const std::uint32_t size : {0U, 100U, UINT32_MAX}) {
    options.largest_message = size;
    strata_nl* made = nullptr;
    EXPECT_EQ(strata_nl_open(&options, &made), -EINVAL) << size;
  }
  strata_nl_close(nullptr);
  strata_nl_families_close(nullptr);
  strata_nl_links_close(nullptr);
  strata_nl_watch_close(nullptr);
}

TEST(strata_nl_test, an_older_callers_options_are_filled_up) {
  strata_nl_options options{};
  options.size = sizeof options.size;
  const auto on = open(&options);
  std::uint16_t id = 0;
  EXPECT_EQ(strata_nl_resolve(on.get(), "nlctrl", &id), 0) << strata_last_error();
}

TEST(strata_nl_test, any_bytes_are_read_within_their_bounds) {
  // Each array is exactly as large as its contents, so that ASan reports any access beyond.
  unsigned state = 1;
  for (std::size_t size = 0; size < 200; ++size) {
    const auto bytes = std::make_unique<std::uint8_t[]>(size);
    for (std::size_t i = 0; i < size; ++i) {
      state = state * 1103515245U + 12345U;
      bytes[i] = static_cast<std::uint8_t>(i % 4 == 1 ? 0 : (state >> 16U) % 24);
    }
    strata_nl_attributes rest{bytes.get(), size};
    strata_nl_attribute each{};
    while (strata_nl_next(&rest, &each) != 0) {
      std::size_t length = 0;
      std::uint64_t number = 0;
      strata_nl_text(&each, &length);
      EXPECT_LE(length, each.size);
      EXPECT_EQ(strata_nl_number(&each, &number) != 0,
                each.size == 1 || each.size == 2 || each.size == 4 || each.size == 8);
      EXPECT_EQ(strata_nl_nest(&each).size, each.size);
      EXPECT_LE(static_cast<const std::uint8_t*>(each.value) + each.size, bytes.get() + size);
    }
  }
  strata_nl_attributes none{nullptr, 0};
  strata_nl_attribute each{};
  EXPECT_EQ(strata_nl_next(&none, &each), 0);
}

class strata_nl_link_test : public l2::veth_test {};

TEST_F(strata_nl_link_test, a_group_is_joined_and_left) {
  const auto on = open();
  const auto reported = families(on.get(), "nlctrl");
  const auto group = strata_nl_families_at(reported.get(), 0)->groups[0].id;
  ASSERT_EQ(strata_nl_join(on.get(), group), 0) << strata_last_error();
  const strata_nl_message* event = nullptr;
  EXPECT_EQ(strata_nl_event(on.get(), 0, &event), 0);
  EXPECT_EQ(strata_nl_event(on.get(), 10, &event), 0);
  EXPECT_GE(strata_nl_fd(on.get()), 0);
  EXPECT_EQ(strata_nl_leave(on.get(), group), 0) << strata_last_error();
  EXPECT_LT(strata_nl_join(on.get(), 1U << 30U), 0);
}

TEST_F(strata_nl_link_test, policies_are_told) {
  const auto on = open();
  strata_nl_policies* made = nullptr;
  ASSERT_EQ(strata_nl_policies_open(on.get(), "nlctrl", &made), 0) << strata_last_error();
  const policies_handle reported(made);
  const auto table = strata_nl_policies_table_of(reported.get(), CTRL_CMD_GETFAMILY, 0);
  ASSERT_GE(table, 0);
  EXPECT_EQ(strata_nl_policies_table_of(reported.get(), 200, 0), -1);
  bool has_name = false;
  const auto count = strata_nl_policies_count(reported.get());
  for (std::size_t i = 0; i < count; ++i) {
    const auto& each = *strata_nl_policies_at(reported.get(), i);
    if (each.table != table || each.attribute != CTRL_ATTR_FAMILY_NAME) continue;
    has_name = true;
    EXPECT_STREQ(each.kind, "nul-string");
    EXPECT_NE(each.known & STRATA_NL_HAS_MOST_SIZE, 0U);
    EXPECT_EQ(each.most_size, GENL_NAMSIZ - 1U);
  }
  EXPECT_TRUE(has_name);
  EXPECT_EQ(strata_nl_policies_at(reported.get(), count), nullptr);
  EXPECT_EQ(strata_nl_policies_open(on.get(), "none such", &made), -ENOENT);
  EXPECT_EQ(strata_nl_policies_open(on.get(), nullptr, &made), -EINVAL);
}

TEST_F(strata_nl_link_test, addresses_are_listed) {
  run_command("ip address add 192.0.2.9/24 dev vethA; ip address add 2001:db8::9/64 dev lo");
  const auto all_of = [](std::int32_t link) {
    strata_nl_addresses* made = nullptr;
    EXPECT_EQ(strata_nl_addresses_open(link, &made), 0) << strata_last_error();
    const addresses_handle reported(made);
    std::set<std::string> texts;
    for (std::size_t i = 0; i < strata_nl_addresses_count(reported.get()); ++i) {
      const auto& each = *strata_nl_addresses_at(reported.get(), i);
      texts.insert(each.text);
      EXPECT_EQ(each.is_v6 != 0, std::string(each.text).contains(':'));
      if (link != 0) {
        EXPECT_EQ(each.link, link);
      }
    }
    return texts;
  };
  const auto a = links("vethA");
  EXPECT_EQ(all_of(strata_nl_links_at(a.get(), 0)->index), std::set<std::string>{"192.0.2.9/24"});
  const auto all = all_of(0);
  EXPECT_TRUE(all.contains("192.0.2.9/24") && all.contains("127.0.0.1/8"));
  EXPECT_TRUE(all.contains("2001:db8::9/64"));
  EXPECT_TRUE(all_of(9999).empty());
}

TEST_F(strata_nl_link_test, links_are_listed) {
  const auto all = links(nullptr);
  std::set<std::string> names;
  for (std::size_t i = 0; i < strata_nl_links_count(all.get()); ++i) {
    names.insert(strata_nl_links_at(all.get(), i)->name);
  }
  EXPECT_TRUE(names.contains("vethA") && names.contains("vethB") && names.contains("lo"));
  EXPECT_EQ(strata_nl_links_at(all.get(), names.size()), nullptr);
  const auto a = links("vethA");
  const auto b = links("vethB");
  const auto* const link = strata_nl_links_at(a.get(), 0);
  EXPECT_STREQ(link->kind, "veth");
  EXPECT_EQ(link->peer, strata_nl_links_at(b.get(), 0)->index);
  EXPECT_EQ(link->mtu, 1500U);
  EXPECT_NE(std::memcmp(link->mac, "\0\0\0\0\0\0", 6), 0);
  strata_nl_links* reported = nullptr;
  EXPECT_EQ(strata_nl_links_open("none0", &reported), -ENODEV);
}

TEST_F(strata_nl_link_test, what_happens_to_links_is_heard) {
  strata_nl_watch* made = nullptr;
  ASSERT_EQ(strata_nl_watch_open(nullptr, &made), 0) << strata_last_error();
  const watch_handle on(made);
  const auto receives = [&](int kind, auto fits) {
    for (;;) {
      const strata_nl_link* link = nullptr;
      constexpr int patience_ms = 2000;
      const int what = strata_nl_watch_event(on.get(), patience_ms, &link);
      if (what <= 0) return false;
      if (what == kind && fits(*link)) return true;
    }
  };
  run_command("ip address add 192.0.2.9/24 dev vethA; ip link set vethA mtu 1400");
  EXPECT_TRUE(receives(STRATA_NL_LINK_CHANGED, [](const strata_nl_link& link) {
    return link.mtu == 1400 && std::string(link.name) == "vethA";
  }));
  run_command("ip link del vethA");
  EXPECT_TRUE(receives(STRATA_NL_LINK_REMOVED, [](const strata_nl_link& link) {
    return std::string(link.name) == "vethA";
  }));
}

}  // namespace
}  // namespace strata::nl
