// Hears from the kernel (inotify(7)) which files below the folder that is served have changed, so
// that what is kept of them need not be looked at again and again.
//
// One loop's. It watches the folders on the way to each file that is followed: a file is another
// one, too, when a folder above it is replaced. It reaches them without symbolic links and without
// leaving the file system's mount, so that a path means one folder only.
//
// Not heard: a write through a hard link in another folder, a mount over a folder, a write through
// memory before it is unmapped. So whoever trusts it still looks at a file from time to time.
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
  /// Folders that are watched at a time. One that leads to no followed file gives way to others.
  static constexpr std::size_t most_folders = 1024;

  /// A file that is followed as long as this lives; it must end before the watch.
  class followed_file {
   public:
    followed_file(const followed_file&) = delete;
    followed_file& operator=(const followed_file&) = delete;
    ~followed_file();

    /// Nothing has happened to it, to FILE.br and FILE.gz, or to a folder above it. Once false, it
    /// stays so: follow the file again, and look at it then.
    [[nodiscard]] bool is_unchanged() const { return in_ != nullptr; }

   private:
    friend class change_watch;
    using names = std::multimap<std::string, followed_file*, std::less<>>;

    followed_file(change_watch& watch, folder& folder, std::string_view name);

    change_watch& watch_;
    folder* in_;  // null once it has changed
    names::iterator at_;
  };

  /// Null where changes cannot be heard: in a simulation, where the kernel gives no inotify, and on
  /// a file system that others change without this kernel (NFS, FUSE). `root` outlives it.
  [[nodiscard]] static std::unique_ptr<change_watch> open(loop::loop& loop, const file_root& root,
                                                          std::size_t at_most = most_folders);
  ~change_watch() override;

  /// `file` is below the root. What happens to it from now on is heard; so look at it afterwards.
  /// Null when its folder cannot be watched.
  [[nodiscard]] std::unique_ptr<followed_file> follow(std::string_view file);

 private:
  change_watch(loop::loop& loop, const file_root& root, unique_fd events, std::size_t at_most);

  void on_completion(loop::completion completion) override;
  void take_events();
  void hear(int watch, std::uint32_t what, std::string_view name);
  /// Says that the files of that name have changed.
  static void doubt(folder& folder, std::string_view name);
  /// Says that all files in and below the folder have changed, and watches it no longer.
  void forget(folder& top);
  void forget_all();
  /// The folder of that path, watched together with those above it, or null.
  [[nodiscard]] folder* reach(std::string_view path);
  [[nodiscard]] folder* add(std::string_view path, folder* above);
  /// Lets a folder that leads to no followed file give way to others.
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
