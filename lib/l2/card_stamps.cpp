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

// Looks the interface up by its index, since it may be renamed meanwhile.
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

std::shared_ptr<card_stamps> card_stamps::on(const interface& interface, wanted_stamps stamps) {
  if (!stamps.received && !stamps.sent) return nullptr;
  struct stat space{};
  (void)::stat("/proc/thread-self/ns/net", &space);
  const card which{space.st_ino, interface.index};
  const std::lock_guard guard(cards_lock);
  std::erase_if(cards(), [](const auto& one) { return one.second.expired(); });
  if (const auto found = cards().find(which); found != cards().end()) {
    if (auto shared = found->second.lock()) return shared->add(stamps) ? shared : nullptr;
  }
  unique_fd asked(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto before = read_config(asked.get(), interface.index);
  if (!before) return nullptr;
  std::shared_ptr<card_stamps> made(new card_stamps(std::move(asked), interface.index, *before));
  if (!made->add(stamps)) return nullptr;
  cards()[which] = made;
  return made;
}

bool card_stamps::add(wanted_stamps stamps) {
  const auto now = read_config(asked_.get(), index_);
  if (!now) return false;
  auto next = *now;
  if (stamps.received) next.rx_filter = HWTSTAMP_FILTER_ALL;
  if (stamps.sent && next.tx_type == HWTSTAMP_TX_OFF) next.tx_type = HWTSTAMP_TX_ON;
  const wanted_stamps changed{next.rx_filter != now->rx_filter, next.tx_type != now->tx_type};
  if (!changed.received && !changed.sent) return true;
  if (!write_config(asked_.get(), index_, next)) return false;
  set_.received = set_.received || changed.received;
  set_.sent = set_.sent || changed.sent;
  return true;
}

card_stamps::~card_stamps() {
  if (!set_.received && !set_.sent) return;
  const auto now = read_config(asked_.get(), index_);
  if (!now) return;
  auto restored = *now;
  if (set_.received && now->rx_filter == HWTSTAMP_FILTER_ALL) {
    restored.rx_filter = before_.rx_filter;
  }
  if (set_.sent && now->tx_type == HWTSTAMP_TX_ON) restored.tx_type = before_.tx_type;
  if (restored.rx_filter == now->rx_filter && restored.tx_type == now->tx_type) return;
  (void)write_config(asked_.get(), index_, restored);
}

}  // namespace strata::l2
