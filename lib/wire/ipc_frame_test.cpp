#include "strata/wire/ipc_frame.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

namespace strata::wire {
namespace {

constexpr ipc_header header{.kind = ipc_kind::fragment,
                            .acknowledged = true,
                            .channel = 0x0102030405060708,
                            .sender = 0x1112131415161718,
                            .receiver = 0x2122232425262728,
                            .sequence = 0x3132333435363738,
                            .message = 0x4142434445464748};

std::vector<std::byte> frame_of(const ipc_header& header, byte_span body) {
  std::vector<std::byte> made(ipc_header_size);
  made.insert(made.end(), body.begin(), body.end());
  seal_ipc_frame(made, header);
  return made;
}

TEST(ipc_frame, is_read_as_it_was_written) {
  for (std::size_t size = 0; size < 100; ++size) {
    std::vector<std::byte> body(size, std::byte{0x5A});
    auto bytes = frame_of(header, body);
    bytes.resize(bytes.size() + 7);  // padding
    const auto read = ipc_frame::parse(bytes);
    ASSERT_TRUE(read) << size;
    EXPECT_EQ(read->header(), header);
    EXPECT_TRUE(std::ranges::equal(read->body(), body));
  }
}

TEST(ipc_frame, is_refused_when_it_is_cut_or_one_bit_is_wrong) {
  const std::vector<std::byte> body(77, std::byte{1});
  auto bytes = frame_of(header, body);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ipc_frame::parse(byte_span(bytes).first(size))) << size;
  }
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    EXPECT_FALSE(ipc_frame::parse(bytes)) << "bit " << bit;
    bytes[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
  }
  EXPECT_TRUE(ipc_frame::parse(bytes));
}

TEST(ipc_frame, is_refused_when_two_bits_are_wrong) {
  std::mt19937 random(1);
  const std::vector<std::byte> body(1500, std::byte{1});
  auto bytes = frame_of(header, body);
  for (int i = 0; i < 20000; ++i) {
    const auto one = random() % (bytes.size() * 8);
    const auto other = random() % (bytes.size() * 8);
    if (one == other) continue;
    for (const auto bit : {one, other}) bytes[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    EXPECT_FALSE(ipc_frame::parse(bytes)) << "bits " << one << " and " << other;
    for (const auto bit : {one, other}) bytes[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
  }
}

TEST(ipc_records, keep_sizes_and_order) {
  std::vector<std::byte> body(1000);
  std::size_t used = 0;
  const std::array<std::string_view, 4> messages{"one", "", "three", "\0"};
  for (const auto& each : messages) {
    used += ipc_records::write(mutable_byte_span(body).subspan(used), as_bytes(each));
  }
  ipc_records read(byte_span(body).first(used));
  for (const auto& each : messages) EXPECT_EQ(as_text(read.next().value()), each);
  EXPECT_FALSE(read.next());
  EXPECT_FALSE(read.is_malformed());
  for (std::size_t size = 1; size < used; ++size) {
    ipc_records cut(byte_span(body).first(size));
    std::size_t count = 0;
    std::size_t whole = 0;
    while (const auto message = cut.next()) {
      ++count;
      whole += ipc_records::head_size + message->size();
    }
    EXPECT_LT(count, messages.size());
    EXPECT_EQ(cut.is_malformed(), whole != size) << size;
  }
}

TEST(ipc_fragment, knows_where_its_piece_belongs) {
  const std::vector<std::byte> piece(4);
  ipc_fragment last{.first = 7, .total = 10, .count = 3, .piece = byte_span(piece).first(2)};
  std::vector<std::byte> body(64);
  const auto size = last.write(body);
  const auto read = ipc_fragment::parse(9, byte_span(body).first(size));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->offset_of(9), 8U);
  EXPECT_FALSE(ipc_fragment::parse(8, byte_span(body).first(size))) << "has 4 bytes, not 2";
  EXPECT_FALSE(ipc_fragment::parse(10, byte_span(body).first(size))) << "there are 3";
  EXPECT_FALSE(ipc_fragment::parse(6, byte_span(body).first(size)));
  EXPECT_FALSE(ipc_fragment::parse(9, byte_span(body).first(15)));
  for (const std::uint32_t count : {0U, 11U, 0xFFFFFFFFU}) {
    last.count = count;
    EXPECT_FALSE(ipc_fragment::parse(9, byte_span(body).first(last.write(body))));
  }
}

TEST(ipc_acknowledgement, says_what_arrived) {
  const std::array<std::byte, 2> bits{std::byte{0b101}, std::byte{0x80}};
  const ipc_acknowledgement sent{.next = 1ULL << 40U, .window = 65536, .selective = bits};
  std::vector<std::byte> body(200);
  const auto size = sent.write(body);
  const auto read = ipc_acknowledgement::parse(byte_span(body).first(size));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->next, sent.next);
  EXPECT_EQ(read->window, sent.window);
  std::vector<std::size_t> arrived;
  for (std::size_t i = 0; i < read->selective_count(); ++i) {
    if (read->has_arrived(i)) arrived.push_back(i);
  }
  EXPECT_EQ(arrived, (std::vector<std::size_t>{0, 2, 15}));
  EXPECT_FALSE(ipc_acknowledgement::parse(byte_span(body).first(11)));
  EXPECT_FALSE(ipc_acknowledgement::parse(byte_span(body).first(12 + 129)));
}

TEST(ipc_channel_id, differs_by_name) {
  EXPECT_EQ(ipc_channel_id("a"), ipc_channel_id("a"));
  EXPECT_NE(ipc_channel_id("a"), ipc_channel_id("b"));
  EXPECT_NE(ipc_channel_id(""), ipc_channel_id(std::string_view("\0", 1)));
}

}  // namespace
}  // namespace strata::wire
