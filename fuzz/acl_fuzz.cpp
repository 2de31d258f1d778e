// The text of an ACL file from anywhere: what is read has the same meaning once it is written and
// read again, and every check of a call ends.
#include <array>
#include <cassert>
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/cache/engine/command.hpp"
#include "runtime/cache/engine/users/acl_text.hpp"

using namespace strata::runtime::cache;

namespace {

std::string text_of(const std::vector<user>& users) {
  std::string text;
  for (const auto& each : users) text += each.text() + "\n";
  return text;
}

void check_calls(const user& user) {
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
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto users = parse_acl(text, "file", channel_default::none);
  if (!users) {
    assert(!users.error().reason.empty());
    return 0;
  }
  for (const auto& each : *users) check_calls(each);
  const auto written = text_of(*users);
  const auto again = parse_acl(written, "file", channel_default::none);
  assert(again);
  assert(text_of(*again) == written);
  return 0;
}
