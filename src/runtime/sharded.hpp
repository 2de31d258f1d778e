// The base of a runtime that works in parts, each on a loop of its own: it starts and stops them,
// sums up their figures, and passes edits to them.
//
// A runtime type is a struct of options with its rows, a part, and a class that derives from
// `sharded<its options, its part>`: the class makes the parts, checks the options together, and
// overrides what is special about the type.
#pragma once

#include <atomic>
#include <cassert>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "loop/call_on.hpp"
#include "net/scheme.hpp"
#include "options/effects.hpp"
#include "runtime/options/labels.hpp"
#include "runtime/options/script_rights.hpp"
#include "runtime/runtime.hpp"
#include "serve/connection_gauge.hpp"

namespace strata::runtime {

/// One loop's part of a runtime. It is made on the home loop; then it is opened, used, closed and
/// destroyed on the thread of its own loop.
class part {
 public:
  part() = default;
  part(const part&) = delete;
  part& operator=(const part&) = delete;
  virtual ~part() = default;

  /// Begins its work. `targets`: where the runtime listens; the first part replaces ports that are
  /// 0; empty for a type that does not listen. After an error the part is closed too.
  [[nodiscard]] virtual loop::task<result<void>> open(std::vector<net::bind_target>& targets) = 0;
  /// Does what takes long at its start, once all parts are open: other runtimes may bind their
  /// ports meanwhile. After an error the part is closed too.
  [[nodiscard]] virtual loop::task<result<void>> begin() { co_return result<void>{}; }
  /// Takes no more connections, and waits until those that the kernel has handed over are served.
  [[nodiscard]] virtual loop::task<> stop_accepting() { co_return; }
  /// Stops receiving; earlier data is still delivered. All parts stop receiving before the first
  /// one is closed.
  virtual void stop_receiving() {}
  /// Ends its work; pending deliveries are given up at `limit`. All parts are closed before the
  /// first one is destroyed, so parts may still receive from each other.
  [[nodiscard]] virtual loop::task<> close(loop::time_point limit) = 0;

  /// Readable from any thread once the part is open.
  [[nodiscard]] virtual const counters& counted() const = 0;
};

/// How a runtime ended by itself.
struct own_end {
  bool is_work_done = false;        ///< otherwise it has failed
  bool are_restarts_spent = false;  ///< see `runtime::has_spent_its_restarts`
};

/// The lifecycle of the parts, which does not depend on options.
class runtime_of_parts : public runtime {
 public:
  explicit runtime_of_parts(context&& context) : context_(std::move(context)) {}

  loop::task<result<void>> start() final;
  loop::task<void> stop(loop::time_point limit) override;
  using runtime::stop;
  loop::task<void> stop_accepting() final;
  void hurry() final { hurried_ = true; }
  loop::task<void> wait_until_applied() final;
  loop::task<result<void>> rehearse() final;
  [[nodiscard]] std::vector<std::string> endpoints() const final {
    return bound_.empty() ? wanted_endpoints() : bound_;
  }
  [[nodiscard]] statistics stats() const final;
  [[nodiscard]] std::string failure_reason() const final { return reason_; }
  [[nodiscard]] bool has_done_its_work() const final { return end_.is_work_done; }
  [[nodiscard]] bool has_spent_its_restarts() const final { return end_.are_restarts_spent; }

 protected:
  // --- what a type says of itself
  using part_list = std::vector<std::unique_ptr<part>>;
  /// Makes the parts, one for each loop. None of them runs before all are made.
  [[nodiscard]] virtual part_list make_parts(const std::vector<loop::loop*>& loops) = 0;
  [[nodiscard]] virtual std::size_t wanted_loops() const { return 1; }
  /// A file that all parts append to, and that no other runtime may; empty: none.
  [[nodiscard]] virtual std::string written_file() const { return {}; }
  /// Reads the certificates for TLS clients, before parts are made; and drops them.
  [[nodiscard]] virtual result<void> open_identity() { return {}; }
  virtual void close_identity() {}
  /// Reads its certificates and trusted authorities again, for later connections. Returns false if
  /// it has none. Errors: those of a file; then the previous ones stay in force.
  [[nodiscard]] virtual loop::task<result<bool>> read_certificates() { co_return false; }
  /// Opens files again that may have been moved away. Returns false if it has none. Errors: those
  /// of a file; then the present one stays in use.
  virtual loop::task<result<bool>> open_files_again() { co_return false; }
  /// Called when the parts are closed but still exist: keeps their figures.
  virtual void keep_figures() { past_ = stats().past(); }

  // --- what a type uses
  [[nodiscard]] const context& given() const { return context_; }
  [[nodiscard]] bool has_parts() const { return !parts_.empty(); }
  [[nodiscard]] const part_list& parts() const { return parts_; }
  [[nodiscard]] loop::loop& loop_of(std::size_t index) const { return *loops_[index]; }
  /// The number of parts that were opened, or failed to open: they come first, and their figures
  /// count.
  [[nodiscard]] std::size_t opened() const { return opened_; }
  /// The connections of all parts together, since the last start.
  [[nodiscard]] serve::connection_gauge& connections() const { return *connections_; }
  /// Ends the runtime as failed. A part may call it, on its own loop, until it is closed.
  void fail(const std::string& why) { end_by_itself(why, {}); }
  /// Ends the runtime with its work done.
  void finish(const std::string& why) { end_by_itself(why, {.is_work_done = true}); }
  /// Ends the runtime as `end` says; as for `fail`.
  void end_by_itself(const std::string& why, own_end end);
  /// Set while a start or stop is to hurry, for parts that wait long in `open` or `close`. It lives
  /// as long as the runtime.
  [[nodiscard]] const std::atomic<bool>& hurried() const { return hurried_; }
  /// Reads the TLS files that the options name now, only for their errors: a restart that fails
  /// because of them would end what runs.
  [[nodiscard]] virtual result<void> try_certificates() const { return {}; }

 private:
  /// Fixes the present options as those of the parts. Errors: a referenced secret is not available.
  virtual result<void> prepare() = 0;
  /// Returns the result that `prepare` would have.
  [[nodiscard]] virtual result<void> try_secrets() const = 0;
  /// As configured.
  [[nodiscard]] virtual std::vector<std::string> wanted_endpoints() const = 0;
  loop::task<result<void>> make_and_open();
  loop::task<result<void>> bind();
  loop::task<result<void>> begin();
  loop::task<result<void>> open(std::vector<net::bind_target>& targets);

  context context_;
  std::vector<loop::loop*> loops_;
  std::unique_ptr<serve::connection_gauge> connections_;
  part_list parts_;  // in the order of the loops
  std::size_t opened_ = 0;
  std::vector<std::string> bound_;
  loop::file_claim written_;
  std::string reason_;
  own_end end_;
  std::atomic<bool> hurried_ = false;
  statistics past_;  // figures of earlier runs
};

/// What `urls` carry: "streams", "UDP", "Ethernet", "TLS", "WebSockets". A runtime's name may stand
/// for any of them.
[[nodiscard]] std::vector<std::string_view> carried_by(const std::vector<std::string>& urls);
/// Whether all that is `carried` comes by sockets that several processes can share: no Ethernet.
[[nodiscard]] bool is_shareable(const std::vector<std::string_view>& carried);

/// Sorts the keys of `changes` into those in force at once and those that need a restart.
[[nodiscard]] edit_outcome sort_changes(const std::vector<options::option_row>& rows,
                                        const nlohmann::json& changes, bool running);

/// An edit as passed to running parts.
template <class Options>
struct live_edit {
  Options now;             ///< all options, in force from now on
  nlohmann::json changes;  ///< the changed ones; none of them needs a restart
  std::uint64_t number;    ///< increases with each edit
};

/// `Options` has `endpoints()`, where the type listens or connects. `Part` derives from `part` and
/// has `apply(const live_edit<Options>&)`.
template <class Options, class Part>
class sharded : public runtime_of_parts {
 public:
  using table_type = std::vector<options::bound_row<Options>>;

  sharded(context&& context, const table_type& table)
      : runtime_of_parts(std::move(context)), table_(table), rows_(rows_of(table)) {}

  result<void> check_effects(const nlohmann::json& changes) const final {
    auto next = options_;
    if (auto applied = apply_json(next, table_, changes); !applied) return applied;
    auto checked =
        options::check_effects(rows_, changes, to_json(next, table_, true), carried(next));
    return checked ? check_given(next, changes) : checked;
  }
  result<edit_outcome> edit(const nlohmann::json& changes) final {
    auto next = options_;
    if (auto applied = apply_json(next, table_, changes); !applied) {
      return std::unexpected(applied.error());
    }
    if (auto checked = check_whole(next); !checked) return std::unexpected(checked.error());
    if (has_parts()) {
      auto filled = filled_in(next, running_, in_force_);
      if (!filled) return std::unexpected(filled.error());
      options_ = std::move(next);
      notify_parts(*filled);
    } else {
      options_ = std::move(next);
    }
    return sort_changes(rows_, changes, has_parts());
  }
  loop::task<result<reload_outcome>> reload() final {
    const auto has_opened = co_await open_files_again();
    if (!has_opened) co_return std::unexpected(has_opened.error());
    const auto has_read = co_await read_certificates();
    if (!has_read) co_return std::unexpected(has_read.error());
    if (pending_options().empty()) {
      const bool has_files = *has_opened || *has_read;
      co_return has_files ? reload_outcome::files_read : reload_outcome::nothing_to_read;
    }
    if (auto good = try_certificates(); !good) co_return std::unexpected(good.error());
    co_return reload_outcome::needs_restart;
  }
  [[nodiscard]] std::vector<std::string> pending_options() const final {
    std::vector<std::string> keys;
    if (!has_parts()) return keys;
    const auto changed = changed_options(running_, options_, table_);
    for (const auto& [key, value] : changed.items()) keys.push_back(key);
    return keys;
  }
  [[nodiscard]] nlohmann::json options(bool with_secrets) const final {
    return to_json(options_, table_, with_secrets);
  }
  [[nodiscard]] const runtime_options& common() const final { return options_; }

 protected:
  // --- what a type says of itself
  /// Checks that options, each valid alone, are valid together.
  [[nodiscard]] virtual result<void> check(const Options& options) const = 0;
  /// What the endpoints carry, in the words of the rows' `only_on`.
  [[nodiscard]] virtual std::vector<std::string_view> carried(const Options& next) const {
    return carried_by(next.endpoints());
  }
  /// Further checks of the options in `changes`, for values that are accepted if they were saved
  /// before.
  [[nodiscard]] virtual result<void> check_given(const Options& /*next*/,
                                                 const nlohmann::json& /*changes*/) const {
    return {};
  }

  // --- what a type uses
  /// As users set them.
  [[nodiscard]] const Options& wanted() const { return options_; }
  /// As the parts have them: options that need a restart have the values from when the parts were
  /// made, and references are replaced by their secrets.
  [[nodiscard]] const Options& running() const { return in_force_; }
  [[nodiscard]] Part& part_at(std::size_t index) const {
    return static_cast<Part&>(*parts()[index]);
  }
  /// Runs `work`, which does not wait, on the part's loop, and waits for its result.
  template <class Work>
  auto run_at(std::size_t index, Work work) {
    return loop::run_on(given().home, loop_of(index),
                        [&at = part_at(index), work = std::move(work)] { return work(at); });
  }
  /// Called by a part on its own loop when it has changed options by itself. `edit`: the number of
  /// the last edit that it had received. A later edit of the same option takes precedence.
  void adopt(const nlohmann::json& changes, std::uint64_t edit) {
    given().home.post([this, changes, edit] { take_over(changes, edit); });
  }

 private:
  [[nodiscard]] std::vector<std::string> wanted_endpoints() const final {
    return options_.endpoints();
  }
  result<void> prepare() final {
    auto filled = filled_in(options_, {}, {});
    if (!filled) return std::unexpected(filled.error());
    in_force_ = std::move(*filled);
    running_ = options_;
    edited_.clear();
    return {};
  }
  [[nodiscard]] result<void> try_secrets() const final {
    const auto filled = filled_in(options_, {}, {});
    if (!filled) return std::unexpected(filled.error());
    return {};
  }
  /// `options` with references replaced by their secrets; those that have not changed since
  /// `before` are taken from `known`.
  [[nodiscard]] result<Options> filled_in(Options options, const Options& before,
                                          const Options& known) const {
    if (auto read = options::fill_in_secrets(options, table_, before, known); !read) {
      return std::unexpected(read.error());
    }
    if (auto checked = check_whole(options); !checked) return std::unexpected(checked.error());
    return options;
  }
  [[nodiscard]] result<void> check_whole(const Options& options) const {
    if (auto checked = check_labels(options.label); !checked) return checked;
    if constexpr (std::derived_from<Options, script_options>) {
      if (const auto rights = script_rights_of(options); !rights) {
        return std::unexpected(rights.error());
      }
    }
    return check(options);
  }
  void take_over(const nlohmann::json& changes, std::uint64_t edit) {
    auto news = nlohmann::json::object();
    for (const auto& [key, value] : changes.items()) {
      const auto edited = edited_.find(key);
      if (edited == edited_.end() || edited->second <= edit) news[key] = value;
    }
    [[maybe_unused]] const auto wanted = apply_json(options_, table_, news);
    [[maybe_unused]] const auto running = apply_json(running_, table_, news);
    [[maybe_unused]] const auto in_force = apply_json(in_force_, table_, news);
    assert(wanted && running && in_force);
  }
  // Passes the changes that need no restart to the parts. `filled`: the options, with their
  // secrets.
  void notify_parts(const Options& filled) {
    const auto before = in_force_;
    apply_live(running_, table_, options_);
    apply_live(in_force_, table_, filled);
    live_edit<Options> edit{in_force_, changed_options(before, in_force_, table_), edit_ + 1};
    if (edit.changes.empty()) return;
    ++edit_;
    for (const auto& [key, value] : edit.changes.items()) edited_[key] = edit_;
    for (std::size_t i = 0; i < parts().size(); ++i) {
      loop_of(i).post([to = &part_at(i), edit] { to->apply(edit); });
    }
  }

  const table_type& table_;
  std::vector<options::option_row> rows_;
  Options options_;
  Options running_;                              // the parts' options, as users set them
  Options in_force_;                             // the same, with their secrets
  std::uint64_t edit_ = 0;                       // number of the last edit
  std::map<std::string, std::uint64_t> edited_;  // number of each option's last edit
};

/// Makes a runtime from its options. Errors: invalid_argument, for one option or for their
/// combination.
template <class Runtime>
[[nodiscard]] result<std::unique_ptr<runtime>> make_from(context&& context,
                                                         const nlohmann::json& options) {
  auto made = std::make_unique<Runtime>(std::move(context));
  if (auto read = made->edit(options); !read) return std::unexpected(read.error());
  return made;
}

}  // namespace strata::runtime
