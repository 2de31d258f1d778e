// The text of an ACL file from anywhere: what is read has the same meaning once it is written and
// read again, and every check of a call ends.
#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cache/engine/command.hpp"
#include "runtime/cache/engine/users/acl_text.hpp"

using namespace strata::runtime::cache;

namespace {

std::string text_of(const std::vector<user>& users) {
  std::string text;
  for (const auto& each : users) text += each.text() + "\n";
  return text;
}

// Returns which of the calls the user may make.
std::vector<bool> check_calls(const user& user) {
  std::vector<bool> allowed;
  static constexpr std::array<std::string_view, 4> calls[] = {
      {"get", "a", "", ""},        {"config", "get", "port", ""}, {"mset", "a", "b", "c"},
      {"publish", "a", "b", ""},   {"eval", "x", "1", "a"},       {"xread", "streams", "a", "0"},
      {"psubscribe", "a*", "", ""}};
  for (const auto& words : calls) {
    const auto* command = find_command(words[0]);
    if (!command->row->subcommands.empty()) command = find_subcommand(*command, words[1]);
    const auto denied = user.check(*command, words);
    if (denied) {
      assert(!denied->reply(*command).empty());
      assert(!denied->explanation(*command, words).empty());
    }
    assert(!denied || !user.is_unrestricted());
    allowed.push_back(!denied);
  }
  return allowed;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto users = parse_acl(text, "file", channel_default::none);
  if (!users) {
    assert(!users.error().reason.empty());
    return 0;
  }
  const auto written = text_of(*users);
  const auto again = parse_acl(written, "file", channel_default::none);
  assert(again);
  assert(std::ranges::equal(*users, *again, {}, check_calls, check_calls));
  // With more than 200 rules, superfluous ones may stay.
  if (std::ranges::count(written, ' ') < 200) assert(text_of(*again) == written);
  return 0;
}
