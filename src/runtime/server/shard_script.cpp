#include "runtime/server/shard_script.hpp"

#include <algorithm>

#include "loop/within.hpp"
#include "runtime/server/script_client.hpp"
#include "runtime/server/shard.hpp"

namespace strata::runtime::server {

using scripting::callback;

namespace {

// Of one client, behind a function that waits. Its stream is not read meanwhile; only what one read
// brought, and datagrams, can pile up.
constexpr std::size_t most_behind = 10000;
// Whoever sends waits for it, and a stop behind that one.
constexpr auto longest_answer = std::chrono::seconds(2);

}  // namespace

shard_script::shard_script(shard& home, const server_options& how, scripting::identity who)
    : home_(home), host_(home.loop(), how, std::move(who)), settled_(home.loop()) {
  host_.offer(script_functions(), this);
}

shard_script::~shard_script() = default;

loop::task<> shard_script::end(loop::time_point limit) {
  co_await host_.end(limit);
  clients_.clear();
  groups_.clear();
}

shard_script::client* shard_script::find(std::uint64_t id) const {
  const auto found = clients_.find(id);
  return found == clients_.end() ? nullptr : found->second.get();
}

bool shard_script::is_there(std::uint64_t id) const {
  const auto* const one = find(id);
  return one != nullptr && one->is != nullptr;
}

// The member is being made: what the script says to it would come too early.
void shard_script::enter(member& arrived) {
  auto made = std::make_unique<client>(*this, arrived.id(), &arrived);
  if (host_.has(callback::auth)) {
    arrived.is_admitted = false;
    made->turns.push_back({callback::auth, {}});
  }
  if (host_.has(callback::connect)) made->turns.push_back({callback::connect, {}});
  if (!made->turns.empty()) {
    to_advance_.push_back(made->id);
    home_.loop().at_turn_end(*this);
  }
  clients_.emplace(made->id, std::move(made));
}

void shard_script::leave(member& gone) {
  auto* const one = find(gone.id());
  if (one == nullptr) return;
  one->is = nullptr;
  if (host_.has(callback::disconnect)) one->turns.push_back({callback::disconnect, {}});
  to_advance_.push_back(one->id);
  home_.loop().at_turn_end(*this);
}

void shard_script::on_turn_end() {
  for (const auto id : std::exchange(to_advance_, {})) {
    if (auto* const one = find(id)) advance(*one);
  }
  home_.publish();
}

bool shard_script::on_message(member& from, const message& said) {
  const bool by_both = host_.has(callback::client_message);
  if (!by_both && !host_.has(callback::message)) return false;
  home_.keep(from, said);
  auto* const one = find(from.id());
  if (one == nullptr) {  // it came by POST, and hears nothing
    const auto id = static_cast<double>(from.id());
    const script::argument first[] = {id, as_text(said.bytes)};
    if (by_both) host_.start(callback::client_message, first);
    const script::argument second[] = {as_text(said.bytes), id};
    if (host_.has(callback::message)) host_.start(callback::message, second);
    return true;
  }
  const auto take = [&](callback which) {
    if (!host_.has(which)) return;
    if (!one->is_started && one->turns.empty()) {
      start(*one, which, as_text(said.bytes));
    } else if (one->turns.size() < most_behind) {
      one->turns.push_back({which, std::string(as_text(said.bytes))});
    } else {
      home_.count().drop_message(drop::script);
    }
  };
  take(callback::client_message);
  take(callback::message);
  return true;
}

bool shard_script::is_busy(std::uint64_t id) const {
  const auto* const one = find(id);
  return one != nullptr && (one->is_started || !one->turns.empty());
}

loop::task<> shard_script::idle(std::uint64_t id) {
  [[maybe_unused]] const bool is = co_await settled_.wait([this, id] { return !is_busy(id); });
}

void shard_script::start(client& one, callback which, std::string_view message) {
  one.running = which;
  one.is_started = true;
  const auto id = static_cast<double>(one.id);
  if (which == callback::message) {
    const script::argument with[] = {message, id};
    host_.start(which, with, &one.tell);
  } else {
    const script::argument with[] = {id, message};
    host_.start(which, std::span(with).first(which == callback::client_message ? 2 : 1), &one.tell);
  }
}

// In a loop: functions that do not wait end within `start`.
void shard_script::advance(client& one) {
  if (one.is_advancing) return;
  one.is_advancing = true;
  while (!one.is_started && !one.turns.empty()) {
    const auto next = std::move(one.turns.front());
    one.turns.pop_front();
    start(one, next.which, next.message);
  }
  one.is_advancing = false;
  if (one.is_started) return;
  settled_.notify();
  if (one.is == nullptr) drop(one);
}

void shard_script::on_ended(client& one, callback which, const script::finished& with) {
  one.is_started = false;
  if (which == callback::auth && one.is != nullptr) {
    one.is->is_admitted = !with.has_failed() && !with.is_false() && !with.is_nothing();
    if (!one.is->is_admitted) {
      one.turns.clear();
      one.is->dismiss();
    }
  }
  if (one.is_advancing || one.turns.empty()) {
    if (!one.is_advancing) settled_.notify();
    return;
  }
  // Not from within the function that has ended.
  to_advance_.push_back(one.id);
  home_.loop().at_turn_end(*this);
}

void shard_script::drop(client& one) {
  for (auto each = groups_.begin(); each != groups_.end();) {
    each->second.erase(one.id);
    each = each->second.empty() ? groups_.erase(each) : std::next(each);
  }
  clients_.erase(one.id);
}

// Messages are gathered until the turn's end, or the end of what a client has said.
void shard_script::send(std::uint64_t to, std::string_view message) {
  home_.loop().at_turn_end(*this);
  auto* const one = find(to);
  if (one == nullptr) {
    home_.tell_member(to, std::string(message));
  } else if (one->is == nullptr || !one->is->is_admitted) {
    home_.count().drop_message(drop::mode);
  } else {
    home_.tell(*one->is, {as_bytes(message)});
  }
}

void shard_script::send_to_group(const std::string& group, const std::string& message,
                                 std::uint64_t except) {
  const auto found = groups_.find(group);
  if (found == groups_.end()) return;
  for (const auto id : found->second) {
    if (id != except) send(id, message);
  }
}

std::vector<std::uint64_t> shard_script::clients() const {
  std::vector<std::uint64_t> ids;
  for (const auto& [id, one] : clients_) {
    if (one->is != nullptr && one->is->is_admitted) ids.push_back(id);
  }
  std::ranges::sort(ids);
  return ids;
}

void shard_script::disconnect_here(std::uint64_t id) {
  if (auto* const one = find(id); one != nullptr && one->is != nullptr) one->is->dismiss();
}

loop::task<std::optional<std::string>> shard_script::on_send(std::string message) {
  if (!host_.has(callback::send)) co_return message;
  const auto read = [&message](const script::finished& by) -> std::optional<std::string> {
    if (by.is_false()) return std::nullopt;
    return by.is_text() ? std::string(by.text()) : message;
  };
  std::vector<script::argument> with{std::string_view(message)};
  auto asked = host_.ask(callback::send, std::move(with), read);
  auto given =
      co_await loop::within(home_.loop(), std::move(asked), home_.loop().now() + longest_answer);
  if (given) co_return std::move(*given);
  host_.log(level::error, "on_send has not answered within 2 s: the message is dropped");
  co_return std::nullopt;
}

}  // namespace strata::runtime::server
