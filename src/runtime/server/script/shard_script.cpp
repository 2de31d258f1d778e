#include "runtime/server/script/shard_script.hpp"

#include <algorithm>

#include "runtime/server/policy.hpp"
#include "runtime/server/shard.hpp"

namespace strata::runtime::server {

using scripting::callback;

shard_script::shard_script(shard& shard, const server_options& options,
                           scripting::identity identity)
    : home_(shard),
      host_(shard.loop(), options, std::move(identity)),
      upstreams_(host_, {shard.framing(), options.max_message}),
      settled_(shard.loop()),
      routes_(shard, *this),
      answers_(shard, host_, settled_),
      functions_(shard, *this) {
  host_.offer(script_functions(), &functions_);
}

shard_script::~shard_script() = default;

result<void> shard_script::begin() {
  if (auto begun = host_.begin(); !begun) return begun;
  if (home_.number() != 0) return {};
  auto urls = home_.options().upstreams();
  if (!urls) return std::unexpected(urls.error());
  upstreams_.begin(std::move(*urls));
  return {};
}

loop::task<> shard_script::end(loop::time_point limit) {
  co_await host_.end(limit);
  upstreams_.end();
  leaving_.cancel();
  routes_.end();
  found_ = speaks_ = nullptr;
  clients_.clear();
  groups_.clear();
}

script_client* shard_script::find(std::uint64_t id) const {
  if (found_ != nullptr && found_->id == id) return found_;
  const auto found = clients_.find(id);
  if (found == clients_.end()) return nullptr;
  return found_ = found->second.get();
}

// The member is under construction: messages from the script would come too early.
void shard_script::enter(member& arrived) {
  // A new member receives nothing yet, even before its protocol is known.
  arrived.is_admitted = !lets_in();
  if (arrived.is_passing()) return;
  auto made = std::make_unique<script_client>(*this, arrived);
  if (lets_in()) made->turns.notify_soon(callback::auth);
  if (host_.has(callback::connect)) made->turns.notify_soon(callback::connect);
  clients_.emplace(made->id, std::move(made));
}

void shard_script::leave(member& gone) {
  auto* const one = find(gone.id());
  if (one == nullptr) return;
  one->is = nullptr;
  routes_.leave(*one);
  if (host_.has(callback::disconnect) && !one->is_refused) {
    one->turns.notify_soon(callback::disconnect);
  }
  one->turns.settle();
}

void shard_script::on_turn_end() { home_.publish(); }

bool shard_script::on_message(member& member, const message& message) {
  auto* const one = find(member.id());
  if (one != nullptr && client_routes::is_routed(*one)) {
    home_.keep(member, message);
    return routes_.carry(*one, as_text(message.bytes));
  }
  if (!host_.has(callback::client_message) && !host_.has(callback::message)) {
    // The server's mode decides, for members that have been admitted.
    if (!member.is_admitted) home_.count().drop_message(drop::script);
    return !member.is_admitted || withhold(member, message);
  }
  home_.keep(member, message);
  if (one == nullptr) {  // it came by POST, and receives nothing
    for (const auto which : {callback::client_message, callback::message}) {
      if (host_.has(which)) host_.start_for(which, member.id(), as_text(message.bytes));
    }
    return true;
  }
  if (one->is_refused || one->is_leaving) return true;
  if (speaks_ != one) catch_up();
  speaks_ = one;
  for (const auto which : {callback::client_message, callback::message}) {
    if (host_.has(which) && !one->turns.notify(which, as_text(message.bytes))) {
      home_.count().drop_message(drop::script);
    }
  }
  if (one->turns.has_much()) catch_up();
  return true;
}

void shard_script::catch_up() {
  if (auto* const one = std::exchange(speaks_, nullptr); one != nullptr) one->turns.catch_up();
}

bool shard_script::is_busy(std::uint64_t id) const {
  const auto* const one = find(id);
  return one != nullptr && (one->turns.is_busy() || client_routes::is_held_up(*one));
}

loop::task<> shard_script::idle(std::uint64_t id) {
  [[maybe_unused]] const bool is = co_await settled_.wait([this, id] { return !is_busy(id); });
}

void shard_script::on_ended(script_client& client, callback callback,
                            const script::finished& outcome) {
  if (client.is == nullptr) return;
  const bool is_granted = !outcome.has_failed() && !outcome.is_false() && !outcome.is_nothing();
  if (callback == callback::auth) on_admission(client, is_granted);
  if (callback != callback::master_auth) return;
  client.is_claiming = false;
  settle_claim(home_, *client.is, is_granted);
  while (client.is != nullptr && !client.is_claiming && !client.withheld.empty()) {
    const auto next = std::move(client.withheld.front());
    client.withheld.pop_front();
    home_.follow_mode(*client.is, {as_bytes(next.second), next.first});
  }
  home_.publish();
}

void shard_script::on_admission(script_client& client, bool is_admitted) {
  client.is->is_admitted = is_admitted;
  if (is_admitted) return;
  home_.refuse(client.is->address(), refusal::script, "on_auth refused the client");
  client.is_refused = true;
  client.turns.clear();
  client.is->dismiss(parting::refused);
}

// A member that the script does not know came by POST, and receives nothing.
void shard_script::ask_master(member& member, std::string_view password) {
  auto* const one = find(member.id());
  if (one != nullptr) one->is_claiming = true;
  if (one != nullptr && one->turns.notify(callback::master_auth, password)) return;
  if (one != nullptr) one->is_claiming = false;
  home_.count().drop_message(drop::script);
}

bool shard_script::withhold(member& member, const message& message) {
  auto* const one = decides_master() ? find(member.id()) : nullptr;
  if (one == nullptr || !one->is_claiming) return false;
  if (one->withheld.size() < scripting::sequence::most_behind) {
    one->withheld.emplace_back(message.kind, as_text(message.bytes));
  } else {
    home_.count().drop_message(drop::script);
  }
  return true;
}

void shard_script::on_settled(const script_client& client) {
  settled_.notify();
  if (client.is != nullptr) return;
  groups_.leave_all(client.id);
  answers_.forget(client.id);
  if (found_ == &client) found_ = nullptr;
  if (speaks_ == &client) speaks_ = nullptr;
  clients_.erase(client.id);
}

// Messages are gathered until the turn's end, or the end of one client's input.
bool shard_script::send(std::uint64_t id, std::string_view message) {
  home_.loop().at_turn_end(*this);
  auto* const one = find(id);
  if (one == nullptr) {
    home_.send_to_member(id, std::string(message));
    const auto* const home = home_.state().home_of(id);
    return home != nullptr && home->who != &home_;
  }
  if (one->is == nullptr || !one->is->is_admitted) {
    home_.count().drop_message(drop::mode);
  } else {
    home_.deliveries().send(*one->is, {as_bytes(message)});
  }
  return one->is != nullptr;
}

void shard_script::broadcast(std::string_view message, std::uint64_t except) {
  home_.loop().at_turn_end(*this);
  home_.deliveries().relay({as_bytes(message)}, except);
}

void shard_script::send_to_group(const std::string& group, const std::string& message,
                                 std::uint64_t except) {
  const auto* const members = groups_.members(group);
  if (members == nullptr) return;
  for (const auto id : *members) {
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

void shard_script::disconnect(std::uint64_t id) {
  auto* const one = find(id);
  if (one == nullptr || one->is == nullptr || std::exchange(one->is_leaving, true)) return;
  home_.publish();
  leaving_.spawn(see_off(id));
}

// Disconnects the client once earlier messages have reached it, or a second has passed.
loop::task<> shard_script::see_off(std::uint64_t id) {
  constexpr auto timeout = std::chrono::seconds(1);
  co_await find(id)->is->delivered(home_.loop().now() + timeout);
  if (auto* const one = find(id); one != nullptr && one->is != nullptr)
    one->is->dismiss(parting::asked_for);
}

loop::task<bool> shard_script::answered(loop::time_point limit) {
  const auto is_idle = [this] {
    return answers_.is_idle() &&
           std::ranges::none_of(clients_, [this](const auto& each) { return is_busy(each.first); });
  };
  co_return co_await settled_.wait(is_idle, limit);
}

loop::task<std::optional<std::string>> shard_script::on_send(std::string message) {
  auto changed = host_.change_sent(std::move(message));
  co_return co_await changed;
}

}  // namespace strata::runtime::server
