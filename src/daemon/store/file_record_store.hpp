// The records in files of a folder. A thread of its own does what waits for the disk.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/store/record_files.hpp"
#include "daemon/store/record_store.hpp"
#include "daemon/store/work_thread.hpp"
#include "loop/loop.hpp"

namespace strata::daemon {

class file_record_store final : public record_store {
 public:
  /// `loop` calls the store and must outlive it. Errors: those of `record_files::open`, and
  /// limit_exceeded when there can be no thread.
  static result<std::unique_ptr<record_store>> open(loop::loop& loop, const std::string& folder);
  /// Waits until all that was asked for is on disk.
  ~file_record_store() override = default;

  loop::task<result<std::vector<record>>> load(
      std::function<void(std::string)> on_damaged) override;
  loop::task<result<void>> put(record record) override;
  loop::task<result<void>> remove(std::string name) override;
  [[nodiscard]] const std::string& place() const override { return files_.folder(); }

 private:
  file_record_store(loop::loop& loop, record_files files, std::unique_ptr<work_thread> thread)
      : home_(loop), files_(std::move(files)), thread_(std::move(thread)) {}

  loop::loop& home_;
  const record_files files_;
  std::unique_ptr<work_thread> thread_;  // goes first: it works on the files
};

}  // namespace strata::daemon
