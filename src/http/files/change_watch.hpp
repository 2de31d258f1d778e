// Receives from the kernel (inotify(7)) which files below the served folder have changed, so that
// cached files need not be checked repeatedly.
//
// For one loop. It watches the folders on the way to each followed file: replacing a folder above a
// file replaces the file too. It opens them without following symbolic links and without leaving
// the file system's mount, so that a path means one folder only.
//
// Not reported: a write through a hard link in another folder, a mount over a folder, a write
// through a memory mapping before it is unmapped. So cached files still need a check from time to
// time.
#pragma once

#include <boost/intrusive/list.hpp>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "http/files/file_root.hpp"
#include "loop/loop.hpp"

namespace strata::http {

class change_watch final : private loop::request {
  struct folder;

 public:
  /// Folders watched at a time. A folder that leads to no followed file is evicted for others.
  static constexpr std::size_t most_folders = 1024;

  /// A file that is followed while this object lives, which must be destroyed before the watch.
  class followed_file {
   public:
    followed_file(const followed_file&) = delete;
    followed_file& operator=(const followed_file&) = delete;
    ~followed_file();

    /// Whether nothing has happened to the file, to FILE.br and FILE.gz, or to a folder above it.
    /// A false answer is final: to go on, follow the file again.
    [[nodiscard]] bool is_unchanged() const { return in_ != nullptr; }

   private:
    friend class change_watch;
    using names = std::multimap<std::string, followed_file*, std::less<>>;

    followed_file(change_watch& watch, folder& folder, std::string_view name);

    change_watch& watch_;
    folder* in_;  // null once it has changed
    names::iterator at_;
  };

  /// Null where changes are not reported: in a simulation, without inotify, and on a file system
  /// that others change without this kernel (NFS, FUSE). `root` outlives the watch.
  [[nodiscard]] static std::unique_ptr<change_watch> open(loop::loop& loop, const file_root& root,
                                                          std::size_t at_most = most_folders);
  ~change_watch() override;

  /// Follows `file`, a path below the root. Changes from now on are reported, so check the file
  /// afterwards. Null if its folder cannot be watched.
  [[nodiscard]] std::unique_ptr<followed_file> follow(std::string_view file);

 private:
  change_watch(loop::loop& loop, const file_root& root, unique_fd events, std::size_t at_most);

  void on_completion(loop::completion completion) override;
  void take_events();
  void take_event(int watch, std::uint32_t what, std::string_view name);
  /// Marks the files of that name as changed.
  static void doubt(folder& folder, std::string_view name);
  /// Marks all files in and below the folder as changed, and stops watching it.
  void forget(folder& top);
  void forget_all();
  /// Returns the folder of that path, watched together with those above it, or null.
  [[nodiscard]] folder* reach(std::string_view path);
  [[nodiscard]] folder* add(std::string_view path, folder* above);
  /// Makes a folder that leads to no followed file evictable.
  void settle(folder& folder);

  using folders_by_path = std::map<std::string, std::unique_ptr<folder>, std::less<>>;
  folders_by_path::iterator drop(folders_by_path::iterator iterator);

  using unused_hook =
      boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

  loop::loop& loop_;
  const file_root& root_;
  std::size_t at_most_;
  loop::descriptor events_;
  folders_by_path folders_;
  std::unordered_map<int, folder*> by_watch_;
  boost::intrusive::list<folder, boost::intrusive::base_hook<unused_hook>,
                         boost::intrusive::constant_time_size<false>>
      unused_;
};

}  // namespace strata::http
