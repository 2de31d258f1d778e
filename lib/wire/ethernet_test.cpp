#include "strata/wire/ethernet.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace strata::wire {
namespace {

const mac_address to = *mac_address::from_text("02:00:00:00:00:01");
const mac_address from = *mac_address::from_text("02-AA-bb-00-00-02");

std::vector<std::byte> some_bytes(std::size_t count) {
  std::vector<std::byte> made(count);
  for (std::size_t i = 0; i < count; ++i) made[i] = static_cast<std::byte>(i * 7 + 1);
  return made;
}

TEST(mac_address, is_read_and_written) {
  EXPECT_EQ(from.text(), "02:aa:bb:00:00:02");
  EXPECT_TRUE(from.is_local());
  EXPECT_TRUE(mac_address::broadcast().is_multicast());
  for (const char* wrong : {"", "02:00:00:00:00", "02:00:00:00:00:0g", "02:00-00:00:00:01",
                            "02.00.00.00.00.01", "02:00:00:00:00:01 "}) {
    const auto refused = mac_address::from_text(wrong);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_NE(describe(refused.error()).find(wrong), std::string::npos);
  }
}

TEST(ethernet, a_short_frame_is_padded_to_60_bytes) {
  const auto frame = build_simple_frame(to, from, 0x88B5, some_bytes(5));
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->size(), 60U);
  const auto view = ethernet_view::parse(*frame);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->destination(), to);
  EXPECT_EQ(view->source(), from);
  EXPECT_EQ(view->ethertype(), 0x88B5);
  EXPECT_EQ(view->payload().size(), 46U);
  EXPECT_TRUE(std::ranges::equal(view->payload().first(5), some_bytes(5)));
  EXPECT_EQ(view->payload()[5], std::byte{0});
}

TEST(ethernet, padding_is_no_part_of_a_message) {
  const std::array<std::byte, 3> text{std::byte{'a'}, std::byte{0}, std::byte{'b'}};
  const auto padded = *build_simple_frame(to, from, 0x88B5, text);
  EXPECT_EQ(ethernet_view::parse(padded)->message().size(), 3U);
  const auto tagged = *build_vlan_frame(to, from, {}, 0x88B5, text);
  EXPECT_EQ(ethernet_view::parse(tagged)->message().size(), 3U);
  const std::vector<std::byte> zeros(100);
  const auto long_one = *build_simple_frame(to, from, 0x88B5, zeros);
  EXPECT_EQ(ethernet_view::parse(long_one)->message().size(), 100U);
}

TEST(ethernet, tags_keep_priority_dei_and_vid) {
  const vlan_tci tci{.priority = 7, .dei = true, .vlan_id = 10};
  const auto frame = build_vlan_frame(to, from, tci, 0x88B5, some_bytes(100));
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->size(), 118U);
  const auto view = ethernet_view::parse(*frame);
  ASSERT_TRUE(view);
  ASSERT_EQ(view->tags().size(), 1U);
  EXPECT_EQ(view->tags()[0], (vlan_tag{tpid_customer, tci}));
  EXPECT_EQ(tci.encode(), 0xF00A);
  EXPECT_EQ(outer_tag(*frame), (vlan_tag{tpid_customer, tci}));
}

TEST(ethernet, a_value_survives_build_and_parse_at_every_depth) {
  for (std::size_t depth = 0; depth <= max_vlan_tags; ++depth) {
    ethernet made{
        .destination = to, .source = from, .ethertype = 0x0800, .payload = some_bytes(64)};
    for (std::size_t i = 0; i < depth; ++i) {
      made.tags.push_back(
          {i % 2 == 0 ? tpid_service : tpid_customer,
           {static_cast<std::uint8_t>(i), i % 2 != 0, static_cast<std::uint16_t>(100 + i)}});
    }
    const auto frame = made.build();
    ASSERT_TRUE(frame);
    EXPECT_EQ(ethernet::copy_of(*ethernet_view::parse(*frame)), made);
  }
}

TEST(ethernet, what_is_deeper_than_four_tags_is_payload) {
  std::vector<std::byte> frame(12 + 4 * 5 + 2 + 40);
  for (std::size_t i = 0; i < 5; ++i) {
    frame[12 + 4 * i] = std::byte{0x81};
    frame[15 + 4 * i] = static_cast<std::byte>(i);
  }
  const auto view = ethernet_view::parse(frame);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->tags().size(), max_vlan_tags);
  EXPECT_EQ(view->ethertype(), tpid_customer);
}

TEST(ethernet, an_802_3_frame_has_a_length_and_llc) {
  const ethernet made{.destination = to,
                      .source = from,
                      .tags = {},
                      .ethertype = {},
                      .payload = {std::byte{0x42}, std::byte{0x42}, std::byte{3}, std::byte{9}}};
  const auto frame = made.build();
  ASSERT_TRUE(frame);
  const auto view = ethernet_view::parse(*frame);
  EXPECT_FALSE(view->ethertype());
  EXPECT_EQ(view->length(), 4U);
  EXPECT_EQ(view->payload().size(), 4U);  // without the padding
  EXPECT_EQ(view->llc(), (llc_header{0x42, 0x42, 3}));
}

TEST(ethernet, what_cannot_be_sent_is_refused_with_its_value) {
  const auto text_of = [](const auto& refused) {
    return refused ? std::string("accepted") : describe(refused.error());
  };
  EXPECT_NE(text_of(build_simple_frame(to, from, 0x05FF, {})).find("0x05ff"), std::string::npos);
  EXPECT_NE(text_of(build_simple_frame(to, from, 0x0800, some_bytes(1501))).find("1501"),
            std::string::npos);
  EXPECT_TRUE(build_simple_frame(to, from, 0x0800, some_bytes(9000), jumbo_mtu));
  EXPECT_NE(text_of(build_vlan_frame(to, from, {.priority = 8}, 0x0800, {})).find("priority 8"),
            std::string::npos);
  EXPECT_NE(text_of(build_vlan_frame(to, from, {.vlan_id = 4095}, 0x0800, {})).find("4095"),
            std::string::npos);
  std::vector<std::byte> small(59);
  EXPECT_NE(text_of(build_simple_frame_into(small, to, from, 0x0800, {})).find("59"),
            std::string::npos);
  const std::vector<vlan_tag> five(5);
  EXPECT_FALSE(build_frame_into(small, {to, from, five, 0x0800}, {}));
  const std::vector<vlan_tag> odd{{0x9100, {}}};
  EXPECT_NE(text_of(build_frame_into(small, {to, from, odd, 0x0800}, {})).find("0x9100"),
            std::string::npos);
}

TEST(ethernet, every_truncation_is_survived) {
  const ethernet whole{.destination = to,
                       .source = from,
                       .tags = {{tpid_service, {1, false, 5}}, {tpid_customer, {2, true, 6}}},
                       .ethertype = 0x88B5,
                       .payload = some_bytes(50)};
  const auto frame = *whole.build();
  for (std::size_t size = 0; size <= frame.size(); ++size) {
    // A copy of its own, so that a read beyond the end is noticed.
    const std::vector<std::byte> part(frame.begin(),
                                      frame.begin() + static_cast<std::ptrdiff_t>(size));
    const auto view = ethernet_view::parse(part);
    EXPECT_EQ(view.has_value(), size >= 22) << size;
    if (view) {
      EXPECT_EQ(view->payload().size(), size - 22);
    }
    auto copy = part;
    EXPECT_EQ(strip_tag(copy).size(), size >= 16 ? size - 4 : size);
  }
}

TEST(ethernet, random_bytes_are_survived) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 chance(seed);
  for (int i = 0; i < 20000; ++i) {
    std::vector<std::byte> frame(chance() % 80);
    for (auto& each : frame) each = static_cast<std::byte>(chance());
    if (frame.size() > 20 && chance() % 2 == 0) {
      frame[12] = std::byte{0x81};
      frame[13] = std::byte{0};
    }
    const auto view = ethernet_view::parse(frame);
    if (!view) continue;
    EXPECT_LE(view->header_size() + view->payload().size(), frame.size());
    EXPECT_EQ(view->missing() != 0,
              view->length() && *view->length() > frame.size() - view->header_size());
    (void)view->llc();
  }
}

TEST(vlan, a_tag_is_put_in_and_taken_out_in_place) {
  auto frame = *build_simple_frame(to, from, 0x88B5, some_bytes(64));
  const auto plain = frame;
  frame.insert(frame.begin(), 4, std::byte{0});
  const vlan_tag tag{tpid_service, {5, true, 4094}};
  ASSERT_TRUE(insert_tag(frame, tag));
  EXPECT_EQ(outer_tag(frame), tag);
  EXPECT_EQ(ethernet_view::parse(frame)->payload().size(), 64U);
  const auto stripped = strip_tag(frame);
  EXPECT_TRUE(std::ranges::equal(stripped, plain));
  EXPECT_EQ(strip_tag(stripped).data(), stripped.data());
  std::vector<std::byte> small(15);
  EXPECT_FALSE(insert_tag(small, tag));
}

}  // namespace
}  // namespace strata::wire
