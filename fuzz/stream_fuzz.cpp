// Commands on streams from anywhere, one a line: ids, intervals, trimming, groups. After each, the
// entries are in order and as many as the stream says, and its dump is the same stream.
#include <cassert>
#include <cstdint>
#include <optional>
#include <ranges>
#include <string_view>
#include <vector>

#include "asking_client.hpp"
#include "runtime/cache/disk/rdb.hpp"
#include "runtime/cache/engine/digest.hpp"
#include "runtime/cache/values/streams/stream_value.hpp"

using namespace strata::runtime::cache;

namespace {

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (const auto part : std::views::split(text, at)) parts.emplace_back(part.begin(), part.end());
  return parts;
}

void check_order(const stream_value& stream, bool backwards) {
  stream_cursor cursor(stream, stream_id::lowest(), stream_id::highest(), backwards);
  std::size_t count = 0;
  std::optional<stream_id> last;
  for (; cursor.next(); ++count) {
    const auto id = cursor.entry().id;
    assert(!last || (backwards ? id < *last : id > *last));
    assert(id <= stream.last_id);
    assert(stream.contains(id));
    last = id;
  }
  assert(count == stream.size());
}

void check(engine& home, const entry& each) {
  if (each.type() != value_kind::stream) return;
  const auto& stream = each.as<stream_value>();
  check_order(stream, false);
  check_order(stream, true);
  auto why = rdb::refusal::none;
  entry* const again =
      rdb::restore(rdb::dump(each), "again", entry::never, home.home().settings(), why);
  assert(again != nullptr);
  assert(digest::of_value(*again).text() == digest::of_value(each).text());
  entry::destroy(again);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const machine_clock clock;
  engine home(clock);
  home.keys().set_time(1'700'000'000'000);
  home.home().settings().stream_max_block_entries = 3;
  asking_client client(home);
  for (const auto line : split({reinterpret_cast<const char*>(data), size}, '\n')) {
    if (!line.starts_with('x') && !line.starts_with('X')) continue;
    client.ask(split(line, ' '));
    home.keys()[0].for_each([&](const entry* each) { check(home, *each); });
  }
  return 0;
}
