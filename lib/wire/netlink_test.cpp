#include "strata/wire/netlink.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "strata/wire/genl.hpp"

namespace strata::wire {
namespace {

constexpr std::uint16_t family = 0x20;

class netlink_test : public testing::Test {
 protected:
  netlink_writer writer() { return netlink_writer(memory_); }
  static netlink_message parsed(const netlink_writer& writer) {
    const auto message = netlink_message::parse(writer.bytes().value());
    if (!message) throw std::runtime_error("cut");
    return *message;
  }
  std::array<std::byte, 512> memory_{};
};

TEST_F(netlink_test, what_is_written_is_read_again) {
  auto to = writer();
  begin_genl(to, family, netlink_flag::request | netlink_flag::ack, 3, 1)
      .put_text(1, "hello")
      .put_number(2, std::uint32_t{0xDEADBEEF})
      .open_nest(3)
      .put_number(1, std::uint8_t{7})
      .open_nest(2)
      .put_text(5, "")
      .close_nest()
      .close_nest()
      .put_number(4, std::uint64_t{1} << 40U);
  to.set_sequence(42);
  const auto message = parsed(to);
  EXPECT_EQ(message.header().sequence, 42U);
  EXPECT_EQ(message.header().type, family);
  EXPECT_TRUE(message.has(netlink_flag::ack));
  const auto generic = genl_message::parse(message);
  ASSERT_TRUE(generic);
  EXPECT_EQ(generic->command, 3);
  const auto& all = generic->attributes;
  EXPECT_TRUE(all.is_whole());
  EXPECT_EQ(all.find(1)->text(), "hello");
  EXPECT_EQ(all.find(1)->value().size(), 6U) << "with its NUL";
  EXPECT_EQ(all.find(2)->number<std::uint32_t>(), 0xDEADBEEF);
  EXPECT_EQ(all.find(2)->number<std::uint16_t>(), std::nullopt);
  EXPECT_EQ(all.find(4)->any_number(), std::uint64_t{1} << 40U);
  EXPECT_TRUE(all.find(3)->is_marked_nested());
  EXPECT_EQ(all.nest(3).find(1)->any_number(), 7U);
  EXPECT_EQ(all.nest(3).nest(2).find(5)->text(), "");
  EXPECT_FALSE(all.find(9));
  EXPECT_TRUE(all.nest(9).empty());
}

TEST_F(netlink_test, what_has_no_room_leaves_no_message) {
  for (std::size_t size = 0; size < 44; ++size) {
    netlink_writer to(mutable_byte_span(memory_).first(size));
    begin_genl(to, family, 0, 1, 1).open_nest(1).put_text(2, "hello").close_nest().put_number(3, 4);
    EXPECT_FALSE(to.bytes()) << size;
  }
  auto deep = writer();
  deep.begin(family, 0);
  for (int i = 0; i < 9; ++i) deep.open_nest(1);
  EXPECT_FALSE(deep.bytes());
  std::vector<std::byte> large(100000);
  netlink_writer to(large);
  to.begin(family, 0).put(1, byte_span(large).first(65532));
  EXPECT_FALSE(to.bytes()) << "an attribute's length has 16 bits";
}

TEST_F(netlink_test, the_path_leads_to_the_attribute_at_an_offset) {
  auto to = writer();
  to.begin(family, 0).put_number(1, 5).open_nest(2).put_number(3, 5).put_number(4, 5).close_nest();
  const auto all = parsed(to).attributes(0);
  const auto at = [&](std::size_t offset) {
    const auto path = all.path_to(offset);
    return std::pair{path[0], path[1]};
  };
  EXPECT_EQ(at(0), (std::pair<std::uint16_t, std::uint16_t>{1, 0}));
  EXPECT_EQ(at(8), (std::pair<std::uint16_t, std::uint16_t>{2, 0}));
  EXPECT_EQ(at(12), (std::pair<std::uint16_t, std::uint16_t>{2, 3}));
  EXPECT_EQ(at(20), (std::pair<std::uint16_t, std::uint16_t>{2, 4}));
  EXPECT_EQ(at(28), (std::pair<std::uint16_t, std::uint16_t>{0, 0})) << "behind the end";
}

TEST_F(netlink_test, an_extended_ack_says_what_where_and_what_is_missing) {
  for (const bool is_capped : {false, true}) {
    auto request = writer();
    request.begin(family, 0).put_text(1, "something");
    const auto sent = request.bytes().value();
    std::vector<std::byte> payload(4);
    const std::int32_t code = -22;
    std::memcpy(payload.data(), &code, sizeof code);
    const auto echoed = is_capped ? sent.first(netlink_message::header_size) : sent;
    payload.insert(payload.end(), echoed.begin(), echoed.end());

    std::array<std::byte, 256> other{};
    netlink_writer to(other);
    to.begin(static_cast<std::uint16_t>(netlink_control::error),
             netlink_flag::ack_tlvs | (is_capped ? netlink_flag::capped : 0))
        .put_header(payload)
        .put_text(1, "no such colour")
        .put_number(2, std::uint32_t{16})
        .put_number(5, std::uint32_t{7});
    const auto ack = netlink_ack::parse(*netlink_message::parse(*to.bytes()));
    ASSERT_TRUE(ack);
    EXPECT_EQ(ack->error_number, 22);
    EXPECT_EQ(ack->text, "no such colour");
    EXPECT_EQ(ack->offset, 16U);
    EXPECT_EQ(ack->missing_type, 7U);
    EXPECT_FALSE(ack->missing_nest);
  }
}

TEST_F(netlink_test, a_cut_message_is_read_within_its_bounds) {
  auto to = writer();
  begin_genl(to, family, 0, 1, 1).put_text(1, "hello").put_number(2, 1);
  const auto whole = *to.bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(netlink_message::parse(whole.first(size))) << size;
  }
  for (const auto size : {2, 9, 14}) {
    EXPECT_FALSE(netlink_attributes(whole.subspan(20, static_cast<std::size_t>(size))).is_whole());
  }
  for (const auto length : std::to_array<std::uint16_t>({0, 3, 13})) {
    std::array<std::byte, 12> bytes{};
    std::memcpy(bytes.data(), &length, sizeof length);
    EXPECT_FALSE(netlink_attribute::parse(bytes)) << length;
  }
}

}  // namespace
}  // namespace strata::wire
