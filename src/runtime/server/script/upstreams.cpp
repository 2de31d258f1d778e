#include "runtime/server/script/upstreams.hpp"

#include <fmt/format.h>

#include <utility>

#include "net/backoff.hpp"
#include "runtime/runtime_service.hpp"
#include "runtime/scripting/script_connection.hpp"
#include "runtime/scripting/sequence.hpp"

namespace strata::runtime::server {

using scripting::callback;
using scripting::script_connection;

namespace {

constexpr auto longest_upstream_connecting = std::chrono::seconds(5);
constexpr double shortest_upstream_pause_s = 0.1;
constexpr double longest_upstream_pause_s = 10;

}  // namespace

struct upstreams::link final : scripting::sequence::owner {
  link(upstreams& upstreams, std::uint64_t id, net::endpoint_url target)
      : number(id), url(std::move(target)), turns(upstreams.host_, id, *this), home_(upstreams) {}

  void notify(callback callback) {
    if (home_.host_.has(callback)) turns.notify_soon(callback);
  }

  std::uint64_t number;
  net::endpoint_url url;
  std::shared_ptr<script_connection> to;  ///< null: not connected
  net::backoff pauses;
  scripting::sequence turns;

 private:
  void on_ended(callback /*which*/, const script::finished& /*with*/) override {}
  void on_settled() override { home_.settled_.notify(); }

  upstreams& home_;
};

upstreams::upstreams(scripting::host& host, const means& means)
    : host_(host), how_(means), settled_(host.on()) {}

upstreams::~upstreams() { end(); }

void upstreams::begin(std::vector<net::endpoint_url> urls) {
  for (auto& each : urls) {
    links_.push_back(std::make_unique<link>(*this, links_.size() + 1, std::move(each)));
  }
  for (const auto& each : links_) tasks_.spawn(follow(*each));
}

void upstreams::end() {
  tasks_.cancel();
  for (const auto& each : links_) {
    if (each->to) each->to->close();
  }
  links_.clear();
}

loop::task<> upstreams::follow(link& one) {
  std::string trouble;
  for (;;) {
    auto conversing = converse(one);
    const auto done = co_await conversing;
    const auto why = done ? std::string() : describe(done.error());
    // Each reason is logged once, until a connection has succeeded.
    if (!done && why != trouble) {
      host_.log(level::warning, fmt::format("upstream {}: {}; trying again", one.number, why));
    }
    trouble = why;
    co_await host_.on().sleep(one.pauses.next(shortest_upstream_pause_s, longest_upstream_pause_s));
  }
}

// Errors: the connection could not be made.
loop::task<result<void>> upstreams::converse(link& one) {
  scripting::script_wishes how{.url = one.url,
                               .framing = how_.framing,
                               .timeout = longest_upstream_connecting,
                               .max_message = how_.max_message};
  auto* const others = host_.who().others;
  const auto made = std::make_shared<script_connection>(
      host_.on(), others == nullptr ? nullptr : &others->names(), std::move(how));
  const auto opened = co_await made->open();
  if (!opened) co_return std::unexpected(opened.error());
  one.to = made;
  one.pauses.succeeded();
  one.notify(callback::upstream_connect);
  for (;;) {
    const auto said = co_await made->next();
    if (!said) break;
    if (!host_.has(callback::upstream)) continue;
    one.turns.notify(callback::upstream, *said);
    // Later messages are queued in the connection, which holds back its peer.
    if (one.turns.has_much()) co_await settled_.wait([&one] { return !one.turns.is_busy(); });
  }
  one.to = nullptr;
  host_.log(level::info, fmt::format("upstream {}: {} has ended", one.number, one.url.text()));
  one.notify(callback::upstream_disconnect);
  co_return result<void>{};
}

std::vector<std::uint64_t> upstreams::connected() const {
  std::vector<std::uint64_t> all;
  for (const auto& each : links_) {
    if (each->to) all.push_back(each->number);
  }
  return all;
}

result<void> upstreams::send(std::uint64_t id, std::string_view message) {
  const auto operation = fmt::format("send to upstream {}", id);
  if (id == 0 || id > links_.size()) {
    return failure(errc::not_found, operation, fmt::format("there are {}", links_.size()));
  }
  const auto& to = links_[id - 1]->to;
  if (!to) return failure(errc::connection_closed, operation, "it is not connected");
  return to->push(as_bytes(message));
}

}  // namespace strata::runtime::server
