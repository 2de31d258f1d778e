// Cards as files in a folder that several daemons use, on one machine or on a network disk.
//
//   FOLDER/NAME.card   the card of the daemon NAME
//   FOLDER/NAME.lock   locked (flock(2)) by the process that holds the name
//   FOLDER/NAME.new    a card being written
//
// All members wait for the disk.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "strata/base/result.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::cluster {

/// What tells two contents of one file name apart: a card is never changed in place. Times are
/// those of the disk's machine, so they are compared with each other only.
struct file_version {
  ino_t inode = 0;
  off_t size = 0;
  std::int64_t changed_s = 0;
  std::int64_t changed_ns = 0;
  bool operator==(const file_version&) const = default;
};

class card_files {
 public:
  /// Creates the folder (mode 0700) if there is none. Errors: it cannot be used; permission_denied
  /// if every user may write there. Later it may be removed and made again.
  [[nodiscard]] static result<card_files> open(std::string folder);

  /// Errors: connection_closed if the folder is not there, so that nothing is known of its cards.
  [[nodiscard]] result<void> check() const;
  /// Returns the lock of a name. Errors: conflict if another process has it; not_supported if the
  /// disk knows no locks.
  [[nodiscard]] result<unique_fd> lock(const std::string& daemon) const;
  /// Replaces a card: the old one stands there, or the new one. Errors: no_space, …: the card is
  /// unchanged.
  [[nodiscard]] result<void> write(const std::string& daemon, std::string_view text) const;
  /// Errors: not_found; malformed if it is no file, or longer than a card.
  [[nodiscard]] result<std::string> read(const std::string& daemon) const;
  /// Removes a card, if there is one.
  [[nodiscard]] result<void> remove(const std::string& daemon) const;
  /// Returns the cards that are there, by the names of their daemons.
  [[nodiscard]] result<std::map<std::string, file_version>> list() const;

 private:
  explicit card_files(std::string folder) : folder_(std::move(folder)) {}
  [[nodiscard]] std::string path_of(const std::string& daemon, std::string_view suffix) const;

  std::string folder_;
};

}  // namespace strata::cluster
