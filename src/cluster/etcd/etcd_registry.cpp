#include "cluster/etcd/etcd_registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cluster/card.hpp"
#include "text/base64.hpp"
#include "text/number.hpp"

namespace strata::cluster {

using namespace std::chrono_literals;
using nlohmann::json;

namespace {

// A daemon makes one call at a time, so a page must not hold up the renewal of its name. It may be
// filled by strangers with the largest values that etcd takes, 1.5 MiB each unless told otherwise:
// behind such a page keys are read one by one.
constexpr std::size_t first_page_keys = 4;
constexpr std::size_t most_page_keys = 16;
constexpr std::size_t small_page = 256U << 10U;  // bytes
constexpr std::size_t large_page = 1U << 20U;

std::string encoded(std::string_view value) { return text::base64_encode(as_bytes(value)); }

std::optional<std::string> decoded(const json& object, const char* key) {
  const auto member = object.find(key);
  if (member == object.end()) return std::string();  // etcd leaves out what is empty
  if (!member->is_string()) return std::nullopt;
  return text::base64_decode(member->get_ref<const std::string&>());
}

// The gateway writes whole numbers of 64 bits as texts, and leaves out a 0.
std::int64_t number(const json& object, const char* key) {
  const auto member = object.find(key);
  if (member == object.end()) return 0;
  if (member->is_number_integer()) return member->get<std::int64_t>();
  if (!member->is_string()) return 0;
  return text::number_in<std::int64_t>(member->get_ref<const std::string&>()).value_or(0);
}

const json& member(const json& object, const char* key) {
  static const json nothing = json::object();
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nothing : *found;
}

std::string card_text(std::string value) {
  if (value.size() > longest_card) value.clear();
  return value;
}

std::unexpected<error> lost(const std::string& daemon) {
  return failure(errc::not_found, fmt::format("hold the name '{}' in etcd", daemon),
                 "its lease has ended", "it is taken again");
}

}  // namespace

etcd_registry::etcd_registry(std::unique_ptr<gateway> gateway, settings settings)
    : gateway_(std::move(gateway)), settings_(std::move(settings)) {}

json etcd_registry::range() const {
  auto end = settings_.prefix;
  ++end.back();
  return {{"key", encoded(settings_.prefix)}, {"range_end", encoded(end)}};
}

loop::task<result<void>> etcd_registry::open_lease() {
  const auto ttl_s = std::chrono::ceil<std::chrono::seconds>(settings_.ttl).count();
  const json body = {{"TTL", std::to_string(ttl_s)}};
  const auto answer = co_await gateway_->call("/v3/lease/grant", body);
  if (!answer) co_return std::unexpected(answer.error());
  lease_ = number(*answer, "ID");
  if (lease_ == 0) {
    co_return failure(errc::malformed, "open a lease in etcd", "the answer names no lease",
                      "check that the address is that of etcd's version 3 API");
  }
  co_return result<void>{};
}

loop::task<result<void>> etcd_registry::claim(std::string daemon, std::string text) {
  daemon_ = std::move(daemon);
  // A lease whose state is unknown may still have the key of an earlier attempt: it is tried first.
  if (lease_ != 0) {
    const auto kept = co_await keep_lease();
    if (!kept && kept.error().code != errc::not_found) co_return kept;
  }
  if (lease_ == 0) {
    auto opened = co_await open_lease();
    if (!opened) co_return opened;
  }
  auto put = co_await put_new(text);
  co_return put;
}

// Makes a transaction that writes under the lease. Returns whether its conditions were met.
loop::task<result<bool>> etcd_registry::write_with_lease(json transaction) {
  const auto answer = co_await gateway_->call("/v3/kv/txn", std::move(transaction));
  if (answer) co_return answer->value("succeeded", false);
  if (answer.error().code != errc::not_found) co_return std::unexpected(answer.error());
  lease_ = 0;
  co_return lost(daemon_);
}

json etcd_registry::is_own() const {
  return {{"key", encoded(key())},
          {"target", "LEASE"},
          {"result", "EQUAL"},
          {"lease", std::to_string(lease_)}};
}

json etcd_registry::put(const std::string& text) const {
  return {{"requestPut",
           {{"key", encoded(key())}, {"value", encoded(text)}, {"lease", std::to_string(lease_)}}}};
}

// Writes the key if nobody has it, or if this claim has, whose answer was lost.
loop::task<result<void>> etcd_registry::put_new(const std::string& text) {
  const json free = {
      {"key", encoded(key())}, {"target", "CREATE"}, {"result", "EQUAL"}, {"create_revision", "0"}};
  for (const auto& condition : {free, is_own()}) {
    const json body = {{"compare", json::array({condition})},
                       {"success", json::array({put(text)})}};
    const auto answer = co_await write_with_lease(body);
    if (!answer) co_return std::unexpected(answer.error());
    if (!*answer) continue;
    is_confirmed_ = true;
    co_return result<void>{};
  }
  co_return failure(errc::conflict, fmt::format("take the name '{}' in the cluster", daemon_),
                    "another daemon has it",
                    "give --name another one, or wait until the other's lease has ended");
}

// After a read of everything, the key may be another's: etcd may have been restored from a backup,
// in which both leases are.
loop::task<result<void>> etcd_registry::renew() {
  if (!is_confirmed_) {
    auto confirmed = co_await write_own(json::array());
    if (!confirmed) co_return confirmed;
  }
  auto kept = co_await keep_lease();
  co_return kept;
}

// Makes the requests, of which there may be none, if the key still stands under the lease.
loop::task<result<void>> etcd_registry::write_own(json requests) {
  json body = {{"compare", json::array({is_own()})}, {"success", std::move(requests)}};
  const auto answer = co_await write_with_lease(std::move(body));
  if (!answer) co_return std::unexpected(answer.error());
  if (!*answer) co_return lost(daemon_);
  is_confirmed_ = true;
  co_return result<void>{};
}

loop::task<result<void>> etcd_registry::keep_lease() {
  const json body = {{"ID", std::to_string(lease_)}};
  const auto answer = co_await gateway_->call("/v3/lease/keepalive", body);
  if (!answer) co_return std::unexpected(answer.error());
  // The answer of a stream stands in `result`.
  const auto& kept = answer->contains("result") ? member(*answer, "result") : *answer;
  if (number(kept, "TTL") > 0) co_return result<void>{};
  lease_ = 0;
  co_return lost(daemon_);
}

loop::task<result<void>> etcd_registry::write(std::string text) {
  auto requests = json::array();
  requests.push_back(put(text));
  auto written = co_await write_own(std::move(requests));
  if (!written) co_return written;
  auto kept = co_await keep_lease();
  co_return kept;
}

loop::task<result<void>> etcd_registry::release() {
  if (lease_ == 0) co_return result<void>{};
  const json body = {{"ID", std::to_string(std::exchange(lease_, 0))}};
  const auto answer = co_await gateway_->call("/v3/lease/revoke", body);
  if (!answer) co_return std::unexpected(answer.error());
  co_return result<void>{};
}

void etcd_registry::adopt(const std::string& key) {
  lease_ = text::number_in<std::int64_t>(key).value_or(0);
}

loop::task<result<card_texts>> etcd_registry::read() {
  watch_.reset();
  is_confirmed_ = false;
  mods_.clear();
  revision_ = 0;
  reading reading{.request = range(), .page_keys = first_page_keys};
  for (bool has_more = true; has_more;) {
    const auto page = co_await read_page(reading);
    if (!page) co_return std::unexpected(page.error());
    has_more = *page;
  }
  auto following = range();
  following["start_revision"] = std::to_string(revision_ + 1);
  following["fragment"] = true;  // an answer with many events comes in parts
  json creation = {{"create_request", std::move(following)}};
  auto opened = co_await gateway_->open("/v3/watch", std::move(creation));
  if (!opened) co_return std::unexpected(opened.error());
  watch_ = std::move(*opened);
  co_return std::move(reading.cards);
}

loop::task<result<bool>> etcd_registry::read_page(reading& reading) {
  for (;;) {
    reading.request["limit"] = std::to_string(reading.page_keys);
    const auto page = co_await gateway_->call("/v3/kv/range", reading.request);
    if (page) co_return take_page(*page, reading);
    const bool is_too_long = page.error().code == errc::limit_exceeded;
    if (!is_too_long || std::exchange(reading.page_keys, 1) == 1) {
      co_return std::unexpected(page.error());
    }
  }
}

// All pages are of the first one's revision.
bool etcd_registry::take_page(const json& page, reading& reading) {
  if (revision_ == 0) {
    revision_ = number(member(page, "header"), "revision");
    term_ = number(member(page, "header"), "raft_term");
  }
  std::string last;
  std::size_t size = 0;
  for (const auto& each : member(page, "kvs")) {
    const auto key = decoded(each, "key");
    auto value = decoded(each, "value");
    if (!key || !value || !key->starts_with(settings_.prefix)) continue;
    size += key->size() + value->size();
    const auto daemon = key->substr(settings_.prefix.size());
    mods_[daemon] = number(each, "mod_revision");
    reading.cards[daemon] = card_text(std::move(*value));
    last = *key;
  }
  if (size < small_page) reading.page_keys = std::min(2 * reading.page_keys, most_page_keys);
  if (size > large_page) reading.page_keys = 1;
  reading.request["revision"] = std::to_string(revision_);
  reading.request["key"] = encoded(last + '\0');
  return page.value("more", false) && !last.empty();
}

loop::task<result<std::vector<card_change>>> etcd_registry::next(loop::time_point limit) {
  const auto answer = co_await watch_->next(limit);
  if (answer) co_return changes_in(*answer);
  if (answer.error().code != errc::timed_out) co_return std::unexpected(answer.error());
  const auto checked = co_await check_watch();
  if (!checked) co_return std::unexpected(checked.error());
  co_return std::vector<card_change>{};
}

// A connection may be dead without a sign of it, and its watch silent for ever: so a silent watch
// is compared with what stands in etcd.
loop::task<result<void>> etcd_registry::check_watch() {
  mark known{.count = static_cast<std::int64_t>(mods_.size()), .term = term_};
  for (const auto& [daemon, revision] : mods_) known.newest = std::max(known.newest, revision);
  const auto present = co_await read_mark();
  if (!present) co_return std::unexpected(present.error());
  if (*present == known) co_return result<void>{};
  co_return failure(errc::connection_closed, "watch the cluster in etcd",
                    "its watch has missed changes", "the cards are read again");
}

loop::task<result<etcd_registry::mark>> etcd_registry::read_mark() {
  auto request = range();
  request["limit"] = "1";
  request["sort_target"] = "MOD";
  request["sort_order"] = "DESCEND";
  request["keys_only"] = true;
  const auto answer = co_await gateway_->call("/v3/kv/range", request);
  if (!answer) co_return std::unexpected(answer.error());
  mark found{.count = number(*answer, "count"),
             .term = number(member(*answer, "header"), "raft_term")};
  for (const auto& each : member(*answer, "kvs")) found.newest = number(each, "mod_revision");
  co_return found;
}

result<std::vector<card_change>> etcd_registry::changes_in(const json& answer) {
  const auto& told = member(answer, "result");
  if (told.value("canceled", false) || number(told, "compact_revision") != 0) {
    return failure(errc::connection_closed, "watch the cluster in etcd", "etcd has ended the watch",
                   "the cards are read again");
  }
  std::vector<card_change> changes;
  for (const auto& each : member(told, "events")) {
    const auto& pair = member(each, "kv");
    const auto key = decoded(pair, "key");
    auto value = decoded(pair, "value");
    if (!key || !value || !key->starts_with(settings_.prefix)) continue;
    // A member that is behind tells what was before the watch's begin (etcd's issue 20221).
    if (number(pair, "mod_revision") <= revision_) continue;
    card_change change{.daemon = key->substr(settings_.prefix.size()), .text = std::nullopt};
    const bool is_gone = each.value("type", std::string()) == "DELETE";
    if (is_gone) {
      mods_.erase(change.daemon);
    } else {
      mods_[change.daemon] = number(pair, "mod_revision");
      change.text = card_text(std::move(*value));
    }
    changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace strata::cluster
