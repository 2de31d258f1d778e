// The exchange with strata_echo by strata's own library. What the family says is in
// kernel/uapi/strata_echo.h.
#include <poll.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "../../kernel/uapi/strata_echo.h"
#include "strata/nl/generic.hpp"

namespace {

using namespace strata;

enum ending : int { ended_wrong = 1, misused = 2, no_family = 3 };

struct wanted {
  std::string_view verb;
  std::string_view family = STRATA_ECHO_FAMILY_NAME;
  bool controller = false;
  std::size_t times = 0;
};

/// Says what is wrong and what to do, and ends the program: the kernel closes sockets.
[[noreturn]] void fail(int code, const std::string& why) {
  std::fflush(stdout);
  std::fprintf(stderr, "client: %s\n", why.c_str());
  std::exit(code);
}

template <class Value>
Value need(result<Value> outcome) {
  if (outcome) return std::move(*outcome);
  fail(outcome.error().code == errc::not_found ? no_family : ended_wrong,
       describe(outcome.error()));
}

wanted parse(const std::vector<std::string_view>& words) {
  wanted made;
  std::size_t at = 0;
  const auto next = [&] { return at < words.size() ? words[at++] : std::string_view(); };
  made.verb = next();
  if (made.verb == "--family") made.family = next();
  made.controller = made.verb == "--controller";
  if (made.controller) made.family = "nlctrl";
  if (made.verb.starts_with("--")) made.verb = next();
  if (made.verb == "time") {
    const auto text = next();
    std::from_chars(text.data(), text.data() + text.size(), made.times);
  }
  const bool fits = made.verb == "once" || (made.verb == "demo" && !made.controller) ||
                    (made.verb == "time" && made.times >= 1 && made.times <= 1000000);
  if (!fits || at < words.size()) {
    fail(misused, "usage: client [--family NAME | --controller] demo | once | time N");
  }
  return made;
}

/// Requests to one family.
class echo_client {
 public:
  explicit echo_client(std::string_view name, bool extended_acks)
      : on_(need(nl::generic::open({.extended_acks = extended_acks}))),
        id_(need(on_.resolve(name))),
        name_(name) {}

  wire::netlink_writer request(std::uint8_t command, std::uint16_t flags = 0) {
    auto made = on_.over().request();
    wire::begin_genl(made, id_, wire::netlink_flag::request | flags, command,
                     STRATA_ECHO_FAMILY_VERSION);
    return made;
  }
  void echo(std::string_view text) {
    auto asked = request(STRATA_ECHO_CMD_ECHO_MSG);
    asked.put_text(STRATA_ECHO_A_MSG, text);
    const auto reply = need(on_.over().ask(asked, "echo"));
    const auto message = wire::genl_message::parse(reply);
    const auto heard = message ? message->attributes.find(STRATA_ECHO_A_MSG) : std::nullopt;
    if (!heard || heard->text() != text) fail(ended_wrong, "another text came back");
  }
  /// An exchange with the controller, which needs no module.
  void resolve_again() {
    if (need(on_.resolve(name_)) != id_) fail(ended_wrong, "the family has another id now");
  }
  nl::connection& over() { return on_.over(); }
  nl::generic& on() { return on_; }

 private:
  nl::generic on_;
  std::uint16_t id_;
  std::string_view name_;
};

void dump(echo_client& client) {
  auto asked = client.request(STRATA_ECHO_CMD_ECHO_MSG, wire::netlink_flag::dump);
  std::puts("sent ECHO_MSG (dump)");
  const auto show = [](const wire::netlink_message& each) {
    const auto message = wire::genl_message::parse(each);
    const auto index = message ? message->attributes.find(STRATA_ECHO_A_INDEX) : std::nullopt;
    const auto text = message ? message->attributes.find(STRATA_ECHO_A_MSG) : std::nullopt;
    if (!index || !text) fail(ended_wrong, "a message of the dump is not what it should be");
    std::printf("received ECHO_MSG %u \"%s\"\n", index->number<std::uint32_t>().value_or(0),
                std::string(text->text()).c_str());
  };
  if (auto done = client.over().dump(asked, "dump", show); !done) {
    fail(ended_wrong, describe(done.error()));
  }
  std::puts("received NLMSG_DONE");
}

void be_refused(echo_client& client) {
  auto asked = client.request(STRATA_ECHO_CMD_REPLY_WITH_NLMSG_ERR);
  asked.put_text(STRATA_ECHO_A_MSG, "hello");
  std::puts("sent REPLY_WITH_NLMSG_ERR \"hello\"");
  const auto refused = client.over().ask(asked, "be refused");
  if (refused || refused.error().sys_errno != EINVAL) fail(ended_wrong, "it was not refused");
  std::printf("received NLMSG_ERROR -%d \"%s\" at offset %zu\n", refused.error().sys_errno,
              refused.error().reason.c_str(), refused.error().offset.value_or(0));
}

void hear_event(echo_client& client, std::uint32_t group) {
  auto listener = need(nl::generic::open());
  if (auto joined = listener.over().join(group); !joined) {
    fail(ended_wrong, describe(joined.error()));
  }
  auto asked = client.request(STRATA_ECHO_CMD_NOTIFY, wire::netlink_flag::ack);
  asked.put_text(STRATA_ECHO_A_MSG, "hello");
  std::puts("sent NOTIFY \"hello\"");
  need(client.over().ask(asked, "notify"));
  std::puts("received ACK");
  constexpr int patience_ms = 5000;
  for (;;) {
    const auto event = need(listener.over().try_event());
    if (!event) {
      pollfd ready{listener.over().fd(), POLLIN, 0};
      if (::poll(&ready, 1, patience_ms) == 0) fail(ended_wrong, "no EVENT came in 5 s");
      continue;
    }
    const auto message = wire::genl_message::parse(*event);
    const auto text = message ? message->attributes.find(STRATA_ECHO_A_MSG) : std::nullopt;
    // Others' events, and those that nobody asked for, come too.
    if (!text || text->text() != "hello") continue;
    const auto number = message->attributes.find(STRATA_ECHO_A_SEQUENCE);
    std::printf("received EVENT %u \"hello\"\n",
                number ? number->number<std::uint32_t>().value_or(0) : 0);
    return;
  }
}

void demonstrate(const wanted& what) {
  echo_client client(what.family, true);
  const auto family = need(client.on().family(what.family));
  const auto* const group = family.find_group(STRATA_ECHO_GROUP_EVENTS);
  if (group == nullptr) fail(ended_wrong, "the family has no group 'events'; is it another one?");
  std::printf("resolved %s: family %u, group \"events\" %u\n", family.name.c_str(), family.id,
              group->id);
  std::puts("sent ECHO_MSG \"hello\"");
  client.echo("hello");
  std::puts("received ECHO_MSG \"hello\"");
  dump(client);
  be_refused(client);
  hear_event(client, group->id);
}

void exchange(echo_client& client, const wanted& what) {
  if (what.controller) {
    client.resolve_again();
  } else {
    client.echo("hello");
  }
}

template <class Work>
std::uint64_t time(Work work) {
  using clock = std::chrono::steady_clock;
  const auto begins = clock::now();
  work();
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(clock::now() - begins).count());
}

void measure(const wanted& what) {
  // As the other clients: nothing that the exchange does not need, and the two in turns.
  std::vector<std::uint64_t> whole(what.times);
  std::vector<std::uint64_t> alone(what.times);
  echo_client open(what.family, false);
  for (std::size_t i = 0; i < what.times; ++i) {
    whole[i] = time([&] {
      echo_client client(what.family, false);
      exchange(client, what);
    });
    alone[i] = time([&] { exchange(open, what); });
  }
  std::ranges::sort(whole);
  std::ranges::sort(alone);
  const auto at = [](const auto& all, std::size_t percent) {
    return static_cast<unsigned long long>(all[(all.size() * percent + 99) / 100 - 1]);
  };
  std::printf(
      "{\"whole_ns\":{\"median\":%llu,\"p99\":%llu},"
      "\"exchange_ns\":{\"median\":%llu,\"p99\":%llu}}\n",
      at(whole, 50), at(whole, 99), at(alone, 50), at(alone, 99));
}

}  // namespace

int main(int count, char** words) {
  const auto what = parse({words + 1, words + count});
  if (what.verb == "demo") {
    demonstrate(what);
  } else if (what.verb == "time") {
    measure(what);
  } else {
    echo_client client(what.family, false);
    exchange(client, what);
  }
  return 0;
}
