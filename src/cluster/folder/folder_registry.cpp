#include "cluster/folder/folder_registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <utility>

#include "text/random_id.hpp"

namespace strata::cluster {

using namespace std::chrono_literals;
using nlohmann::json;

namespace {

std::string holder_in(const std::string& text) {
  const auto object = json::parse(text, nullptr, false);
  if (!object.is_object()) return {};
  const auto holder = object.find("holder");
  return holder != object.end() && holder->is_string() ? holder->get<std::string>() : "";
}

std::unexpected<error> taken(const std::string& daemon) {
  return failure(errc::conflict, fmt::format("take the name '{}' in the cluster", daemon),
                 "another daemon has it",
                 "give --name another one, or wait until the other's card is out of date");
}

std::unexpected<error> lost(const std::string& daemon) {
  return failure(errc::not_found, fmt::format("hold the name '{}' in the cluster", daemon),
                 "its card was removed or replaced", "it is written again");
}

// Writes a card in place of the holder's own: on a disk whose locks reach one machine only, another
// daemon may have taken the name.
result<void> replace_own(const card_files& files, const std::string& daemon,
                         const std::string& holder, const std::string& text) {
  const auto present = files.read(daemon);
  if (!present && present.error().code != errc::not_found) {
    return std::unexpected(present.error());
  }
  if (!present) {
    if (auto there = files.check(); !there) return there;
  }
  if (!present || holder_in(*present) != holder) return lost(daemon);
  return files.write(daemon, text);
}

}  // namespace

folder_registry::folder_registry(loop::loop& loop, card_files files,
                                 std::unique_ptr<loop::work_thread> thread, loop::duration ttl)
    : loop_(loop), files_(std::move(files)), ttl_(ttl), thread_(std::move(thread)) {
  std::random_device device;
  std::mt19937_64 source((std::uint64_t{device()} << 32U) | device());
  holder_ = text::random_id(source);
}

result<std::unique_ptr<folder_registry>> folder_registry::open(loop::loop& loop,
                                                               const std::string& folder,
                                                               loop::duration ttl) {
  auto files = card_files::open(folder);
  if (!files) return std::unexpected(files.error());
  auto thread = loop::work_thread::start(fmt::format("use the cluster's folder '{}'", folder));
  if (!thread) return std::unexpected(thread.error());
  return std::unique_ptr<folder_registry>(
      new folder_registry(loop, std::move(*files), std::move(*thread), ttl));
}

// The members that only this registry knows stand in the card, whose readers pass them over.
std::string folder_registry::signed_text() {
  auto object = json::parse(text_);
  object["holder"] = holder_;
  object["beat"] = ++beat_;
  return object.dump();
}

loop::task<result<void>> folder_registry::take_lock() {
  auto work = [&files = files_, daemon = daemon_]() -> result<unique_fd> {
    if (auto there = files.check(); !there) return std::unexpected(there.error());
    return files.lock(daemon);
  };
  auto lock = co_await thread_->run(loop_, std::move(work));
  if (lock) {
    lock_ = std::move(*lock);
    co_return result<void>{};
  }
  if (lock.error().code == errc::conflict) co_return taken(daemon_);
  note_write(std::unexpected(lock.error()));
  co_return std::unexpected(lock.error());
}

loop::task<result<void>> folder_registry::claim(std::string daemon, std::string text) {
  daemon_ = std::move(daemon);
  text_ = std::move(text);
  if (!lock_) {
    auto locked = co_await take_lock();
    if (!locked) co_return locked;
  }
  auto outlasted = co_await outlast_rival();
  if (!outlasted) co_return outlasted;
  auto work = [&files = files_, name = daemon_, card = signed_text()] {
    return files.write(name, card);
  };
  auto written = co_await thread_->run(loop_, std::move(work));
  note_write(written);
  co_return written;
}

void folder_registry::note_write(const result<void>& written) {
  const bool has_recovered = written && !takes_writes_;
  takes_writes_ = written || written.error().code == errc::not_found;
  if (!takes_writes_) rival_.reset();
  if (!has_recovered) return;
  // The others need their time to write again, too.
  for (auto& [daemon, each] : seen_) each.changed = loop_.now();
}

// Another process' card gives way once it has not changed for longer than its time to live: its
// holder counts that time from when it began to write, and with a clock of its own.
loop::task<result<void>> folder_registry::outlast_rival() {
  auto work = [&files = files_, daemon = daemon_] { return files.read(daemon); };
  const auto present = co_await thread_->run(loop_, std::move(work));
  const bool is_free = !present || holder_in(*present) == holder_;
  if (is_free) {
    rival_.reset();
    co_return result<void>{};
  }
  if (!rival_ || rival_->text != *present) rival_ = {.text = *present, .changed = loop_.now()};
  if (loop_.now() - rival_->changed < ttl_ + ttl_ / 4) co_return taken(daemon_);
  co_return result<void>{};
}

loop::task<result<void>> folder_registry::replace() {
  auto work = [&files = files_, daemon = daemon_, holder = holder_, card = signed_text()] {
    return replace_own(files, daemon, holder, card);
  };
  auto replaced = co_await thread_->run(loop_, std::move(work));
  note_write(replaced);
  // The lock may be that of a folder which was removed.
  if (!replaced && replaced.error().code == errc::not_found) lock_.reset();
  co_return replaced;
}

loop::task<result<void>> folder_registry::renew() { return replace(); }

loop::task<result<void>> folder_registry::write(std::string text) {
  text_ = std::move(text);
  return replace();
}

loop::task<result<void>> folder_registry::release() {
  auto work = [&files = files_, daemon = daemon_, holder = holder_]() -> result<void> {
    const auto present = files.read(daemon);
    if (!present || holder_in(*present) != holder) return {};
    return files.remove(daemon);
  };
  auto removed = co_await thread_->run(loop_, std::move(work));
  lock_.reset();
  co_return removed;
}

// The lock of the name is that of the other process until it leaves.
void folder_registry::adopt(const std::string& key) {
  if (!key.empty()) holder_ = key;
}

loop::task<result<card_texts>> folder_registry::read() {
  const auto looked = co_await look();
  if (!looked) co_return std::unexpected(looked.error());
  card_texts all;
  for (const auto& [daemon, each] : seen_) {
    if (!each.is_gone) all[daemon] = each.text;
  }
  co_return all;
}

loop::task<result<std::vector<card_change>>> folder_registry::next(loop::time_point limit) {
  const auto interval = std::clamp<loop::duration>(ttl_ / 10, 100ms, 500ms);
  for (;;) {
    co_await loop_.sleep(interval);
    auto changes = co_await look();
    if (!changes || !changes->empty() || loop_.now() >= limit) co_return changes;
  }
}

// Reads what has changed in the folder.
loop::task<result<std::vector<card_change>>> folder_registry::look() {
  auto work = [&files = files_, known = seen_]() mutable -> result<sightings> {
    const auto versions = files.list();
    if (!versions) return std::unexpected(versions.error());
    sightings found;
    for (const auto& [daemon, version] : *versions) {
      auto& each = found[daemon];
      each.version = version;
      const auto before = known.find(daemon);
      if (before != known.end() && before->second.version == version) {
        each.text = std::move(before->second.text);
      } else {
        // What cannot be read is not a card.
        each.text = files.read(daemon).value_or("");
      }
    }
    return found;
  };
  auto found = co_await thread_->run(loop_, std::move(work));
  if (!found) co_return std::unexpected(found.error());
  co_return compare(std::move(*found));
}

std::vector<card_change> folder_registry::compare(sightings present) {
  const auto now = loop_.now();
  std::vector<card_change> changes;
  for (auto& [daemon, each] : present) {
    const auto before = seen_.find(daemon);
    const bool is_known = before != seen_.end() && before->second.version == each.version;
    each.changed = is_known ? before->second.changed : now;
    const bool was_gone = is_known && before->second.is_gone;
    each.is_gone = was_gone || (takes_writes_ && now - each.changed > ttl_);
    if (!is_known) {
      changes.push_back({.daemon = daemon, .text = each.text});
    } else if (each.is_gone && !was_gone) {
      changes.push_back({.daemon = daemon, .text = std::nullopt});
    }
  }
  for (const auto& [daemon, each] : seen_) {
    if (!present.contains(daemon)) changes.push_back({.daemon = daemon, .text = std::nullopt});
  }
  seen_ = std::move(present);
  return changes;
}

}  // namespace strata::cluster
