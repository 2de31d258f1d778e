// Reports changes of the data to the script: one by one to on_write, on_delete and on_expire, and
// in batches to on_flush, which are retried until the script accepts them.
//
// A change waits here with its value, so that the key may be evicted meanwhile. A later change of
// the same key replaces it. When too many wait, clients' changes are refused.
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

  /// Called when the script has been loaded: it may have other functions than before.
  void heed_script();
  /// Ignores changes while enabled: they come from the script's own store.
  void set_deaf(bool enabled) { is_deaf_ = enabled; }
  /// Waits until everything is reported, until `limit` or until `hurried` is set; the rest is then
  /// lost, and logged.
  [[nodiscard]] loop::task<> drain(loop::time_point limit, const std::atomic<bool>& hurried);
  [[nodiscard]] const behind_figures& counted() const { return figures_; }

 private:
  enum class kind : std::uint8_t { write, erase, expire, clear };
  struct change {
    kind what = kind::write;
    database_key key;
    std::string value;                 // for a string
    std::int64_t expires_at_ms = -1;   // -1: never
    std::string_view type;             // for a value other than a string
    std::vector<std::string> command;  // the command that made the change
    bool is_reported = false;          // reported to on_write and so on
    /// Reports whether the change contains the key's whole new state.
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
  loop::task<> report_each(std::size_t count);
  /// Returns how many changes the script has accepted.
  loop::task<std::size_t> flush(std::size_t count);
  [[nodiscard]] nlohmann::json shown(const change& change) const;
  /// Returns the remaining lifetime of its value in seconds.
  [[nodiscard]] double life_of(const change& change) const;

  loop::loop& loop_;
  engine& data_;
  scripting::host& script_;
  behind_figures figures_;
  std::deque<change> waiting_;
  std::uint64_t first_ = 0;         // number of the first waiting change
  std::uint64_t frozen_until_ = 0;  // earlier ones are being reported, and do not change
  // The number of the last change of a key.
  boost::unordered_flat_map<database_key, std::uint64_t, database_key_hash, database_key_equal>
      last_;
  bool is_listening_ = false;
  bool is_deaf_ = false;
  bool is_refusing_ = false;
  bool is_ending_ = false;
  // Set by the script.
  loop::duration gather_{};
  std::size_t most_at_once_ = 0;
  std::size_t most_waiting_ = 0;
  loop::condition changed_;
  loop::task_group tasks_;
};

}  // namespace strata::runtime::cache
