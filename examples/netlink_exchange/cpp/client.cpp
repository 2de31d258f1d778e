// The exchange with strata_echo by strata's own library: by typed commands, which
// `strata nl generate` makes of kernel/strata_echo.yaml and kernel/ynl/nlctrl.yaml.
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "nlctrl.hpp"
#include "strata_echo.hpp"

namespace {

using namespace strata;

enum ending : int { ended_wrong = 1, misused = 2, no_family = 3 };

struct wanted {
  std::string_view verb;
  std::string_view family = strata_echo::family_name;
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
  if (outcome) return std::move(outcome).value();
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
  if (made.controller) made.family = nlctrl::family_name;
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

void exchange(strata_echo::client& client) {
  const auto reply = need(client.echo_msg().msg("hello").ask());
  if (reply.msg() != "hello") fail(ended_wrong, "another text came back");
}

/// With the controller, which needs no module.
void exchange(nlctrl::client& client) {
  const auto reply = need(client.getfamily().family_name("nlctrl").ask());
  if (reply.family_id() != client.family_id()) fail(ended_wrong, "it has another id now");
}

void dump(strata_echo::client& client) {
  auto request = client.dump_echo_msg();
  std::puts("sent ECHO_MSG (dump)");
  need(request.for_each([](const strata_echo::echo_msg_reply& each) {
    if (!each.index() || !each.msg()) {
      fail(ended_wrong, "a message of the dump is not what it should be");
    }
    std::printf("received ECHO_MSG %u \"%s\"\n", *each.index(), std::string(*each.msg()).c_str());
  }));
  std::puts("received NLMSG_DONE");
}

void be_refused(strata_echo::client& client) {
  auto request = client.reply_with_nlmsg_err().msg("hello");
  std::puts("sent REPLY_WITH_NLMSG_ERR \"hello\"");
  const auto refused = request.ask();
  if (refused || refused.error().sys_errno != EINVAL) fail(ended_wrong, "it was not refused");
  std::printf("received NLMSG_ERROR -%d \"%s\" at offset %zu\n", refused.error().sys_errno,
              refused.error().reason.c_str(), refused.error().offset.value_or(0));
}

void hear_event(strata_echo::client& client, std::uint32_t group) {
  auto listener = need(nl::generic::open());
  need(listener.over().join(group));
  auto request = client.notify().msg("hello");
  std::puts("sent NOTIFY \"hello\"");
  need(request.ask());
  std::puts("received ACK");
  constexpr int patience_ms = 5000;
  for (;;) {
    const auto message = need(listener.over().try_event());
    if (!message) {
      pollfd ready{listener.over().fd(), POLLIN, 0};
      if (::poll(&ready, 1, patience_ms) == 0) fail(ended_wrong, "no EVENT came in 5 s");
      continue;
    }
    const auto event = strata_echo::event_notification::parse(*message);
    // Others' events, and those that nobody asked for, come too.
    if (!event || event->msg() != "hello") continue;
    std::printf("received EVENT %u \"hello\"\n", event->sequence().value_or(0));
    return;
  }
}

void demonstrate(const wanted& what) {
  auto client = need(strata_echo::client::open({}, what.family));
  const auto family = need(client.on().family(what.family));
  const auto* const group = family.find_group(strata_echo::groups::events);
  if (group == nullptr) fail(ended_wrong, "the family has no group 'events'; is it another one?");
  std::printf("resolved %s: family %u, group \"events\" %u\n", family.name.c_str(), family.id,
              group->id);
  std::puts("sent ECHO_MSG \"hello\"");
  exchange(client);
  std::puts("received ECHO_MSG \"hello\"");
  dump(client);
  be_refused(client);
  hear_event(client, group->id);
}

/// As the other clients: nothing that the exchange does not need.
template <class Client>
Client open(const wanted& what) {
  return need(Client::open({.extended_acks = false}, what.family));
}

template <class Work>
std::uint64_t time(Work work) {
  using clock = std::chrono::steady_clock;
  const auto begins = clock::now();
  work();
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(clock::now() - begins).count());
}

template <class Client>
void measure(const wanted& what) {
  std::vector<std::uint64_t> whole(what.times);
  std::vector<std::uint64_t> alone(what.times);
  auto client = open<Client>(what);
  // The two in turns.
  for (std::size_t i = 0; i < what.times; ++i) {
    whole[i] = time([&] {
      auto fresh = open<Client>(what);
      exchange(fresh);
    });
    alone[i] = time([&] { exchange(client); });
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

template <class Client>
void run(const wanted& what) {
  if (what.verb == "time") return measure<Client>(what);
  auto client = open<Client>(what);
  exchange(client);
}

}  // namespace

int main(int count, char** words) {
  const auto what = parse({words + 1, words + count});
  if (what.verb == "demo") {
    demonstrate(what);
  } else if (what.controller) {
    run<nlctrl::client>(what);
  } else {
    run<strata_echo::client>(what);
  }
  return 0;
}
