// Fetches missing keys by the script's on_miss. A key that several clients miss at the same time is
// fetched once. A key that a client writes meanwhile is not overwritten; if it was changed and is
// missing in the end, it is fetched again. What arrives while a client's script is interrupted
// waits for its end.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <memory>
#include <string>
#include <vector>

#include "loop/loop.hpp"
#include "runtime/cache/engine/change_listener.hpp"
#include "runtime/cache/engine/database_key.hpp"
#include "runtime/cache/engine/key_source.hpp"
#include "runtime/cache/scripting/own_client.hpp"
#include "runtime/scripting/host.hpp"

namespace strata::runtime::cache {

class read_through final : public key_source, private change_listener, private loop::turn_end_hook {
 public:
  /// `on_fill` is called with true before a fetched value is put into the cache, and with false
  /// afterwards.
  read_through(loop::loop& loop, engine& data, own_client& hand, const work_hooks& hooks,
               scripting::host& script, std::function<void(bool begins)> on_fill);
  ~read_through() override;

  /// Called when the script has been loaded.
  void heed_script();

  [[nodiscard]] answer fetch(unsigned database, std::string_view key) override;
  void note_removed(unsigned database, std::string_view key) override;
  [[nodiscard]] std::int64_t timeout_ms() const override { return timeout_ms_; }

 private:
  class fetching;
  struct outcome;

  void on_change(unsigned database, std::span<const std::string_view> words) override;
  void on_turn_end() override;
  void on_fetched(fetching& fetching, const script::finished& returned);
  [[nodiscard]] outcome read(const database_key& key, const script::finished& returned);
  void deliver(fetching& fetching);
  /// Reports whether the key was written or removed meanwhile, and is missing.
  [[nodiscard]] bool is_stale(const fetching& fetching);
  [[nodiscard]] std::string fill(const database_key& key, const outcome& value);
  void fail(const database_key& key, std::string_view why);

  loop::loop& loop_;
  engine& data_;
  own_client& hand_;
  const work_hooks& hooks_;
  scripting::host& script_;
  std::function<void(bool)> on_fill_;
  std::int64_t timeout_ms_ = 0;
  bool is_listening_ = false;
  bool is_filling_ = false;
  boost::unordered_flat_map<database_key, std::unique_ptr<fetching>, database_key_hash,
                            database_key_equal>
      fetching_;
  std::vector<database_key> fresh_;  // not yet passed to on_miss
};

}  // namespace strata::runtime::cache
