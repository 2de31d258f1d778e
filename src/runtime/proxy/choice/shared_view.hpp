// What the loops of a proxy know together: how each backend stands, which addresses and runtimes
// names lead to, and how many wait for a backend that is not full.
//
// For any thread. What each connection and request reads takes no lock; backends that come and go,
// and names that have been looked up, take one.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "loop/loop.hpp"
#include "runtime/proxy/choice/standing.hpp"

namespace strata::runtime::proxy {

/// Of the backends of a route together.
struct route_standing {
  std::atomic<bool> is_panicking = false;
};

/// One of those that a name leads to.
struct sighting {
  std::string host;
  std::optional<loop::socket_address> at;

  bool operator==(const sighting&) const = default;
};

class shared_view {
 public:
  explicit shared_view(std::size_t loops) : members_(loops) {}
  shared_view(const shared_view&) = delete;
  shared_view& operator=(const shared_view&) = delete;
  ~shared_view() = default;

  /// Says how a loop is told of news, on its thread: that there are places, and what names lead to.
  /// To be called for all loops before the first of them works. A loop is told nothing once none of
  /// the others works and nobody waits on it.
  void enroll(std::size_t number, loop::loop& loop, std::function<void()> on_places,
              std::function<void()> on_names);

  /// How the backend stands, or all of a route, that goes by this key; new, if no loop has it.
  [[nodiscard]] std::shared_ptr<standing> backend_of(const std::string& key);
  [[nodiscard]] std::shared_ptr<route_standing> route_of(const std::string& key);

  /// Takes a place in the queue, of `most` for all loops together. False: there is none.
  [[nodiscard]] bool enter_queue(std::size_t number, std::uint64_t most);
  void leave_queue(std::size_t number);
  [[nodiscard]] bool is_queue_full(std::uint64_t most) const { return waiting_.load() >= most; }
  /// A place at a backend is free: loops on which somebody waits are told. The own one comes last,
  /// so that it does not take what others have waited for as long. Cheap while nobody waits.
  void call(std::size_t number) {
    if (waiting_.load() != 0) call_members(number);
  }

  /// One loop looks names up and says what they lead to; the others are told.
  void publish(std::size_t number, const std::string& name, std::vector<sighting> sightings);
  void withdraw(const std::string& name);
  /// Why a name cannot be looked up; empty: it can be again.
  void set_trouble(const std::string& name, std::string reason);
  /// Of the first name that has any; else empty.
  [[nodiscard]] std::string trouble() const;
  /// Nullopt: it has not been looked up yet.
  [[nodiscard]] std::optional<std::vector<sighting>> found(const std::string& name) const;

 private:
  struct member {
    loop::loop* on = nullptr;
    std::function<void()> on_places;
    std::function<void()> on_names;
    std::atomic<std::uint64_t> waiting = 0;
  };
  template <class Kept>
  using register_of = std::map<std::string, std::weak_ptr<Kept>>;
  template <class Kept>
  [[nodiscard]] std::shared_ptr<Kept> kept_in(register_of<Kept>& all, const std::string& key);
  void call_members(std::size_t number);

  std::vector<member> members_;
  std::atomic<std::uint64_t> waiting_ = 0;
  mutable std::mutex lock_;  // of what follows
  register_of<standing> backends_;
  register_of<route_standing> routes_;
  std::map<std::string, std::vector<sighting>> names_;
  std::map<std::string, std::string> troubles_;  ///< by name
};

}  // namespace strata::runtime::proxy
