// The records as files in a folder. A thread of its own does the work that waits for the disk, and
// counts the revisions.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/store/record_files.hpp"
#include "daemon/store/record_store.hpp"
#include "loop/condition.hpp"
#include "loop/loop.hpp"
#include "loop/work_thread.hpp"

namespace strata::daemon {

class file_record_store final : public record_store {
 public:
  /// `loop` calls the store and must outlive it. Errors: those of `record_files::open`, and
  /// limit_exceeded if no thread can be started.
  /// `lock`: as of `record_files::open`.
  static result<std::unique_ptr<file_record_store>> open(loop::loop& loop,
                                                         const std::string& folder,
                                                         unique_fd lock = {});
  /// Waits until everything requested is on disk.
  ~file_record_store() override = default;

  loop::task<result<record_list>> load(std::function<void(std::string)> on_damaged) override;
  loop::task<result<std::optional<record>>> find(std::string name) override;
  loop::task<result<std::uint64_t>> put(record record, std::uint64_t expected) override;
  loop::task<result<void>> remove(std::string name, std::uint64_t expected) override;
  /// No other process changes the files: waits for `close`.
  loop::task<result<record_changes>> watch(std::uint64_t last) override;
  void close() override;
  /// Writes nothing from now on, since another daemon uses the folder: changes are refused. Returns
  /// a copy of its lock.
  [[nodiscard]] unique_fd hand_over();
  /// Writes again.
  void take_back() { is_handed_over_ = false; }
  [[nodiscard]] const std::string& place() const override { return files_.folder(); }

 private:
  file_record_store(loop::loop& loop, record_files files, std::unique_ptr<loop::work_thread> thread)
      : home_(loop), files_(std::move(files)), closed_(loop), thread_(std::move(thread)) {}

  // On the thread:
  result<record_list> load_files(std::vector<std::string>& damaged);
  result<std::uint64_t> save(record record, std::uint64_t expected);
  result<void> remove_file(const std::string& name, std::uint64_t expected);
  [[nodiscard]] result<void> check_revision(const std::string& name, std::uint64_t expected) const;

  loop::loop& home_;
  const record_files files_;
  std::map<std::string, std::uint64_t> revisions_;  // by name; used by the thread only
  std::uint64_t last_ = 0;                          // revision; used by the thread only
  bool is_handed_over_ = false;
  bool is_closed_ = false;
  loop::condition closed_;
  std::unique_ptr<loop::work_thread> thread_;  // destroyed first: it works on the files
};

}  // namespace strata::daemon
