// The records on disk: one JSON file each, written so that a crash at any moment leaves the old
// file or the new one, and no acknowledged change is lost. All members wait for the disk.
//
//   STATE_DIR/lock              held by the daemon that uses the folder
//   STATE_DIR/runtimes/NAME.json
//   STATE_DIR/tmp/              files being written
//   STATE_DIR/damaged/          files that could not be read, set aside
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "daemon/store/record_store.hpp"
#include "strata/base/result.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::daemon {

class record_files {
 public:
  /// Creates the folders (mode 0700) and takes the lock. From then on names are looked up in the
  /// folders opened here, and no link is followed. Errors: conflict if another daemon has the lock,
  /// with its process id; permission_denied if another user created the folder, or something in it,
  /// or can write there. `lock` is that of a daemon that hands over; without it, the lock is taken.
  static result<record_files> open(const std::string& folder, unique_fd lock = {});
  /// A copy of the lock: it is free once all copies are closed.
  [[nodiscard]] unique_fd copy_of_lock() const;

  /// Returns all records, by name. A damaged file is set aside and passed to `on_damaged`. Errors:
  /// the folder or a file cannot be read; no file is changed then.
  [[nodiscard]] result<std::vector<record>> load(
      const std::function<void(std::string)>& on_damaged) const;
  /// Returns the record of that name, if there is a file. Errors: it is damaged, or cannot be read.
  [[nodiscard]] result<std::optional<record>> find(const std::string& name) const;
  /// Returns once the file and its folder are on disk (mode 0600), with the revision in the file:
  /// on a full disk a change of `running` alone is written over the file, which keeps its revision,
  /// if any. Errors: no_space, …: the file is unchanged.
  [[nodiscard]] result<std::uint64_t> save(const record& record) const;
  /// Errors: the record still exists.
  [[nodiscard]] result<void> remove(const std::string& name) const;

  [[nodiscard]] const std::string& folder() const { return folder_; }

 private:
  /// The open folders within it.
  struct parts {
    unique_fd runtimes;
    unique_fd temporary;
    unique_fd damaged;
  };
  record_files(std::string folder, unique_fd lock, parts parts)
      : folder_(std::move(folder)), lock_(std::move(lock)), within_(std::move(parts)) {}
  [[nodiscard]] std::string path_of(const std::string& file) const {
    return folder_ + "/runtimes/" + file;
  }
  [[nodiscard]] result<record> read(const std::string& file) const;
  [[nodiscard]] result<void> put_in_place(const std::string& file) const;
  [[nodiscard]] result<void> sync_runtimes() const;

  std::string folder_;
  unique_fd lock_;
  parts within_;
};

}  // namespace strata::daemon
