#include "runtime/scripting/channels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "proto/resp/resp_request.hpp"
#include "runtime/runtime_service.hpp"

namespace strata::runtime::scripting {

using nlohmann::json;
using proto::resp_value;
using script::answers;
using script::call;

namespace {

constexpr double shortest_pause_s = 0.1;
constexpr double longest_pause_s = 5;

std::string_view text_at(const resp_value& value, std::size_t index) {
  return index < value.elements.size() ? value.elements[index].text : std::string_view();
}

}  // namespace

channel_subscription::channel_subscription(host& host, script::machine& machine,
                                           script::value_ref call, channel_wishes wishes)
    : subscription(machine, std::move(call)),
      host_(host),
      what_(std::move(wishes)),
      changed_(host.on()) {}

loop::task<std::string> channel_subscription::tried() {
  [[maybe_unused]] const bool has = co_await changed_.wait([this] { return has_tried_; });
  co_return has ? trouble_ : "it was closed";
}

loop::task<> channel_subscription::follow() {
  for (;;) {
    auto receiving = receive();
    const auto why = describe(co_await receiving);
    // Each reason is logged once, until a connection has succeeded.
    if (trouble_ != why) {
      host_.log_few("subscribe", level::warning,
                    fmt::format("cannot subscribe to {}: {}; retrying",
                                fmt::join(what_.channels, ", "), why));
    }
    trouble_ = why;
    has_tried_ = true;
    changed_.notify();
    co_await host_.on().sleep(pauses_.next(shortest_pause_s, longest_pause_s));
  }
}

// Receives until the connection breaks.
loop::task<error> channel_subscription::receive() {
  auto* const others = host_.who().others;
  redis::connection connection(host_.on(), what_.server.server, script_reply_limits);
  auto opening =
      open_connection(connection, what_.server, others == nullptr ? nullptr : &others->names());
  const auto opened = co_await opening;
  if (!opened) co_return opened.error();
  std::vector<std::string_view> words{what_.are_patterns ? "PSUBSCRIBE" : "SUBSCRIBE"};
  words.insert(words.end(), what_.channels.begin(), what_.channels.end());
  std::string request;
  proto::append_command(request, words);
  connection.push(request);
  unconfirmed_ = what_.channels.size();
  for (;;) {
    auto said = co_await connection.receive();
    if (!said) co_return said.error();
    if (auto taken = take(std::move(*said)); !taken) co_return taken.error();
    co_await room();
  }
}

// RESP3 sends messages as pushes, RESP2 as arrays.
result<void> channel_subscription::take(resp_value value) {
  const auto what = text_at(value, 0);
  if (value.what == resp_value::kind::error) {
    return failure(errc::permission_denied, "subscribe", value.text,
                   "check what the user may do there");
  }
  if (what == "subscribe" || what == "psubscribe") {
    if (unconfirmed_ == 0) return {};
    --unconfirmed_;
    if (unconfirmed_ != 0) return {};
    pauses_.succeeded();
    trouble_.clear();
    has_tried_ = true;
    changed_.notify();
  } else if (what == "message" && value.elements.size() == 3) {
    notify({std::move(value.elements[1].text), std::move(value.elements[2].text)});
  } else if (what == "pmessage" && value.elements.size() == 4) {
    notify({std::move(value.elements[2].text), std::move(value.elements[3].text),
            std::move(value.elements[1].text)});
  }
  return {};
}

namespace {

// Reads one text, or a list of texts.
bool read_channels(call& call, int index, std::vector<std::string>& texts) {
  if (call.is_text(index)) {
    texts.emplace_back(call.text(index));
    return true;
  }
  json listed;
  if (!call.structure(index, listed)) return false;
  if (listed.is_array()) {
    for (const auto& each : listed) {
      if (each.is_string()) texts.push_back(each.get<std::string>());
    }
  }
  if (!texts.empty() && texts.size() == listed.size()) return true;
  call.fail("the channels are neither a text nor a list of texts");
  return false;
}

loop::task<answers> begun(std::shared_ptr<channel_subscription> one) {
  one->begin();
  auto trying = one->tried();
  auto trouble = co_await trying;
  if (trouble.empty()) co_return std::vector<json>{};
  co_return std::vector<json>{std::move(trouble)};
}

}  // namespace

loop::task<answers> subscribe(host& host, call& call, bool are_patterns) {
  channel_wishes what{.are_patterns = are_patterns};
  auto server = read_redis_settings(host.rights(), call, 0, 3);
  if (!server || !read_channels(call, 1, what.channels)) return {};
  what.server = std::move(*server);
  auto made =
      std::make_shared<channel_subscription>(host, call.by(), call.function(2), std::move(what));
  if (!call.give(subscription_kind(), made)) return {};
  made->stay(call.keep_given());
  return begun(std::move(made));
}

}  // namespace strata::runtime::scripting
