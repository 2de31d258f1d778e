// Finds the file for a path, and keeps what was expensive to make: compressed files, and, if
// configured, small files as they are sent.
//
// A kept file is trusted until the kernel reports a change; a file whose changes are not reported
// is checked again once a second.
//
// Opening, checking and reading happen on the loop's thread, which waits for a slow disk.
#pragma once

#include <boost/intrusive/list.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "http/files/change_watch.hpp"
#include "http/files/content_coding.hpp"
#include "http/files/file_root.hpp"
#include "http/files/media_types.hpp"
#include "http/files/representation.hpp"
#include "http/files/request_path.hpp"
#include "loop/loop.hpp"

namespace strata::http {

struct catalog_settings {
  std::string folder;
  bool injects_script = false;
  bool keeps_files = false;
  std::uint64_t most_kept = 64U << 20U;  ///< total bytes kept
};

struct finding {
  std::shared_ptr<const representation> what;  ///< null: `status` is the reason
  int status = 200;                            ///< 301: a folder requested without the slash
  bool is_folder = false;                      ///< a folder without an index
};

class file_catalog {
 public:
  /// Largest kept file in bytes.
  static constexpr std::uint64_t largest_kept = 1U << 20U;

  [[nodiscard]] static result<std::unique_ptr<file_catalog>> open(loop::loop& loop,
                                                                  const catalog_settings& settings);
  file_catalog(const file_catalog&) = delete;
  file_catalog& operator=(const file_catalog&) = delete;
  ~file_catalog();

  /// `path` has passed its checks: it has no refusal.
  [[nodiscard]] finding find(const request_path& path, coding_preference preference);
  /// Keeps the bytes made for a representation whose storage was `to_be_made`.
  void keep_made(const representation& of, std::string_view bytes);
  [[nodiscard]] const file_root& root() const { return root_; }

 private:
  struct entry : boost::intrusive::list_base_hook<> {
    std::shared_ptr<const representation> what;
    loop::time_point checked;
    std::unique_ptr<change_watch::followed_file> follows;  // null: its changes are not reported

    [[nodiscard]] bool has_changed() const { return follows && !follows->is_unchanged(); }
    std::size_t cost = 0;
  };
  struct candidate;

  file_catalog(loop::loop& loop, file_root root, const catalog_settings& settings);

  [[nodiscard]] finding find_folder(std::string_view relative, int failed_with) const;
  /// Follows the file if it may be kept and its changes are reported.
  void follow(candidate& one, std::string_view name) const;
  /// Uses the compressed file beside it instead, if there is one that is not older.
  void take_variant(candidate& one, std::string_view name, coding_preference preference) const;
  /// Null if the file cannot be read.
  [[nodiscard]] std::shared_ptr<representation> make(candidate& one,
                                                     coding_preference preference) const;
  [[nodiscard]] bool is_trusted(const entry& known) const;
  [[nodiscard]] entry* find_entry(std::string_view key);
  void write_key(const request_path& path, coding_preference preference);
  [[nodiscard]] bool gets_kept(const representation& representation) const;
  void keep(std::shared_ptr<const representation> what,
            std::unique_ptr<change_watch::followed_file> follows);
  void drop(entry& entry);

  loop::loop& loop_;
  file_root root_;
  catalog_settings settings_;
  const media_types& types_;
  std::unique_ptr<change_watch> watch_;  // null: changes are not reported
  std::unordered_map<std::string_view, std::unique_ptr<entry>> entries_;  // own the keys
  boost::intrusive::list<entry> by_use_;                                  // newest first
  std::size_t kept_ = 0;
  std::string key_;  // key of the last search; its memory is reused
};

}  // namespace strata::http
