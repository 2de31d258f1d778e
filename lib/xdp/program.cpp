#include "strata/xdp/program.hpp"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_link.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <map>
#include <mutex>
#include <system_error>

#include "strata/base/unique_fd.hpp"
#include "strata/xdp/socket.hpp"
#include "xdp/attachment.hpp"
#include "xdp/bpf_words.hpp"
#include "xdp/dispatcher.hpp"
#include "xdp/filter_object.hpp"
#include "xdp/rule_table.hpp"

namespace strata::xdp {

namespace {

const char* const program_name = "strata_filter";

struct close_object {
  void operator()(bpf_object* object) const { bpf_object__close(object); }
};
using object = std::unique_ptr<bpf_object, close_object>;

result<object> opened_filter(const std::string& name) {
  listen_to_bpf_libraries();
  bpf_object_open_opts how{};
  how.sz = sizeof how;
  how.object_name = "strata";
  object opened(bpf_object__open_mem(filter_object, filter_object_size, &how));
  if (opened) return opened;
  return system_failure(errno, "open the XDP program for '" + name + "'");
}

result<void> load(bpf_object* object, const std::string& name) {
  if (bpf_object__load(object) == 0) return {};
  const int code = errno;
  const bool forbidden = code == EPERM || code == EACCES;
  auto failed =
      system_error(code, "load the XDP program for '" + name + "'",
                   forbidden ? "run it with CAP_BPF and CAP_NET_ADMIN, or use the daemon's broker"
                             : bpf_libraries_said());
  if (forbidden) failed.code = errc::permission_denied;
  return std::unexpected(std::move(failed));
}

/// An interface: the inode of its network namespace, and its index there.
using place = std::pair<ino_t, int>;

place place_of(int index) {
  struct stat found{};
  (void)::stat("/proc/thread-self/ns/net", &found);
  return {found.st_ino, index};
}

// The programs of this process.
std::mutex programs_lock;
std::map<place, std::weak_ptr<program>>& programs() {
  static std::map<place, std::weak_ptr<program>> all;
  return all;
}

}  // namespace

result<std::optional<attached_program>> attached_to(std::string_view interface_name) {
  const std::string name(interface_name);
  const auto index = index_of(name, "query the XDP program of '" + name + "'");
  if (!index) return std::unexpected(index.error());
  return attached_at(*index, name);
}

struct program::parts {
  int index;
  std::string name;
  object loaded;
  unique_fd link{};
  std::optional<dispatcher_seat> seat{};  // instead of `link`
  std::mutex lock{};                      // for the members below
  rule_table rules{};

  [[nodiscard]] int map(const char* text) const {
    return bpf_object__find_map_fd_by_name(loaded.get(), text);
  }
  [[nodiscard]] result<void> write_rules() const {
    const std::uint32_t only = 0;
    const auto written = rules.written();
    if (bpf_map_update_elem(map("strata_rules"), &only, &written, BPF_ANY) == 0) return {};
    return system_failure(errno, "set the filters of the XDP program of '" + name + "'");
  }
};

program::program(std::unique_ptr<parts> parts) : parts_(std::move(parts)) {}

program::~program() = default;

result<std::shared_ptr<program>> program::attach(std::string_view interface_name,
                                                 attach_mode mode) {
  const std::string name(interface_name);
  if (mode == attach_mode::hardware) {
    return failure(errc::not_supported, "attach an XDP program to '" + name + "' in hardware mode",
                   "strata's own program cannot run on a network card",
                   "load a program that can, and attach it as your own");
  }
  const auto found = index_of(name, "attach an XDP program to '" + name + "'");
  if (!found) return std::unexpected(found.error());
  const int index = *found;
  const std::lock_guard guard(programs_lock);
  std::erase_if(programs(), [](const auto& one) { return one.second.expired(); });
  if (auto there = programs()[place_of(index)].lock()) {
    const bool fits =
        mode == attach_mode::automatic || (mode == attach_mode::native) == there->is_native_;
    if (fits) return there;
    return failure(errc::conflict, "attach an XDP program to '" + name + "'",
                   std::string("this process has attached it in ") +
                       (there->is_native_ ? "native" : "generic") + " mode",
                   "use one mode for all sockets of an interface");
  }
  auto opened = opened_filter(name);
  if (!opened) return std::unexpected(opened.error());
  std::shared_ptr<program> made(
      new program(std::make_unique<parts>(index, name, std::move(*opened))));
  const auto shared = dispatcher_at(index, name);
  if (!shared) return std::unexpected(shared.error());
  auto linked = *shared ? made->join(**shared, mode) : made->link(mode);
  if (!linked) return std::unexpected(linked.error());
  programs()[place_of(index)] = made;
  return made;
}

result<void> program::join(const attached_program& dispatcher, attach_mode mode) {
  auto taken = dispatcher_seat::take(parts_->loaded.get(), program_name, parts_->index,
                                     parts_->name, mode, dispatcher.mode == attach_mode::native);
  if (!taken) return std::unexpected(taken.error());
  is_native_ = taken->is_native();
  if (!is_native_) reason_ = "the dispatcher is attached in generic mode";
  parts_->seat.emplace(std::move(*taken));
  return {};
}

result<void> program::link(attach_mode mode) {
  const auto& name = parts_->name;
  if (auto loaded = load(parts_->loaded.get(), name); !loaded) return loaded;
  const auto* const what = bpf_object__find_program_by_name(parts_->loaded.get(), program_name);
  const auto attach_as = [&](unsigned flags) {
    bpf_link_create_opts how{};
    how.sz = sizeof how;
    how.flags = flags;
    const int fd = bpf_link_create(bpf_program__fd(what), parts_->index, BPF_XDP, &how);
    if (fd < 0) return -fd;
    parts_->link.reset(fd);
    is_native_ = flags == XDP_FLAGS_DRV_MODE;
    return 0;
  };
  int code = EOPNOTSUPP;
  if (mode != attach_mode::generic) {
    code = attach_as(XDP_FLAGS_DRV_MODE);
    if (code != 0 && mode == attach_mode::automatic) {
      reason_ = "no native mode: " + std::system_category().message(code);
    }
  }
  const bool taken = code == EBUSY || code == EEXIST;
  if (code != 0 && !taken && mode != attach_mode::native) code = attach_as(XDP_FLAGS_SKB_MODE);
  if (code == 0) return {};
  if (code == EBUSY || code == EEXIST) return std::unexpected(conflict_at(name, code));
  auto failed = system_error(
      code, "attach an XDP program to '" + name + "' in " + text_of(mode) + " mode",
      mode == attach_mode::native ? "the driver may not support this mode, or not with this MTU or "
                                    "these offloads; `mode=generic` works with every driver"
                                  : "");
  if (mode == attach_mode::native && failed.code == errc::system) failed.code = errc::not_supported;
  return std::unexpected(std::move(failed));
}

result<route> program::add(const filter& filter, const socket& socket) {
  if (socket.interface_index() != parts_->index) {
    return failure(errc::invalid_argument,
                   "redirect frames of '" + parts_->name + "' to an AF_XDP socket",
                   "the socket belongs to another interface");
  }
  return add(filter, socket.fd(), socket.queue());
}

result<route> program::add(const filter& filter, int socket_fd, std::uint32_t queue) {
  const std::lock_guard guard(parts_->lock);
  const auto what = "redirect frames of queue " + std::to_string(queue) + " of '" + parts_->name +
                    "' to an AF_XDP socket";
  const auto taken = parts_->rules.take(filter, queue);
  if (!taken) {
    switch (taken.error()) {
      case rule_table::refusal::taken:
        return failure(errc::already_exists, what, "another socket of this process receives them",
                       "choose another filter or queue");
      case rule_table::refusal::full:
        return failure(errc::limit_exceeded, what, "the interface already has 16 filters");
      case rule_table::refusal::queue_too_high:
        return failure(errc::limit_exceeded, what, "a filter's queue is at most 63");
    }
  }
  const std::uint32_t key = taken->rule * rule_table::most_queues + queue;
  const auto fd = static_cast<std::uint32_t>(socket_fd);
  result<void> done;
  if (bpf_map_update_elem(parts_->map("strata_sockets"), &key, &fd, BPF_ANY) != 0) {
    done = system_failure(errno, what);
  } else if (taken->is_new) {
    done = parts_->write_rules();
  }
  if (!done) {
    parts_->rules.leave(taken->rule, queue);
    return std::unexpected(done.error());
  }
  return route(shared_from_this(), taken->rule, queue);
}

void program::remove(std::uint32_t rule, std::uint32_t queue) {
  const std::lock_guard guard(parts_->lock);
  const std::uint32_t key = rule * rule_table::most_queues + queue;
  // The entry is already gone if its socket was closed first.
  (void)bpf_map_delete_elem(parts_->map("strata_sockets"), &key);
  if (parts_->rules.leave(rule, queue)) (void)parts_->write_rules();
}

route& route::operator=(route&& other) noexcept {
  if (this == &other) return *this;
  leave();
  of_ = std::move(other.of_);
  rule_ = other.rule_;
  queue_ = other.queue_;
  return *this;
}

route::~route() { leave(); }

void route::leave() {
  if (of_) of_->remove(rule_, queue_);
  of_.reset();
}

}  // namespace strata::xdp
