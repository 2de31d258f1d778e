#include "daemon/store/file_record_store.hpp"

#include <algorithm>

namespace strata::daemon {

namespace {

std::unexpected<error> refuse_change(const std::string& name) {
  return failure(errc::conflict, "change '" + name + "'", "another daemon is taking over",
                 "try again: that daemon will answer");
}

}  // namespace

result<std::unique_ptr<file_record_store>> file_record_store::open(loop::loop& loop,
                                                                   const std::string& folder,
                                                                   unique_fd lock) {
  auto files = record_files::open(folder, std::move(lock));
  if (!files) return std::unexpected(files.error());
  auto thread = loop::work_thread::start("write to the state folder '" + folder + "'");
  if (!thread) return std::unexpected(thread.error());
  return std::unique_ptr<file_record_store>(
      new file_record_store(loop, std::move(*files), std::move(*thread)));
}

unique_fd file_record_store::hand_over() {
  is_handed_over_ = true;
  return files_.copy_of_lock();
}

loop::task<result<record_list>> file_record_store::load(
    std::function<void(std::string)> on_damaged) {
  struct outcome {
    result<record_list> list;
    std::vector<std::string> damaged;
  };
  auto work = [this] {
    outcome found;
    found.list = load_files(found.damaged);
    return found;
  };
  auto found = co_await thread_->run(home_, std::move(work));
  for (auto& text : found.damaged) on_damaged(std::move(text));
  co_return std::move(found.list);
}

loop::task<result<std::optional<record>>> file_record_store::find(std::string name) {
  auto work = [this, name = std::move(name)]() -> result<std::optional<record>> {
    auto found = files_.find(name);
    if (!found || !*found) return found;
    const auto known = revisions_.find(name);
    (*found)->revision = known == revisions_.end() ? 0 : known->second;
    return found;
  };
  auto found = co_await thread_->run(home_, std::move(work));
  co_return found;
}

loop::task<result<std::uint64_t>> file_record_store::put(record record, std::uint64_t expected) {
  if (is_handed_over_) co_return refuse_change(record.name);
  auto work = [this, record = std::move(record), expected] { return save(record, expected); };
  auto saved = co_await thread_->run(home_, std::move(work));
  co_return saved;
}

loop::task<result<void>> file_record_store::remove(std::string name, std::uint64_t expected) {
  if (is_handed_over_) co_return refuse_change(name);
  auto work = [this, name = std::move(name), expected] { return remove_file(name, expected); };
  auto gone = co_await thread_->run(home_, std::move(work));
  co_return gone;
}

loop::task<result<record_changes>> file_record_store::watch(std::uint64_t last) {
  (void)co_await closed_.wait([this] { return is_closed_; });
  co_return record_changes{.names = {}, .revision = last};
}

void file_record_store::close() {
  is_closed_ = true;
  closed_.notify();
}

// Files from versions before revisions have none, and get theirs in the order of their names.
result<record_list> file_record_store::load_files(std::vector<std::string>& damaged) {
  auto loaded = files_.load([&damaged](std::string text) { damaged.push_back(std::move(text)); });
  if (!loaded) return std::unexpected(loaded.error());
  for (const auto& each : *loaded) last_ = std::max(last_, each.revision);
  revisions_.clear();
  for (auto& each : *loaded) {
    if (each.revision == 0) each.revision = ++last_;
    revisions_[each.name] = each.revision;
  }
  return record_list{.records = std::move(*loaded), .revision = last_};
}

result<void> file_record_store::check_revision(const std::string& name,
                                               std::uint64_t expected) const {
  const auto known = revisions_.find(name);
  const auto present = known == revisions_.end() ? 0 : known->second;
  if (present == expected) return {};
  return stale_revision(name, expected, present);
}

result<std::uint64_t> file_record_store::save(record record, std::uint64_t expected) {
  if (auto good = check_revision(record.name, expected); !good) {
    return std::unexpected(good.error());
  }
  record.revision = last_ + 1;
  const auto saved = files_.save(record);
  if (!saved) return saved;
  if (*saved != record.revision) return expected;
  last_ = record.revision;
  revisions_[record.name] = last_;
  return last_;
}

result<void> file_record_store::remove_file(const std::string& name, std::uint64_t expected) {
  const auto known = revisions_.find(name);
  if (known == revisions_.end()) return {};
  if (auto good = check_revision(name, expected); !good) return good;
  auto gone = files_.remove(name);
  if (!gone) return gone;
  revisions_.erase(known);
  ++last_;
  return gone;
}

}  // namespace strata::daemon
