#include "strata/wire/probe.hpp"

#include <gtest/gtest.h>

#include <array>

namespace strata::wire {
namespace {

const probe sound_probe{.kind = probe_kind::answer,
                        .run = 0x0102030405060708,
                        .sequence = 9,
                        .time_ns = 0x1112131415161718};

TEST(probe, is_read_as_it_was_written) {
  std::array<std::byte, probe::size + 14> payload{};
  for (const auto kind : {probe_kind::request, probe_kind::answer, probe_kind::load}) {
    auto one = sound_probe;
    one.kind = kind;
    one.write(std::span(payload).first<probe::size>());
    EXPECT_EQ(probe::parse(payload), one);
  }
}

TEST(probe, stands_in_network_order) {
  std::array<std::byte, probe::size> payload{};
  sound_probe.write(payload);
  EXPECT_EQ(as_text(byte_span(payload).first<8>()), std::string_view("sL2P\x02\0\0\0", 8));
  EXPECT_EQ(payload[8], std::byte{1});
  EXPECT_EQ(payload[23], std::byte{9});
  EXPECT_EQ(payload[31], std::byte{0x18});
}

TEST(probe, is_not_seen_in_anything_else) {
  std::array<std::byte, probe::size> payload{};
  sound_probe.write(payload);
  EXPECT_FALSE(probe::parse({}));
  EXPECT_FALSE(probe::parse(byte_span(payload).first<probe::size - 1>()));
  for (const auto& [at, value] : {std::pair{0, 'S'}, {4, '\0'}, {4, '\4'}, {5, '\1'}, {7, '\1'}}) {
    auto spoiled = payload;
    spoiled[static_cast<std::size_t>(at)] = static_cast<std::byte>(value);
    EXPECT_FALSE(probe::parse(spoiled)) << at;
  }
}

}  // namespace
}  // namespace strata::wire
