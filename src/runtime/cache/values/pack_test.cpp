#include "runtime/cache/values/pack.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>

#include "runtime/cache/values/memory.hpp"

namespace strata::runtime::cache {
namespace {

std::vector<std::string> texts_of(const pack& pack) {
  std::vector<std::string> found;
  for (auto at = pack.first(); at != pack::none; at = pack.next(at)) {
    found.emplace_back(pack.at(at).text());
  }
  return found;
}

std::vector<std::string> texts_backwards(const pack& pack) {
  std::vector<std::string> found;
  for (auto at = pack.last(); at != pack::none; at = pack.previous(at)) {
    found.emplace_back(pack.at(at).text());
  }
  return found;
}

std::string random_text(std::mt19937& random) {
  switch (random() % 8) {
    case 0: return std::to_string(random() % 128);
    case 1: return std::to_string(static_cast<int>(random() % 9000) - 4500);
    case 2: return std::to_string(static_cast<int>(random() % 70'000) - 35'000);
    case 3: return std::to_string(static_cast<std::int64_t>(random()) << (random() % 32U));
    case 4: return "-" + std::to_string(random());
    case 5: return std::string(random() % 70, 'a');
    case 6: return std::string(random() % 300, 'b');
    default: return random() % 50 == 0 ? std::string(20'000, 'c') : "007";
  }
}

TEST(pack, does_what_a_deque_does) {
  const auto seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  pack made;
  std::vector<std::string> model;
  for (int step = 0; step < 20'000; ++step) {
    const auto text = random_text(random);
    const auto index = model.empty() ? 0 : random() % model.size();
    const auto where = made.seek(static_cast<std::int64_t>(index));
    const auto place = model.begin() + static_cast<std::ptrdiff_t>(index);
    const auto what = random() % (model.size() > 60 ? 12 : 8);
    if (what < 2) {
      made.push_back(text);
      model.push_back(text);
    } else if (what < 4) {
      made.push_front(text);
      model.insert(model.begin(), text);
    } else if (what == 4) {
      made.insert(where, text);
      model.insert(place, text);
    } else if (!model.empty() && what == 5) {
      made.replace(where, text);
      *place = text;
    } else if (!model.empty() && what == 6) {
      EXPECT_EQ(made.find(text, made.first()) != pack::none,
                std::ranges::find(model, text) != model.end());
    } else if (!model.empty() && what > 7) {
      const auto count = std::min<std::size_t>(random() % 3 + 1, model.size() - index);
      made.erase(where, count);
      model.erase(place, place + static_cast<std::ptrdiff_t>(count));
    }
    ASSERT_EQ(made.size(), model.size());
    if (step % 50 == 0) {
      ASSERT_EQ(texts_of(made), model);
      auto backwards = texts_backwards(made);
      std::ranges::reverse(backwards);
      ASSERT_EQ(backwards, model);
      const auto again = pack::load(made.dump());
      ASSERT_TRUE(again);
      ASSERT_EQ(texts_of(*again), model);
    }
  }
}

// The bytes of a listpack as Redis 7.0 dumps it: LPUSH k 1 abc, in DUMP's payload.
TEST(pack, is_a_listpack) {
  pack made;
  made.push_back("abc");
  made.push_back("1");
  EXPECT_EQ(made.dump(), std::string("\x0e\x00\x00\x00\x02\x00\x83"
                                     "abc\x04\x01\x01\xff",
                                     14));
}

TEST(pack, load_refuses_what_is_none) {
  pack made;
  made.push_back("abc");
  made.push_back("12345");
  const auto whole = made.dump();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(pack::load(whole.substr(0, size))) << size;
  }
  std::mt19937 random(7);
  for (int i = 0; i < 20'000; ++i) {
    auto broken = whole;
    broken[random() % broken.size()] = static_cast<char>(random());
    if (const auto loaded = pack::load(broken)) (void)texts_backwards(*loaded);
  }
}

TEST(pack, gives_all_memory_back) {
  std::int64_t account = 0;
  {
    const charging scope(account);
    pack made;
    for (int i = 0; i < 1000; ++i) made.push_front(std::to_string(i * i));
    EXPECT_GE(account, static_cast<std::int64_t>(made.bytes()));
    const pack copy = made;
    made.clear();
  }
  EXPECT_EQ(account, 0);
}

}  // namespace
}  // namespace strata::runtime::cache
