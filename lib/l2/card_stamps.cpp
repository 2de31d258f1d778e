#include "l2/card_stamps.hpp"

#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace strata::l2 {

namespace {

// By its index, since it may be renamed meanwhile.
std::optional<ifreq> request_for(int fd, int index, hwtstamp_config& config) {
  ifreq request{};
  request.ifr_ifindex = index;
  if (::ioctl(fd, SIOCGIFNAME, &request) != 0) return std::nullopt;
  request.ifr_data = reinterpret_cast<char*>(&config);
  return request;
}

std::optional<hwtstamp_config> read_config(int fd, int index) {
  hwtstamp_config config{};
  auto request = request_for(fd, index, config);
  if (!request || ::ioctl(fd, SIOCGHWTSTAMP, &*request) != 0) return std::nullopt;
  return config;
}

bool write_config(int fd, int index, hwtstamp_config config) {
  auto request = request_for(fd, index, config);
  return request && ::ioctl(fd, SIOCSHWTSTAMP, &*request) == 0;
}

// An interface: the inode of its network namespace, and its index there.
using card = std::pair<ino_t, int>;

std::mutex cards_lock;
std::map<card, std::weak_ptr<card_stamps>>& cards() {
  static std::map<card, std::weak_ptr<card_stamps>> all;
  return all;
}

}  // namespace

std::shared_ptr<card_stamps> card_stamps::on(const interface& on) {
  struct stat space{};
  (void)::stat("/proc/thread-self/ns/net", &space);
  const card which{space.st_ino, on.index};
  const std::lock_guard guard(cards_lock);
  std::erase_if(cards(), [](const auto& one) { return one.second.expired(); });
  if (const auto found = cards().find(which); found != cards().end()) {
    if (auto shared = found->second.lock()) return shared;
  }
  unique_fd asked(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto before = read_config(asked.get(), on.index);
  if (!before) return nullptr;
  auto wanted = *before;
  wanted.rx_filter = HWTSTAMP_FILTER_ALL;
  const bool is_set = before->rx_filter == HWTSTAMP_FILTER_ALL;
  if (!is_set && !write_config(asked.get(), on.index, wanted)) return nullptr;
  std::shared_ptr<card_stamps> made(new card_stamps(std::move(asked), on.index, *before));
  cards()[which] = made;
  return made;
}

card_stamps::~card_stamps() {
  const auto now = read_config(asked_.get(), index_);
  if (!now || now->rx_filter == before_.rx_filter || now->rx_filter != HWTSTAMP_FILTER_ALL) return;
  auto restored = *now;
  restored.rx_filter = before_.rx_filter;
  (void)write_config(asked_.get(), index_, restored);
}

}  // namespace strata::l2
