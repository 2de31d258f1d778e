#include "cluster/etcd/testing/etcd_in_memory.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace strata::cluster {

using namespace std::chrono_literals;
using nlohmann::json;

namespace {

constexpr auto call_limit = 2s;

std::int64_t whole(const json& body, const char* key) {
  const auto member = body.find(key);
  if (member == body.end()) return 0;
  if (member->is_number()) return member->get<std::int64_t>();
  return strata::text::number_in<std::int64_t>(member->get<std::string>()).value_or(0);
}

std::string encoded(const std::string& text) { return strata::text::base64_encode(as_bytes(text)); }

std::unexpected<error> unreachable() {
  return failure(errc::timed_out, "ask etcd", "it does not answer", "");
}

json event_of(const etcd_in_memory::change& change) {
  json pair = {{"key", encoded(change.key)}, {"mod_revision", std::to_string(change.mod)}};
  if (change.is_gone) return {{"type", "DELETE"}, {"kv", pair}};
  pair["value"] = change.encoded;
  return {{"kv", pair}};
}

class watch_in_memory final : public gateway_stream {
 public:
  watch_in_memory(link_in_memory& link, const json& request)
      : link_(link),
        begin_(etcd_in_memory::text(request, "key")),
        end_(etcd_in_memory::text(request, "range_end")),
        next_(whole(request, "start_revision")) {}

  loop::task<result<json>> next(loop::time_point limit) override {
    auto& etcd = link_.etcd();
    for (;;) {
      if (etcd.restarts() != restarts_ && !is_dead_) {
        co_return failure(errc::connection_closed, "watch etcd", "it has started again", "");
      }
      if (link_.faults.is_cut && !is_dead_) co_return unreachable();
      if (link_.faults.is_dead || link_.faults.is_cut) is_dead_ = true;
      if (is_dead_) {
        co_await link_.loop().sleep(std::max<loop::duration>(limit - link_.loop().now(), 1ms));
        co_return failure(errc::timed_out, "watch etcd", "nothing has changed", "");
      }
      if (next_ <= etcd.compacted()) {
        co_return json{{"result", {{"canceled", true}, {"compact_revision", "1"}}}};
      }
      if (auto events = take(); !events.empty()) {
        link_.traffic.events += events.size();
        co_await link_.travel();
        json told = {{"result", {{"events", std::move(events)}}}};
        link_.count(told);
        co_return told;
      }
      const auto size = etcd.history().size();
      const bool has_more = co_await link_.changed().wait(
          [&] { return etcd.history().size() != size; }, limit, 100ms);
      if (!has_more && link_.loop().now() >= limit) {
        co_return failure(errc::timed_out, "watch etcd", "nothing has changed", "");
      }
    }
  }

 private:
  json take() {
    auto events = json::array();
    const auto& history = link_.etcd().history();
    for (; position_ < history.size(); ++position_) {
      const auto& each = history[position_];
      if (each.revision < next_) continue;
      if (each.key >= begin_ && each.key < end_) events.push_back(event_of(each));
      next_ = each.revision + 1;
    }
    return events;
  }

  link_in_memory& link_;
  std::string begin_;
  std::string end_;
  std::int64_t next_;
  std::size_t position_ = 0;  // in the history, of what was not looked at yet
  bool is_dead_ = false;
  const int restarts_ = link_.etcd().restarts();
};

}  // namespace

void etcd_in_memory::back_up() {
  backup_ = {.keys = keys_,
             .leases = leases_,
             .history_size = history_.size(),
             .revision = revision_,
             .compacted = compacted_};
}

void etcd_in_memory::restore() {
  if (!backup_) return;
  keys_ = backup_->keys;
  leases_ = backup_->leases;
  first_end_ = clock_();
  for (auto& [id, each] : leases_) each.end = clock_() + each.ttl;
  history_.resize(backup_->history_size);
  for (auto& [key, positions] : versions_) {
    std::erase_if(positions, [this](std::size_t each) { return each >= history_.size(); });
  }
  revision_ = backup_->revision;
  compacted_ = backup_->compacted;
  ++restarts_;
  notify_links();
}

void etcd_in_memory::note(change change) {
  if (on_change) on_change(change);
  versions_[change.key].push_back(history_.size());
  history_.push_back(std::move(change));
  notify_links();
}

void etcd_in_memory::notify_links() {
  for (auto* const each : links_) each->notify();
}

void etcd_in_memory::put(const json& body) {
  const auto key = text(body, "key");
  ++revision_;
  auto& place = keys_[key];
  if (place.created == 0) place.created = revision_;
  place.encoded = body.value("value", std::string());
  place.modified = revision_;
  place.lease = whole(body, "lease");
  note({.revision = revision_, .key = key, .encoded = place.encoded, .mod = revision_});
}

void etcd_in_memory::remove(const std::string& key) {
  ++revision_;
  keys_.erase(key);
  note({.revision = revision_, .key = key, .encoded = {}, .mod = revision_, .is_gone = true});
}

void etcd_in_memory::end_lease(std::int64_t id) {
  std::vector<std::string> bound;
  for (const auto& [key, place] : keys_) {
    if (place.lease == id) bound.push_back(key);
  }
  leases_.erase(id);
  for (const auto& each : bound) remove(each);
}

void etcd_in_memory::expire() {
  if (clock_() < first_end_) return;
  std::vector<std::int64_t> due;
  first_end_ = loop::time_point::max();
  for (const auto& [id, each] : leases_) {
    if (each.end <= clock_()) {
      due.push_back(id);
    } else {
      first_end_ = std::min(first_end_, each.end);
    }
  }
  for (const auto id : due) end_lease(id);
}

bool etcd_in_memory::holds(const json& condition) const {
  const auto place = keys_.find(text(condition, "key"));
  const bool is_there = place != keys_.end();
  if (condition.value("target", std::string()) == "CREATE") {
    return (is_there ? place->second.created : 0) == whole(condition, "create_revision");
  }
  return is_there && place->second.lease == whole(condition, "lease");
}

// The number of keys, and the one that was changed last.
json etcd_in_memory::newest(const json& body) const {
  const auto end = text(body, "range_end");
  auto pairs = json::array();
  std::int64_t count = 0;
  std::int64_t newest = 0;
  for (auto place = keys_.lower_bound(text(body, "key"));
       place != keys_.end() && place->first < end; ++place) {
    ++count;
    newest = std::max(newest, place->second.modified);
  }
  if (count > 0) pairs.push_back({{"mod_revision", std::to_string(newest)}});
  return {{"header", header()}, {"kvs", pairs}, {"count", std::to_string(count)}};
}

// What a key was at a revision; null if it was not there.
const etcd_in_memory::change* etcd_in_memory::version(const std::vector<std::size_t>& positions,
                                                      std::int64_t revision) const {
  const auto later = std::ranges::partition_point(
      positions, [&](std::size_t position) { return history_[position].revision <= revision; });
  if (later == positions.begin()) return nullptr;
  const auto& last = history_[*std::prev(later)];
  return last.is_gone ? nullptr : &last;
}

result<json> etcd_in_memory::range(const json& body) const {
  if (body.contains("sort_target")) return newest(body);
  const auto end = text(body, "range_end");
  const auto given = whole(body, "revision");
  const auto limit = static_cast<std::size_t>(whole(body, "limit"));
  if (given != 0 && given < compacted_) {
    return failure(errc::invalid_argument, "ask etcd",
                   "etcdserver: mvcc: required revision has been compacted", "");
  }
  auto pairs = json::array();
  bool has_more = false;
  for (auto place = versions_.lower_bound(text(body, "key"));
       place != versions_.end() && place->first < end; ++place) {
    const auto* const present = version(place->second, given == 0 ? revision_ : given);
    if (present == nullptr) continue;
    has_more = limit != 0 && pairs.size() == limit;
    if (has_more) break;
    pairs.push_back({{"key", encoded(present->key)},
                     {"value", present->encoded},
                     {"mod_revision", std::to_string(present->mod)}});
  }
  return json{{"header", header()}, {"kvs", pairs}, {"more", has_more}};
}

result<json> etcd_in_memory::answer(const std::string& path, const json& body) {
  expire();
  if (path == "/v3/lease/grant") {
    const auto id = next_lease_++;
    const auto ttl = std::chrono::seconds(whole(body, "TTL"));
    leases_[id] = {.ttl = ttl, .end = clock_() + ttl};
    first_end_ = std::min(first_end_, leases_[id].end);
    return json{{"ID", std::to_string(id)}, {"TTL", body.at("TTL")}};
  }
  if (path == "/v3/lease/keepalive") {
    const auto found = leases_.find(whole(body, "ID"));
    if (found == leases_.end()) return json{{"result", {{"ID", body.at("ID")}}}};
    found->second.end = clock_() + found->second.ttl;
    return json{{"result", {{"ID", body.at("ID")}, {"TTL", "10"}}}};
  }
  if (path == "/v3/lease/revoke") {
    end_lease(whole(body, "ID"));
    return json::object();
  }
  if (path == "/v3/kv/range") return range(body);
  if (is_full) {
    return failure(errc::no_space, "ask etcd", "etcdserver: mvcc: database space exceeded", "");
  }
  bool is_met = true;
  for (const auto& each : body.at("compare")) is_met = is_met && holds(each);
  if (!is_met) return json{{"header", header()}};
  for (const auto& each : body.at("success")) {
    const auto& request = each.at("requestPut");
    if (!leases_.contains(whole(request, "lease"))) {
      return failure(errc::not_found, "ask etcd", "etcdserver: requested lease not found", "");
    }
    put(request);
  }
  return json{{"header", header()}, {"succeeded", true}};
}

void link_in_memory::notify() {
  loop_.post([changed = std::weak_ptr(changed_)] {
    if (const auto present = changed.lock()) present->notify();
  });
}

void link_in_memory::count(const json& message) {
  if (traffic.is_counted) traffic.bytes += message.dump().size();
}

loop::task<> link_in_memory::travel() {
  const auto span = std::chrono::duration_cast<loop::duration>(faults.slowest * chance_());
  co_await loop_.sleep(span);
}

loop::task<result<json>> link_in_memory::call(std::string path, json body) {
  count(body);
  ++traffic.calls;
  co_await travel();
  if (faults.is_cut || chance_() < faults.loses_requests) {
    co_await loop_.sleep(call_limit);
    co_return unreachable();
  }
  auto answer = etcd_.answer(path, body);
  if (answer) count(*answer);
  co_await travel();
  if (faults.is_cut || chance_() < faults.loses_answers) {
    co_await loop_.sleep(call_limit);
    co_return unreachable();
  }
  co_return answer;
}

loop::task<result<std::unique_ptr<gateway_stream>>> link_in_memory::open(std::string /*path*/,
                                                                         json body) {
  co_await travel();
  if (faults.is_cut) co_return unreachable();
  std::unique_ptr<gateway_stream> opened =
      std::make_unique<watch_in_memory>(*this, body.at("create_request"));
  co_return opened;
}

}  // namespace strata::cluster
