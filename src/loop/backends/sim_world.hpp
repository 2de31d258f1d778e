// A world for simulated loops: one virtual clock, one seeded source of randomness, and memory as
// the network. All events follow from the seed alone, so a failing seed fails again.
//
// Not thread-safe: the world and all its loops are for one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "loop/file_store.hpp"
#include "loop/names/address.hpp"
#include "loop/request.hpp"
#include "loop/timer.hpp"

namespace strata::loop {

class sim_loop;

/// The faults of the world. Probabilities are from 0 to 1, and each is tried once per event that it
/// can affect.
struct sim_faults {
  double short_read = 0.3;
  double short_write = 0.3;
  std::size_t buffers = 8;    ///< receive buffers of a loop; a receive that finds none waits
  double no_buffers = 0.05;   ///< a receive ends with -ENOBUFS
  double reset = 0;           ///< a segment's arrival becomes a connection reset
  double accept_failure = 0;  ///< an accept ends with -EMFILE
  double datagram_loss = 0;
  double datagram_duplicate = 0;
  duration max_delay = std::chrono::milliseconds(2);  ///< for a segment, datagram or completion
  bool disk_full = false;
  double sync_failure = 0;  ///< unsynced bytes are then lost in a crash, though the next sync
                            ///< returns 0
  double folder_sync_failure = 0;
};

class sim_world final : public file_store {
 public:
  explicit sim_world(std::uint64_t seed);
  virtual ~sim_world();
  sim_world(const sim_world&) = delete;
  sim_world& operator=(const sim_world&) = delete;

  sim_faults faults;
  /// The addresses of host names; other names are parsed as addresses. For a name without an
  /// address, no name server answers.
  std::map<std::string, std::vector<std::string>> names;
  /// Addresses that never answer.
  std::set<std::string> black_holes;

  /// Adds a loop to this world; it lives as long as the world.
  sim_loop& add_loop();

  /// Runs until `done()` or until `limit` of virtual time has passed; reports whether it was done.
  bool run_until(const std::function<bool()>& done, duration limit);
  void run_for(duration span);

  /// Completes the pending work of all loops except `kept`, and ends their tasks: before objects
  /// that the tasks use are destroyed.
  void end_tasks_beside(const sim_loop& kept);

  [[nodiscard]] time_point now() const { return now_; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  /// Returns a random number from 0 to `below` - 1.
  std::uint64_t draw(std::uint64_t below) { return below == 0 ? 0 : random_() % below; }
  bool chance(double probability);
  /// Returns the bytes written to a file.
  [[nodiscard]] const std::string& file(const std::string& path) { return files_[path].bytes; }

  /// A file, and how much of it is certainly on the disk.
  struct stored_file {
    std::string bytes;
    std::size_t safe = 0;
    bool is_torn = false;  ///< a sync failed: bytes beyond `safe` never become safe
  };
  using disk = std::map<std::string, stored_file>;
  /// Returns the disk as a machine finds it after losing its power now: of the unsynced bytes, a
  /// part.
  [[nodiscard]] disk disk_after_crash();
  void set_disk(disk disk) { files_ = std::move(disk); }

  result<std::unique_ptr<file_view>> open(const std::string& path) override;
  [[nodiscard]] bool exists(const std::string& path) override { return files_.contains(path); }
  result<void> truncate(const std::string& path, std::uint64_t size) override;
  result<void> rename(const std::string& text, const std::string& destination) override;
  result<void> sync_folder_of(const std::string& path) override;
  result<void> remove(const std::string& path) override;
  /// The number of open sockets and files: 0 if nothing leaked.
  [[nodiscard]] std::size_t open_count() const;

 private:
  friend class sim_loop;

  struct endpoint;
  struct sim_operation;

  void schedule(duration delay, std::function<void()> what);
  duration random_delay();
  bool step(time_point until);

  int add(std::unique_ptr<endpoint> endpoint);
  [[nodiscard]] endpoint* find(int fd);
  void close(int fd);
  void start(sim_operation& operation);
  void cancel(sim_operation& operation);
  void finish(sim_operation& operation, int result, bool more = false);
  endpoint* listener_for(const socket_address& address);
  endpoint* datagram_for(const socket_address& address);
  std::uint16_t free_port();

  void begin_connect(sim_operation& operation);
  void arrive_connection(std::uint64_t client_id, const socket_address& address);
  void progress(endpoint& endpoint);
  void progress_accept(endpoint& endpoint);
  void progress_receive(endpoint& endpoint);
  void progress_send(endpoint& endpoint);
  void progress_datagrams(endpoint& endpoint);
  [[nodiscard]] bool finds_buffer(endpoint& endpoint);
  /// Resumes the receives that found no buffer.
  void feed(const std::vector<std::uint64_t>& starved);
  void send_datagram(endpoint& endpoint, sim_operation& operation);
  void write_file(endpoint& endpoint, sim_operation& operation);
  void sync_file(endpoint& endpoint, sim_operation& operation);
  void transmit(endpoint& endpoint, std::string bytes);
  void transmit_end(endpoint& endpoint, bool reset);
  void reset_pair(endpoint& one);
  [[nodiscard]] endpoint* by_id(std::uint64_t id);

  std::uint64_t seed_;
  std::mt19937_64 random_;
  time_point now_{std::chrono::hours(1)};
  std::uint64_t next_id_ = 1;
  std::uint16_t next_port_ = 40000;
  std::multimap<time_point, std::function<void()>> scheduled_;
  std::vector<std::unique_ptr<endpoint>> endpoints_;  // by descriptor; null if free
  std::map<std::uint64_t, sim_operation*> operations_;
  disk files_;
  disk replaced_;  // files replaced by a rename, until the folder is synced
  std::vector<std::unique_ptr<sim_loop>> loops_;
};

}  // namespace strata::loop
