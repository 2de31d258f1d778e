#include "http/files/change_watch.hpp"

#include <fmt/format.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "loop/os_loop.hpp"

namespace strata::http {

namespace {

constexpr std::uint32_t folder_events = IN_CLOSE_WRITE | IN_MODIFY | IN_ATTRIB | IN_MOVED_TO |
                                        IN_MOVED_FROM | IN_DELETE | IN_CREATE | IN_DELETE_SELF |
                                        IN_MOVE_SELF | IN_ONLYDIR;
// A flood of events must not block the loop: the rest is read in its next turn.
constexpr int most_reads = 16;
// Endings of the files that are sent in another file's place.
constexpr std::array<std::string_view, 2> variant_endings = {".br", ".gz"};

// Whether only this kernel changes the file system. Others may change on another machine without an
// event.
bool is_local(int folder) {
  constexpr std::uint32_t zfs_magic = 0x2FC12FC1;
  constexpr std::array<std::uint32_t, 8> local = {
      EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC, F2FS_SUPER_MAGIC,
      TMPFS_MAGIC,      RAMFS_MAGIC,     zfs_magic,         OVERLAYFS_SUPER_MAGIC};
  struct statfs of{};
  if (::fstatfs(folder, &of) != 0) return false;
  return std::ranges::find(local, static_cast<std::uint32_t>(of.f_type)) != local.end();
}

}  // namespace

struct change_watch::folder : unused_hook {
  std::string path;  // below the root; empty: the root itself
  int watch = -1;
  folder* above = nullptr;
  std::size_t below = 0;  // number of watched folders in it
  followed_file::names files;
};

change_watch::followed_file::followed_file(change_watch& watch, folder& folder,
                                           std::string_view name)
    : watch_(watch), in_(&folder), at_(folder.files.emplace(name, this)) {}

change_watch::followed_file::~followed_file() {
  if (in_ == nullptr) return;
  in_->files.erase(at_);
  watch_.settle(*in_);
}

std::unique_ptr<change_watch> change_watch::open(loop::loop& loop, const file_root& root,
                                                 std::size_t at_most) {
  if (!loop::polls_kernel_descriptors(loop)) return nullptr;
  const auto folder = root.open_itself("");
  if (!folder || !is_local(folder.get())) return nullptr;
  unique_fd events(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!events) return nullptr;
  return std::unique_ptr<change_watch>(new change_watch(loop, root, std::move(events), at_most));
}

change_watch::change_watch(loop::loop& loop, const file_root& root, unique_fd events,
                           std::size_t at_most)
    : loop_(loop), root_(root), at_most_(at_most), events_(loop.adopt(events.release())) {
  loop_.poll(events_, POLLIN, *this);
}

change_watch::~change_watch() { abandon(); }

std::unique_ptr<change_watch::followed_file> change_watch::follow(std::string_view file) {
  if (!under_way()) return nullptr;  // the kernel has ended the watch
  const auto slash = file.rfind('/');
  const bool is_deep = slash != std::string_view::npos;
  auto* const in = reach(is_deep ? file.substr(0, slash) : std::string_view{});
  if (in == nullptr) return nullptr;
  if (in->is_linked()) in->unlink();
  return std::unique_ptr<followed_file>(
      new followed_file(*this, *in, is_deep ? file.substr(slash + 1) : file));
}

// Works from the root down: a folder is watched before the folder below it is opened, so its
// replacement is noticed.
change_watch::folder* change_watch::reach(std::string_view path) {
  folder* in = nullptr;
  for (std::size_t end = 0;; end = std::min(path.find('/', end + 1), path.size())) {
    const auto found = folders_.find(path.substr(0, end));
    in = found != folders_.end() ? found->second.get() : add(path.substr(0, end), in);
    if (in == nullptr || end == path.size()) return in;
  }
}

change_watch::folder* change_watch::add(std::string_view path, folder* above) {
  if (above != nullptr) {  // it must not be evicted before its subfolder
    ++above->below;
    if (above->is_linked()) above->unlink();
  }
  if (folders_.size() >= at_most_ && !unused_.empty()) forget(unused_.front());
  int watch = -1;
  if (folders_.size() < at_most_) {
    if (const auto opened = root_.open_itself(path)) {
      const auto place = fmt::format("/proc/self/fd/{}", opened.get());
      watch = ::inotify_add_watch(events_.fd(), place.c_str(), folder_events);
    }
  }
  // A folder has one watch, whatever its path is: it belongs to the first path.
  if (watch < 0 || by_watch_.contains(watch)) {
    if (above != nullptr) {
      --above->below;
      settle(*above);
    }
    return nullptr;
  }
  auto made = std::make_unique<folder>();
  made->path = path;
  made->watch = watch;
  made->above = above;
  auto& added = *made;
  by_watch_.emplace(watch, &added);
  folders_.emplace(path, std::move(made));
  settle(added);
  return &added;
}

void change_watch::settle(folder& folder) {
  if (folder.files.empty() && folder.below == 0 && !folder.is_linked()) unused_.push_back(folder);
}

void change_watch::on_completion(loop::completion completion) {
  if (completion.result < 0) {
    forget_all();
    return;
  }
  take_events();
  loop_.poll(events_, POLLIN, *this);
}

void change_watch::take_events() {
  alignas(inotify_event) std::array<char, 16U << 10U> room;
  for (int reads = 0; reads < most_reads; ++reads) {
    const auto got = ::read(events_.fd(), room.data(), room.size());
    if (got <= 0) return;
    for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
      inotify_event event;
      std::memcpy(&event, room.data() + at, sizeof event);
      at += sizeof event;
      const auto* const name = room.data() + at;  // padded with zeros
      take_event(event.wd, event.mask, {name, ::strnlen(name, event.len)});
      at += event.len;
    }
  }
}

void change_watch::take_event(int watch, std::uint32_t what, std::string_view name) {
  if ((what & IN_Q_OVERFLOW) != 0) {
    forget_all();
    return;
  }
  const auto found = by_watch_.find(watch);
  if (found == by_watch_.end()) return;  // from before the folder was forgotten
  auto& in = *found->second;
  if (name.empty()) {  // about the folder itself: its permissions, its place, or its removal
    forget(in);
    return;
  }
  if ((what & IN_ISDIR) != 0) {
    const auto path = in.path.empty() ? std::string(name) : fmt::format("{}/{}", in.path, name);
    if (const auto below = folders_.find(path); below != folders_.end()) forget(*below->second);
    return;
  }
  doubt(in, name);
  for (const auto ending : variant_endings) {
    if (name.ends_with(ending)) doubt(in, name.substr(0, name.size() - ending.size()));
  }
  settle(in);
}

void change_watch::doubt(folder& folder, std::string_view name) {
  const auto [first, last] = folder.files.equal_range(name);
  for (auto each = first; each != last; ++each) each->second->in_ = nullptr;
  folder.files.erase(first, last);
}

void change_watch::forget(folder& top) {
  if (top.above == nullptr) {
    forget_all();
    return;
  }
  auto& above = *top.above;
  const auto path = top.path;
  const auto beginning = path + '/';
  drop(folders_.find(path));
  for (auto each = folders_.lower_bound(beginning);
       each != folders_.end() && each->first.starts_with(beginning);) {
    each = drop(each);
  }
  --above.below;
  settle(above);
}

void change_watch::forget_all() {
  for (auto each = folders_.begin(); each != folders_.end();) each = drop(each);
}

change_watch::folders_by_path::iterator change_watch::drop(folders_by_path::iterator iterator) {
  auto& gone = *iterator->second;
  for (const auto& [name, file] : gone.files) file->in_ = nullptr;
  by_watch_.erase(gone.watch);
  ::inotify_rm_watch(events_.fd(), gone.watch);  // fails when the kernel has ended it
  return folders_.erase(iterator);
}

}  // namespace strata::http
