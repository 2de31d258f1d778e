// One loop's part of a cache, in the common framework of runtimes: the first has the engine, the
// others are outposts.
#pragma once

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/cache/serving/outpost.hpp"
#include "runtime/cache/serving/shard.hpp"
#include "runtime/sharded.hpp"

namespace strata::runtime::cache {

class cache_part : public part {
 public:
  virtual void apply(const live_edit<cache_options>& edit) = 0;
  /// Returns null if there is none.
  [[nodiscard]] virtual cache_script* script() const { return nullptr; }
};

/// Creates the shard on the loop's thread, so that its memory is accounted to that thread.
class engine_part final : public cache_part {
 public:
  /// Where the data lies that a daemon hands over to the next one.
  struct handover {
    std::string file;                 ///< empty: there is none
    const std::atomic<bool>& is_due;  ///< the end leaves the data there
  };
  engine_part(loop::loop& loop, cache_options options, serve::connection_gauge& gauge,
              std::shared_ptr<journal> log, std::shared_ptr<tap> tap,
              std::shared_ptr<net::tls_slot> identity, shard::events events,
              scripting::identity who, const std::atomic<bool>& hurried, handover handover)
      : loop_(loop),
        options_(std::move(options)),
        gauge_(gauge),
        log_(std::move(log)),
        tap_(std::move(tap)),
        identity_(std::move(identity)),
        events_(std::move(events)),
        who_(std::move(who)),
        hurried_(hurried),
        handover_(std::move(handover)) {}

  [[nodiscard]] loop::task<result<void>> open(std::vector<net::bind_target>& targets) override {
    shard_ = std::make_unique<shard>(loop_, options_, gauge_, log_, tap_, std::move(events_),
                                     std::move(who_), handover_.file);
    auto loaded = co_await shard_->load();
    if (!loaded) co_return loaded;
    co_return shard_->open(targets, identity_);
  }
  [[nodiscard]] loop::task<result<void>> save(loop::time_point limit,
                                              const std::atomic<bool>& hurried) {
    return shard_->save(limit, hurried);
  }
  [[nodiscard]] loop::task<> stop_accepting() override { return shard_->stop_accepting(); }
  [[nodiscard]] loop::task<> close(loop::time_point limit) override {
    return shard_->close(limit, hurried_, handover_.is_due);
  }
  [[nodiscard]] result<bool> read_certificates() { return shard_->read_certificates(); }
  void note_record_trouble(const std::string& trouble) { shard_->note_record_trouble(trouble); }
  [[nodiscard]] std::vector<client_report> report() const { return shard_->report(); }
  [[nodiscard]] bool disconnect(std::uint64_t id) { return shard_->disconnect(id); }
  void apply(const live_edit<cache_options>& edit) override {
    shard_->apply(edit.changes, edit.number);
  }
  /// Only once it is open.
  [[nodiscard]] shard& opened() { return *shard_; }

  [[nodiscard]] const counters& counted() const override { return shard_->counted(); }
  [[nodiscard]] const key_figures& counted_keys() const { return shard_->counted_keys(); }
  [[nodiscard]] cache_script* script() const override { return shard_->script(); }

 private:
  loop::loop& loop_;
  cache_options options_;
  serve::connection_gauge& gauge_;
  std::shared_ptr<journal> log_;
  std::shared_ptr<tap> tap_;
  std::shared_ptr<net::tls_slot> identity_;
  shard::events events_;
  scripting::identity who_;
  const std::atomic<bool>& hurried_;  // the runtime's
  handover handover_;
  std::unique_ptr<shard> shard_;  // null until opened
};

class outpost_part final : public cache_part {
 public:
  /// `engine` is opened before it, and closed with it.
  outpost_part(loop::loop& loop, serve::connection_gauge& gauge, std::shared_ptr<journal> log,
               std::shared_ptr<net::tls_slot> identity, engine_part& engine)
      : loop_(loop),
        gauge_(gauge),
        log_(std::move(log)),
        identity_(std::move(identity)),
        engine_(engine) {}

  [[nodiscard]] loop::task<result<void>> open(std::vector<net::bind_target>& targets) override {
    auto& engine = engine_.opened();
    outpost_ = std::make_unique<outpost>(loop_, engine.admits(), gauge_, log_, engine.at_landing());
    co_return outpost_->open(targets, identity_);
  }
  [[nodiscard]] loop::task<> stop_accepting() override { return outpost_->stop_accepting(); }
  [[nodiscard]] loop::task<> close(loop::time_point limit) override {
    return outpost_->close(limit);
  }
  /// The engine's part does, for all loops.
  void apply(const live_edit<cache_options>& /*edit*/) override {}
  [[nodiscard]] const counters& counted() const override { return outpost_->counted(); }

 private:
  loop::loop& loop_;
  serve::connection_gauge& gauge_;
  std::shared_ptr<journal> log_;
  std::shared_ptr<net::tls_slot> identity_;
  engine_part& engine_;
  std::unique_ptr<outpost> outpost_;  // null until opened
};

}  // namespace strata::runtime::cache
