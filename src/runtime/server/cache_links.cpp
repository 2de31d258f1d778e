#include "runtime/server/cache_links.hpp"

#include <fmt/format.h>

#include <utility>

#include "net/scheme.hpp"
#include "runtime/runtime_service.hpp"
#include "runtime/server/shard.hpp"

namespace strata::runtime::server {

namespace {

using namespace std::chrono_literals;

constexpr std::string_view prefix = "cache ";
constexpr std::size_t most_waiting = 1000;
constexpr auto longest_connecting = 5s;

bool is_letter(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z');
}

}  // namespace

bool cache_links::take(member& member, std::string_view message) {
  if (home_.options().cache.empty() || !message.starts_with(prefix)) return false;
  message.remove_prefix(prefix.size());
  const auto id = member.id();
  const bool is_one_line = message.find_first_of("\r\n") == std::string_view::npos;
  // A command that does not begin with a letter would begin Redis's own protocol.
  if (message.empty() || !is_letter(message.front()) || !is_one_line) {
    home_.send_to_member(id, "error: write one command, such as: cache get key");
    return true;
  }
  auto known = links_.find(id);
  if (known == links_.end()) known = links_.emplace(id, open(id)).first;
  auto& link = *known->second;
  if (link.is_open) {
    pass(id, link, std::string(message));
  } else if (link.waiting.size() < most_waiting) {
    link.waiting.emplace_back(message);
  } else {
    home_.send_to_member(id, "error: too many commands wait for the cache");
  }
  return true;
}

void cache_links::leave(std::uint64_t id) {
  const auto gone = links_.extract(id);
  if (gone) gone.mapped()->connection->close();
}

std::shared_ptr<cache_links::link> cache_links::open(std::uint64_t id) {
  auto* const others = home_.state().others;
  scripting::script_wishes how{.url = *net::parse_connecting("runtime://" + home_.options().cache),
                               .framing = proto::framing{},
                               .timeout = longest_connecting,
                               .max_message = home_.options().max_message};
  auto made = std::make_shared<link>();
  made->connection = std::make_shared<scripting::script_connection>(
      home_.loop(), others == nullptr ? nullptr : &others->names(), std::move(how));
  serving_.spawn(serve(id, made));
  return made;
}

void cache_links::pass(std::uint64_t id, link& link, const std::string& command) {
  if (link.connection->push(as_bytes(command))) return;
  home_.send_to_member(id, "error: too many commands wait for the cache");
}

loop::task<> cache_links::serve(std::uint64_t id, std::shared_ptr<link> link) {
  const auto opened = co_await link->connection->open();
  if (opened) {
    link->is_open = true;
    for (auto& each : std::exchange(link->waiting, {})) pass(id, *link, each);
  }
  while (opened) {
    const auto line = co_await link->connection->next();
    const auto known = links_.find(id);
    if (known == links_.end() || known->second != link) break;
    if (!line) break;
    home_.send_to_member(id, *line);
  }
  const auto known = links_.find(id);
  const bool is_there = known != links_.end() && known->second == link;
  if (is_there) {
    const auto why = opened ? "the cache has closed the connection" : describe(opened.error());
    if (!opened || !link->waiting.empty()) home_.send_to_member(id, fmt::format("error: {}", why));
    links_.erase(known);
  }
  link->connection->close();
}

}  // namespace strata::runtime::server
