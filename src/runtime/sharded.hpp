// The skeleton of a runtime that works in parts, each on a loop of its own: it starts and stops
// them, sums up what they count, and tells them of edits.
//
// A runtime type is a struct of options with its rows, a part, and a class that derives from
// `sharded<its options, its part>`: that says how parts are made and which options make sense, and
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

  /// Begins its work. `targets`: where the runtime listens, in which the first part fills in ports
  /// that were 0; none for a type that does not listen. After an error the part is closed too.
  [[nodiscard]] virtual loop::task<result<void>> open(std::vector<net::bind_target>& targets) = 0;
  /// Takes nothing in any more; what it has taken is on its way. All parts have fallen silent
  /// before the first is closed.
  virtual void fall_silent() {}
  /// Ends its work; what it would deliver first is given up at `limit`. All parts are closed before
  /// the first is destroyed, so one may still hear from another.
  [[nodiscard]] virtual loop::task<> close(loop::time_point limit) = 0;

  /// To be read from any thread once it has been opened.
  [[nodiscard]] virtual const counters& counted() const = 0;
};

/// What needs no options: the life of the parts.
class runtime_of_parts : public runtime {
 public:
  explicit runtime_of_parts(context&& context) : context_(std::move(context)) {}

  loop::task<result<void>> start() final;
  loop::task<void> stop(loop::time_point limit) override;
  using runtime::stop;
  void hurry() final { hurried_ = true; }
  loop::task<void> settle() final;
  loop::task<result<void>> rehearse() final;
  [[nodiscard]] std::vector<std::string> endpoints() const final {
    return bound_.empty() ? wanted_endpoints() : bound_;
  }
  [[nodiscard]] statistics stats() const final;
  [[nodiscard]] std::string failure_reason() const final { return reason_; }
  [[nodiscard]] bool has_done_its_work() const final { return has_done_its_work_; }

 protected:
  // --- what a type says of itself
  using part_list = std::vector<std::unique_ptr<part>>;
  /// The parts, one for each loop. None of them runs before all are made.
  [[nodiscard]] virtual part_list make_parts(const std::vector<loop::loop*>& loops) = 0;
  [[nodiscard]] virtual std::size_t wanted_loops() const { return 1; }
  /// A file that all parts append to and nobody else may; empty: none.
  [[nodiscard]] virtual std::string written_file() const { return {}; }
  /// Reads what it shows to those who connect by TLS, before parts are made; and forgets it.
  [[nodiscard]] virtual result<void> open_identity() { return {}; }
  virtual void close_identity() {}
  /// Reads its certificates and those that it trusts again, for connections to come. False: it has
  /// none. Errors: of a file; then the ones before stay in force.
  [[nodiscard]] virtual loop::task<result<bool>> read_certificates() { co_return false; }
  /// Opens files again that others may have moved away. False: it has none. Errors: of a file;
  /// then it goes on in the one that it has.
  virtual loop::task<result<bool>> open_files_again() { co_return false; }
  /// Called when the parts are closed, and still there: what they counted is kept.
  virtual void keep_figures() { past_ = stats().past(); }

  // --- what a type uses
  [[nodiscard]] const context& given() const { return context_; }
  [[nodiscard]] bool has_parts() const { return !parts_.empty(); }
  [[nodiscard]] const part_list& parts() const { return parts_; }
  [[nodiscard]] loop::loop& loop_of(std::size_t index) const { return *loops_[index]; }
  /// The parts that have been opened, or have failed to: those that count. They come first.
  [[nodiscard]] std::size_t opened() const { return opened_; }
  /// The connections of all parts together, since the last start.
  [[nodiscard]] serve::connection_gauge& connections() const { return *connections_; }
  /// The runtime ends by itself. A part may call it, on its own loop, until it is closed.
  void fail(const std::string& why) { end_by_itself(why, false); }
  /// The same, of one whose work is done.
  void finish(const std::string& why) { end_by_itself(why, true); }
  /// Set while what is started or stopped is to hurry, for parts that wait long in `open` or
  /// `close`. It lives as long as the runtime.
  [[nodiscard]] const std::atomic<bool>& hurried() const { return hurried_; }
  /// Reads the files of TLS as the options name them now, for nothing but their errors: a restart
  /// that they would foil ends what runs.
  [[nodiscard]] virtual result<void> try_certificates() const { return {}; }

 private:
  /// The options as they are now are those that the parts will have. Errors: of a secret that is
  /// somewhere else, and not to be had.
  virtual result<void> prepare() = 0;
  /// What `prepare` would say.
  [[nodiscard]] virtual result<void> try_secrets() const = 0;
  /// As configured.
  [[nodiscard]] virtual std::vector<std::string> wanted_endpoints() const = 0;
  loop::task<result<void>> make_and_open();
  void end_by_itself(const std::string& why, bool is_done);
  loop::task<result<void>> open(std::vector<net::bind_target>& targets);

  context context_;
  std::vector<loop::loop*> loops_;
  std::unique_ptr<serve::connection_gauge> connections_;
  part_list parts_;  // in the order of the loops
  std::size_t opened_ = 0;
  std::vector<std::string> bound_;
  loop::file_claim written_;
  std::string reason_;
  bool has_done_its_work_ = false;
  std::atomic<bool> hurried_ = false;
  statistics past_;  // what earlier runs counted
};

/// What `urls` carry: "streams", "UDP", "Ethernet", "TLS", "WebSockets". Another runtime's name may
/// mean any of them.
[[nodiscard]] std::vector<std::string_view> carried_by(const std::vector<std::string>& urls);

/// The keys of `changes`, sorted into those in force at once and those that need a restart.
[[nodiscard]] edit_outcome sort_changes(const std::vector<options::option_row>& rows,
                                        const nlohmann::json& changes, bool running);

/// What running parts are told of an edit.
template <class Options>
struct live_edit {
  Options now;             ///< all options, in force from now on
  nlohmann::json changes;  ///< those that have another value; none of them needs a restart
  std::uint64_t number;    ///< it grows with each edit
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
      tell_parts(*filled);
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
  /// Whether options of which each is right make sense together.
  [[nodiscard]] virtual result<void> check(const Options& options) const = 0;
  /// What the endpoints carry, in the words of the rows' `only_on`.
  [[nodiscard]] virtual std::vector<std::string_view> carried(const Options& next) const {
    return carried_by(next.endpoints());
  }
  /// What else is refused of those that `changes` names, though it may have been saved before.
  [[nodiscard]] virtual result<void> check_given(const Options& /*next*/,
                                                 const nlohmann::json& /*changes*/) const {
    return {};
  }

  // --- what a type uses
  /// As people set them.
  [[nodiscard]] const Options& wanted() const { return options_; }
  /// As the parts have them: what needs a restart is as it was when they were made, and secrets are
  /// what their references stand for.
  [[nodiscard]] const Options& running() const { return in_force_; }
  [[nodiscard]] Part& part_at(std::size_t index) const {
    return static_cast<Part&>(*parts()[index]);
  }
  /// Awaits what `work`, which awaits nothing, gives on the part's loop.
  template <class Work>
  auto run_at(std::size_t index, Work work) {
    return loop::run_on(given().home, loop_of(index),
                        [&at = part_at(index), work = std::move(work)] { return work(at); });
  }
  /// A part has changed options by itself, and calls this on its own loop. `edit`: the number of
  /// the last edit that it had heard of. A later one of the same option is the one that counts.
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
  /// `options` with the secrets themselves, of which those that have not changed since `before` are
  /// `known`.
  [[nodiscard]] result<Options> filled_in(Options options, const Options& before,
                                          const Options& known) const {
    if (auto read = options::fill_in_secrets(options, table_, before, known); !read) {
      return std::unexpected(read.error());
    }
    if (auto checked = check_whole(options); !checked) return std::unexpected(checked.error());
    return options;
  }
  [[nodiscard]] result<void> check_whole(const Options& options) const {
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
  // Of what has changed, the parts hear what needs no restart. `filled`: the options, with the
  // secrets themselves.
  void tell_parts(const Options& filled) {
    const auto before = in_force_;
    apply_live(running_, table_, options_);
    apply_live(in_force_, table_, filled);
    live_edit<Options> told{in_force_, changed_options(before, in_force_, table_), edit_ + 1};
    if (told.changes.empty()) return;
    ++edit_;
    for (const auto& [key, value] : told.changes.items()) edited_[key] = edit_;
    for (std::size_t i = 0; i < parts().size(); ++i) {
      loop_of(i).post([to = &part_at(i), told] { to->apply(told); });
    }
  }

  const table_type& table_;
  std::vector<options::option_row> rows_;
  Options options_;
  Options running_;                              // those that the parts have, as people set them
  Options in_force_;                             // the same, with the secrets themselves
  std::uint64_t edit_ = 0;                       // the last one
  std::map<std::string, std::uint64_t> edited_;  // the option's last edit
};

/// Makes a runtime from its options. Errors: invalid_argument, of one option or of all together.
template <class Runtime>
[[nodiscard]] result<std::unique_ptr<runtime>> make_from(context&& context,
                                                         const nlohmann::json& options) {
  auto made = std::make_unique<Runtime>(std::move(context));
  if (auto read = made->edit(options); !read) return std::unexpected(read.error());
  return made;
}

}  // namespace strata::runtime
