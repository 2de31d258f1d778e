// State shared by the loops of a proxy: the state of each backend, the addresses and runtimes
// behind names, and how many clients wait for a backend with room.
//
// For any thread. Reads for each connection and request take no lock; adding and removing backends,
// and results of look-ups, take one.
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

/// Shared by the backends of a route together.
struct route_standing {
  std::atomic<bool> is_panicking = false;
};

/// One of the places behind a name.
struct sighting {
  std::string host;
  std::optional<loop::socket_address> at;
  bool is_neighbour = false;  ///< on another daemon of this one's zone

  bool operator==(const sighting&) const = default;
};

class shared_view {
 public:
  explicit shared_view(std::size_t loops) : members_(loops) {}
  shared_view(const shared_view&) = delete;
  shared_view& operator=(const shared_view&) = delete;
  ~shared_view() = default;

  /// Registers how a loop is notified of news, on its thread: of free places, and of results of
  /// look-ups. Call it for all loops before the first of them runs. A loop is not notified any more
  /// once no other loop runs and no client waits on it.
  void enroll(std::size_t number, loop::loop& loop, std::function<void()> on_places,
              std::function<void()> on_names);

  /// The shared state of the backend, or of a whole route, with that key; created if no loop has
  /// it.
  [[nodiscard]] std::shared_ptr<standing> backend_of(const std::string& key);
  [[nodiscard]] std::shared_ptr<route_standing> route_of(const std::string& key);

  /// Takes a place in the queue of `most`, shared by all loops. Returns false if there is none.
  [[nodiscard]] bool enter_queue(std::size_t number, std::uint64_t most);
  void leave_queue(std::size_t number);
  [[nodiscard]] bool is_queue_full(std::uint64_t most) const { return waiting_.load() >= most; }
  /// Reports a free place at a backend to the loops with waiting clients. The own loop comes last,
  /// so that it does not take what others have waited for longer. Cheap while no client waits.
  void call(std::size_t number) {
    if (waiting_.load() != 0) call_members(number);
  }

  /// Publishes the places behind a name to the other loops: called by the loop that looks names up.
  void publish(std::size_t number, const std::string& name, std::vector<sighting> sightings);
  void withdraw(const std::string& name);
  /// Sets why a name cannot be looked up; empty: it can be again.
  void set_trouble(const std::string& name, std::string reason);
  /// The reason for the first name that has one; otherwise empty.
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
  mutable std::mutex lock_;  // guards the members below
  register_of<standing> backends_;
  register_of<route_standing> routes_;
  std::map<std::string, std::vector<sighting>> names_;
  std::map<std::string, std::string> troubles_;  ///< by name
};

}  // namespace strata::runtime::proxy
