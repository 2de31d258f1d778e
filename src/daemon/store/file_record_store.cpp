#include "daemon/store/file_record_store.hpp"

namespace strata::daemon {

result<std::unique_ptr<record_store>> file_record_store::open(loop::loop& loop,
                                                              const std::string& folder) {
  auto files = record_files::open(folder);
  if (!files) return std::unexpected(files.error());
  auto thread = work_thread::start("write to the state folder '" + folder + "'");
  if (!thread) return std::unexpected(thread.error());
  return std::unique_ptr<record_store>(
      new file_record_store(loop, std::move(*files), std::move(*thread)));
}

loop::task<result<std::vector<record>>> file_record_store::load(
    std::function<void(std::string)> on_damaged) {
  struct outcome {
    result<std::vector<record>> records;
    std::vector<std::string> damaged;
  };
  auto work = [this] {
    outcome found;
    found.records =
        files_.load([&found](std::string text) { found.damaged.push_back(std::move(text)); });
    return found;
  };
  auto found = co_await thread_->run(home_, std::move(work));
  for (auto& text : found.damaged) on_damaged(std::move(text));
  co_return std::move(found.records);
}

loop::task<result<void>> file_record_store::put(record record) {
  auto work = [this, record = std::move(record)] { return files_.save(record); };
  auto saved = co_await thread_->run(home_, std::move(work));
  co_return saved;
}

loop::task<result<void>> file_record_store::remove(std::string name) {
  auto work = [this, name = std::move(name)] { return files_.remove(name); };
  auto gone = co_await thread_->run(home_, std::move(work));
  co_return gone;
}

}  // namespace strata::daemon
