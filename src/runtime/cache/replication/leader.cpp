#include "runtime/cache/replication/leader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "runtime/cache/disk/rdb_file.hpp"
#include "runtime/cache/disk/snapshot.hpp"
#include "text/random_id.hpp"
#include "text/word.hpp"

namespace strata::runtime::cache {

using namespace std::chrono_literals;

namespace {

constexpr auto step_budget = 500us;
// A snapshot pauses while more of it than this waits for the network.
constexpr std::size_t most_on_the_way = 4U << 20U;
constexpr std::size_t longest_address = 255;

loop::slice slice_of(std::string_view text) { return loop::slice::copy_of(as_bytes(text)); }

}  // namespace

leader::leader(loop::loop& loop, engine& engine, snapshot_turn& turn, std::shared_ptr<journal> log)
    : loop_(loop),
      engine_(engine),
      turn_(turn),
      log_(std::move(log)),
      id_(text::random_id(engine.keys().random())) {}

leader::~leader() {
  running_.cancel();
  engine_.keys().changes().remove_listener(*this);
}

// --- the stream

void leader::on_change(unsigned database, std::span<const std::string_view> words) {
  const auto before = pending_.size();
  row_.append(pending_, database, words);
  count_appended(before);
}

void leader::append(std::span<const std::string_view> words) {
  const auto before = pending_.size();
  append_command(pending_, words);
  count_appended(before);
}

void leader::count_appended(std::size_t before) {
  offset_ += pending_.size() - before;
  loop_.at_turn_end(*this);
}

void leader::flush() {
  if (pending_.empty()) return;
  keep(pending_);
  pass_on(slice_of(std::exchange(pending_, {})));
  // The analyzer does not see that a slice's count frees it.
}  // NOLINT(clang-analyzer-unix.Malloc)

void leader::pass_on(const loop::slice& bytes) {
  // A push may end a connection, but not at once.
  for (auto& each : followers_) {
    if (each.at == stage::online) each.who->push(bytes);
    if (each.at == stage::gets_snapshot || each.at == stage::loads) each.later.push_back(bytes);
  }
}

void leader::keep(std::string_view bytes) {
  const auto most = static_cast<std::size_t>(engine_.home().settings().backlog_size);
  backlog_ += bytes;
  if (backlog_.size() > 2 * most) backlog_.erase(0, backlog_.size() - most);
}

// --- followers

leader::follower& leader::follower_of(client& client) {
  const auto found = std::ranges::find(followers_, &client, &follower::who);
  if (found != followers_.end()) return *found;
  // The first PING is due one period after the first follower has come.
  if (followers_.empty()) last_ping_ = loop_.now();
  followers_.push_back({.who = &client});
  return followers_.back();
}

std::string leader::configure(client& client, std::string_view option, std::string_view value) {
  auto& from = follower_of(client);
  if (text::same_text(option, "listening-port")) {
    from.port = static_cast<unsigned>(text::parse_integer(value).value_or(0)) & 0xFFFFU;
  } else if (text::same_text(option, "capa")) {
    if (text::same_text(value, "eof")) from.takes_end_mark = true;
    if (text::same_text(value, field_times_capability)) from.takes_field_times = true;
  } else if (text::same_text(option, "ip-address")) {
    if (value.size() > longest_address || !text::is_visible(value)) {
      return "REPLCONF ip-address provided by replica instance is not an address";
    }
    from.address = value;
  } else if (text::same_text(option, "rdb-only")) {
    from.wants_changes = value != "1";
  } else if (text::same_text(option, "rdb-filter-only")) {
    if (!value.empty() && !text::same_text(value, "functions")) {
      return fmt::format("Unsupported rdb-filter-only option: {}", value);
    }
    from.wants_data = false;
    from.wants_functions = !value.empty();
  } else {
    return fmt::format("Unrecognized REPLCONF option: {}", option);
  }
  return {};
}

void leader::acknowledge(client& who, std::uint64_t offset, std::uint64_t synced) {
  auto& from = follower_of(who);
  from.acknowledged = offset;
  from.synced = synced;
  from.last_received = loop_.now();
  if (from.at == stage::loads) put_online(from);
  check_followers();
}

void leader::put_online(follower& follower) {
  for (const auto& bytes : follower.later) follower.who->push(bytes);
  follower.later.clear();
  follower.at = stage::online;
}

void leader::forget(client& client) {
  std::erase_if(followers_, [&](const follower& each) { return each.who == &client; });
  check_followers();
}

std::int64_t leader::lag_s(const follower& follower) const {
  return std::chrono::floor<std::chrono::seconds>(loop_.now() - follower.last_received).count();
}

std::size_t leader::prompt_followers() const {
  const auto most_s = engine_.home().settings().max_follower_lag_s;
  return static_cast<std::size_t>(std::ranges::count_if(followers_, [&](const follower& each) {
    return each.at == stage::online && lag_s(each) <= most_s;
  }));
}

void leader::check_followers() {
  const auto& settings = engine_.home().settings();
  const bool is_wanted = settings.min_followers > 0 && settings.max_follower_lag_s > 0;
  const bool has_few =
      is_wanted && prompt_followers() < static_cast<std::size_t>(settings.min_followers);
  if (has_few == engine_.home().availability().has(obstacle::few_followers)) return;
  engine_.home().availability().refuse_changes(
      obstacle::few_followers, has_few ? "NOREPLICAS Not enough good replicas to write." : "");
}

bool leader::can_go_on(std::string_view id, std::int64_t start) const {
  if (start < 1 || !is_listening_) return false;
  const auto first = static_cast<std::uint64_t>(start);
  const bool is_previous = !previous_id_.empty() && id == previous_id_;
  if (is_previous ? first > previous_end_ : id != id_) return false;
  const auto begin = offset_ - pending_.size() - backlog_.size();
  return first > begin && first <= offset_ + 1;
}

void leader::synchronise(client& client, std::string_view id, std::int64_t start) {
  auto& wants = follower_of(client);
  wants.last_received = loop_.now();
  // What the same turn has changed may shorten the backlog.
  flush();
  if (can_go_on(id, start)) {
    const auto begin = offset_ - backlog_.size();
    const auto missed =
        std::string_view(backlog_).substr(static_cast<std::uint64_t>(start) - 1 - begin);
    client.reply().status("CONTINUE " + id_);
    client.push(slice_of(missed));
    wants.at = stage::online;
    ++engine_.home().statistics().counted().partial_syncs;
    check_followers();
    log_->write(level::info, fmt::format("{} resumes replication, {} bytes behind",
                                         client.remote_address(), missed.size()));
    return;
  }
  if (id != "?") ++engine_.home().statistics().counted().refused_partials;
  take_on(wants);
}

void leader::send_everything(client& client) {
  auto& wants = follower_of(client);
  wants.last_received = loop_.now();
  wants.acknowledges = false;
  take_on(wants);
}

// Gives the follower a snapshot, and the changes from then on.
void leader::take_on(follower& follower) {
  ++engine_.home().statistics().counted().full_syncs;
  if (!std::exchange(is_listening_, true)) engine_.keys().changes().add_listener(*this);
  if (!follower.wants_data) {
    send_without_data(follower);
    return;
  }
  follower.at = stage::waits;
  if (!std::exchange(is_sending_, true)) running_.spawn(send_snapshots());
}

std::size_t leader::count_followers(std::uint64_t offset) const {
  return static_cast<std::size_t>(std::ranges::count_if(followers_, [&](const follower& each) {
    return each.at == stage::online && each.acknowledged >= offset;
  }));
}

// A follower that has synced nothing is none of them, even if nothing was changed yet.
std::size_t leader::count_synced_followers(std::uint64_t offset) const {
  return static_cast<std::size_t>(std::ranges::count_if(followers_, [&](const follower& each) {
    return each.at == stage::online && each.synced != 0 && each.synced >= offset;
  }));
}

void leader::ask_followers() {
  const std::array<std::string_view, 3> words = {"REPLCONF", "GETACK", "*"};
  if (is_listening_ && !is_quiet_) append(words);
}

void leader::begin_history() {
  drop_followers();
  pending_.clear();
  backlog_.clear();
  id_ = text::random_id(engine_.keys().random());
  previous_id_.clear();
}

bool leader::has_followers() const {
  return std::ranges::any_of(
      followers_, [](const follower& each) { return each.at != stage::introduces_itself; });
}

// One that only introduces itself has nothing of the stream yet.
void leader::drop_followers() {
  for (const auto& each : followers_) {
    if (each.at != stage::introduces_itself) each.who->disconnect(false);
  }
}

void leader::succeed(std::string id, std::uint64_t offset) {
  begin_history();
  previous_id_ = std::move(id);
  previous_end_ = offset + 1;
  offset_ = offset;
  // A follower that continues does not know the database of the next change.
  row_.begin_anew();
  if (!std::exchange(is_listening_, true)) engine_.keys().changes().add_listener(*this);
}

std::string leader::objection_to_successor(std::string_view address, std::int64_t port) const {
  if (std::ranges::none_of(followers_, can_lead)) return "FAILOVER requires connected replicas.";
  if (address.empty()) return {};
  const auto found = std::ranges::find_if(followers_, [&](const follower& each) {
    return can_lead(each) && address_of(each) == address && each.port == port;
  });
  if (found == followers_.end()) return "FAILOVER target HOST and PORT is not a replica.";
  return found->at == stage::online ? "" : "FAILOVER target replica is not online.";
}

std::optional<leader::place> leader::find_successor(std::string_view address,
                                                    std::int64_t port) const {
  for (const auto& each : followers_) {
    if (!can_lead(each) || each.at != stage::online || each.acknowledged != offset_) continue;
    auto found = address_of(each);
    if (address.empty() || (found == address && each.port == port)) {
      return place{.address = std::move(found), .port = each.port};
    }
  }
  return {};
}

std::string leader::address_of(const follower& follower) {
  if (!follower.address.empty()) return follower.address;
  auto address = follower.who->remote_address();
  address.resize(std::min(address.rfind(':'), address.size()));
  return address;
}

void leader::tick() {
  const auto now = loop_.now();
  const auto& settings = engine_.home().settings();
  check_followers();
  for (const auto& each : followers_) {
    if (each.at == stage::ends && each.who->output_bytes() == 0) each.who->disconnect(true);
    if (each.at != stage::online || !each.acknowledges) continue;
    if (now - each.last_received > std::chrono::seconds(settings.replication_timeout_s)) {
      log_->write(level::warning,
                  each.who->remote_address() + " has stopped acknowledging: disconnecting");
      each.who->disconnect(false);
    }
  }
  if (followers_.empty() || !is_listening_ || is_quiet_) return;
  if (now - last_ping_ >= std::chrono::seconds(settings.replication_ping_s)) {
    last_ping_ = now;
    const std::array<std::string_view, 1> ping = {"PING"};
    append(ping);
  }
}

void leader::add_to(replication_figures& figures) const {
  figures.id = id_;
  figures.previous_id = previous_id_;
  figures.previous_end = previous_end_;
  figures.offset = offset_;
  figures.backlog_size = backlog_.size();
  figures.backlog_begin = offset_ - pending_.size() - backlog_.size() + 1;
  figures.prompt_followers = prompt_followers();
  for (const auto& each : followers_) {
    if (each.at == stage::introduces_itself) continue;
    figures.followers.push_back({.address = address_of(each),
                                 .port = each.port,
                                 .is_online = each.at == stage::online,
                                 .acknowledged = each.acknowledged,
                                 .lag_s = lag_s(each)});
  }
}

// --- snapshots

loop::task<> leader::send_snapshots() {
  // Begins after the turn's end: a transaction is over by then.
  co_await loop_.sleep(0ms);
  while (
      std::ranges::any_of(followers_, [](const auto& each) { return each.at == stage::waits; })) {
    if (!engine_.keys().admits_guard()) {
      co_await turn_.come();
    } else {
      co_await send_snapshot();
    }
  }
  is_sending_ = false;
}

// All waiting followers get the same snapshot: while it is made if each of them supports an end
// mark instead of a size, otherwise when it is complete.
loop::task<> leader::send_snapshot() {
  flush();
  row_.begin_anew();
  auto taken = std::make_unique<snapshot>(engine_.keys(), false, may_send_field_times());
  const auto mark = text::random_id(engine_.keys().random());
  const bool has_mark = std::ranges::all_of(followers_, [](const follower& each) {
    return each.at != stage::waits || each.takes_end_mark;
  });
  for (auto& each : followers_) {
    if (each.at != stage::waits) continue;
    each.at = stage::gets_snapshot;
    greet(each);
  }
  if (has_mark) push_to_receivers(fmt::format("$EOF:{}\r\n", mark));
  std::string whole;
  for (bool more = true; more;) {
    more = taken->step(step_budget);
    auto text = taken->take();
    if (!has_mark) {
      whole += text;
    } else if (!text.empty()) {
      push_to_receivers(text);
    }
    co_await loop_.sleep(0ms);
    while (auto* const slow = slow_receiver()) co_await slow->room(most_on_the_way);
  }
  taken.reset();
  if (has_mark) {
    push_to_receivers(mark);
  } else {
    co_await send_whole(std::move(whole));
  }
  for (auto& each : followers_) {
    if (each.at == stage::gets_snapshot) end_snapshot(each, !has_mark);
  }
}

// A Redis does not say whether it can read the times of fields, and one that cannot refuses the
// whole snapshot: the option that names a version decides for it.
bool leader::may_send_field_times() const {
  const auto newest = engine_.home().settings().version.newest;
  if (newest >= version_7_4 && newest != version_newest) return true;
  return std::ranges::all_of(followers_, [](const follower& each) {
    return each.at != stage::waits || each.takes_field_times;
  });
}

void leader::send_without_data(follower& follower) {
  flush();
  row_.begin_anew();
  rdb::file_writer file;
  file.begin(engine_.keys().now_ms(), engine_.keys().memory(), false);
  if (follower.wants_functions) {
    for (const auto& [name, text] : engine_.keys().functions().all()) file.function(text);
  }
  file.end();
  const auto text = file.take();
  greet(follower);
  follower.who->push(slice_of(fmt::format("${}\r\n{}", text.size(), text)));
  end_snapshot(follower, true);
}

// PSYNC gets an answer; for the older SYNC, the snapshot alone is the answer.
void leader::greet(const follower& follower) {
  if (follower.acknowledges) {
    follower.who->push(slice_of(fmt::format("+FULLRESYNC {} {}\r\n", id_, offset_)));
  }
  log_->write(level::info,
              follower.who->remote_address() + " follows this cache and receives a snapshot");
}

loop::task<> leader::send_whole(std::string text) {
  push_to_receivers(fmt::format("${}\r\n", text.size()));
  for (std::size_t sent = 0; sent < text.size(); sent += most_on_the_way) {
    push_to_receivers(std::string_view(text).substr(sent, most_on_the_way));
    while (auto* const slow = slow_receiver()) co_await slow->room(most_on_the_way);
  }
}

void leader::end_snapshot(follower& follower, bool has_size) {
  follower.at = follower.wants_changes ? stage::loads : stage::ends;
  if (!follower.wants_changes) {
    follower.later.clear();
  } else if (has_size) {
    put_online(follower);
  }
}

void leader::push_to_receivers(std::string_view text) {
  const auto bytes = slice_of(text);
  for (const auto& each : followers_) {
    if (each.at == stage::gets_snapshot) each.who->push(bytes);
  }
}  // NOLINT(clang-analyzer-unix.Malloc)

client* leader::slow_receiver() const {
  for (const auto& each : followers_) {
    if (each.at == stage::gets_snapshot && each.who->output_bytes() > most_on_the_way) {
      return each.who;
    }
  }
  return nullptr;
}

}  // namespace strata::runtime::cache
