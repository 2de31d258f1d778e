// What the script is told of changes of the data: by on_write, on_delete and on_expire one by one,
// and by on_flush in batches, which are tried again until the script takes them.
//
// A change waits here with the value that it gave, so that a key may be evicted meanwhile. A later
// one of the same key takes its place. When too many wait, clients' changes are refused.
#pragma once

#include <atomic>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <deque>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "loop/condition.hpp"
#include "loop/task_group.hpp"
#include "options/figure_table.hpp"
#include "runtime/cache/engine/change_listener.hpp"
#include "runtime/cache/engine/database_key.hpp"
#include "runtime/cache/engine/engine.hpp"
#include "runtime/scripting/host.hpp"

namespace strata::runtime::cache {

struct behind_figures {
  options::counter unflushed;
  options::counter flushed;
  options::counter refused;
};

[[nodiscard]] const std::vector<options::bound_figure<behind_figures>>& behind_figure_table();

class write_behind final : private change_listener {
 public:
  write_behind(loop::loop& loop, engine& data, scripting::host& script);
  ~write_behind();
  write_behind(const write_behind&) = delete;
  write_behind& operator=(const write_behind&) = delete;

  /// The script has been loaded: it may have other functions than before.
  void heed_script();
  /// What changes now came out of the script's own store.
  void set_deaf(bool enabled) { is_deaf_ = enabled; }
  /// Awaits that all is told, until `limit` or until `hurried` is set; what is left then is lost,
  /// and logged.
  [[nodiscard]] loop::task<> drain(loop::time_point limit, const std::atomic<bool>& hurried);
  [[nodiscard]] const behind_figures& counted() const { return figures_; }

 private:
  enum class kind : std::uint8_t { write, erase, expire, clear };
  struct change {
    kind what = kind::write;
    database_key key;
    std::string value;                 // of a string
    std::int64_t expires_at_ms = -1;   // never
    std::string_view type;             // of another value than a string
    std::vector<std::string> command;  // that changed it
    bool is_told = false;              // by on_write and its kin
    /// It says all of the key.
    [[nodiscard]] bool is_whole() const { return command.empty() && what != kind::clear; }
  };

  void on_change(unsigned database, std::span<const std::string_view> words) override;
  void on_let_go(unsigned database, std::span<const std::string_view> words,
                 event_class why) override;
  void note_clear(unsigned database, std::span<const std::string_view> words);
  void note_key(unsigned database, std::string_view key, std::span<const std::string_view> words);
  void add(change&& change);
  void drop_first(std::size_t count);
  void watch_backlog();
  [[nodiscard]] bool is_wanted() const;

  loop::task<> run();
  loop::task<> tell_each(std::size_t count);
  /// How many the script has taken.
  loop::task<std::size_t> flush(std::size_t count);
  [[nodiscard]] nlohmann::json shown(const change& change) const;
  /// Seconds that its value has yet to live.
  [[nodiscard]] double life_of(const change& change) const;

  loop::loop& loop_;
  engine& data_;
  scripting::host& script_;
  behind_figures figures_;
  std::deque<change> waiting_;
  std::uint64_t first_ = 0;         // the number of the first that waits
  std::uint64_t frozen_until_ = 0;  // those before are being told, and are not changed
  // The number of a key's last change.
  boost::unordered_flat_map<database_key, std::uint64_t, database_key_hash, database_key_equal>
      last_;
  bool is_listening_ = false;
  bool is_deaf_ = false;
  bool is_refusing_ = false;
  bool is_ending_ = false;
  // As the script says.
  loop::duration gather_{};
  std::size_t most_at_once_ = 0;
  std::size_t most_waiting_ = 0;
  loop::condition changed_;
  loop::task_group tasks_;
};

}  // namespace strata::runtime::cache
