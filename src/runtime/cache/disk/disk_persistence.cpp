#include "runtime/cache/disk/disk_persistence.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "runtime/cache/disk/in_steps.hpp"
#include "runtime/cache/disk/replay.hpp"
#include "runtime/cache/disk/snapshot.hpp"
#include "runtime/cache/engine/engine.hpp"

namespace strata::runtime::cache {

using namespace std::chrono_literals;

namespace {

// Loading and writing proceed in steps, between which others on the loop run.
constexpr std::size_t keys_a_step = 256;
constexpr std::size_t commands_a_step = 1024;
constexpr auto step_budget = 500us;
// The remaining bytes at which the log pauses, to copy the rest.
constexpr std::uint64_t short_rest = 256U << 10U;
constexpr std::size_t copied_at_once = 1U << 20U;
constexpr std::int64_t retry_after_ms = 5000;
// A disk counts as slow when a single write or sync takes longer.
constexpr auto slow_call = 2s;

std::string slowness(const std::string& path) {
  return fmt::format("'{}' has not completed a write or sync for more than {} s", path,
                     slow_call.count());
}

}  // namespace

disk_persistence::disk_persistence(loop::loop& loop, engine& engine, snapshot_turn& turn,
                                   places places, hooks hooks, std::shared_ptr<journal> log)
    : loop_(loop),
      engine_(engine),
      turn_(turn),
      where_(std::move(places)),
      hooks_(std::move(hooks)),
      journal_(std::move(log)),
      written_(loop) {
  engine_.home().set_persistence(this);
}

disk_persistence::~disk_persistence() {
  running_.cancel();
  engine_.home().set_persistence(nullptr);
}

// --- what there is at the beginning

loop::task<result<void>> disk_persistence::open() {
  if (auto claimed = claim_files(); !claimed) co_return claimed;
  const auto source = find_source();
  if (!source) co_return std::unexpected(source.error());
  if (!source->empty()) {
    auto loaded = co_await load(*source);
    if (!loaded) co_return loaded;
  }
  hooks_.begin_work();
  figures_.last_save_s = engine_.keys().now_ms() / 1000;
  hooks_.end_work();
  figures_.changes_at_save = engine_.keys().changes().total();
  // What was handed over may lie in no snapshot yet.
  if (*source == where_.handover) --figures_.changes_at_save;
  heed_settings();
  if (where_.log.empty()) co_return result<void>{};
  auto opened = co_await open_log();
  // Data from a snapshot must be in the log before changes to it are.
  const bool is_in_log = source->empty() || *source == where_.log;
  if (opened && !is_in_log) opened = co_await write_log_anew();
  co_return opened;
}

// The file that has the latest data; empty if there is none.
result<std::string> disk_persistence::find_source() {
  for (const auto* const each : {&where_.log, &where_.handover, &where_.snapshot}) {
    const auto has_data = holds_something(*each);
    if (!has_data) return std::unexpected(has_data.error());
    if (*has_data) return *each;
  }
  return std::string();
}

result<void> disk_persistence::claim_files() {
  auto& files = loop_.files();
  if (!where_.log.empty()) {
    auto claimed = files.claim(where_.log);
    if (!claimed) return std::unexpected(claimed.error());
    log_claim_ = std::move(*claimed);
  }
  if (where_.snapshot.empty()) return {};
  const bool is_missing = !files.exists(where_.snapshot);
  auto claimed = files.claim(where_.snapshot);
  if (!claimed) return std::unexpected(claimed.error());
  snapshot_claim_ = std::move(*claimed);
  made_snapshot_ = is_missing;
  return {};
}

// An empty file was created by a claim, and nothing has been written since.
result<bool> disk_persistence::holds_something(const std::string& path) {
  auto& files = loop_.files();
  if (path.empty() || !files.exists(path)) return false;
  const auto view = files.open(path);
  if (!view) return std::unexpected(view.error());
  return !(*view)->bytes().empty();
}

loop::task<result<void>> disk_persistence::load(const std::string& path) {
  auto view = loop_.files().open(path);
  if (!view) co_return std::unexpected(view.error());
  const auto text = (*view)->bytes();
  if (text.empty()) co_return result<void>{};
  engine_.keys().set_expires_by_leader(true);
  auto begun = co_await load_snapshot(text, path);
  result<std::size_t> whole = begun;
  if (begun && path == where_.log) {
    whole = co_await load_commands(text, *begun, path);
  }
  engine_.keys().set_expires_by_leader(false);
  if (!whole) co_return std::unexpected(whole.error());
  if (path == where_.log && *whole != text.size()) {
    co_return mend(path, *whole, text.size());
  }
  co_return result<void>{};
}

loop::task<result<std::size_t>> disk_persistence::load_snapshot(std::string_view text,
                                                                const std::string& path) {
  // A log need not begin with a snapshot.
  if (path == where_.log && !rdb::file_reader::is_one(text)) co_return std::size_t{0};
  rdb::file_reader reader(text, engine_.keys(), engine_.home().settings());
  const auto how = co_await read_in_steps(loop_, reader, keys_a_step, hooks_);
  figures_.keys_loaded = reader.keys();
  if (how == rdb::file_reader::outcome::failed) {
    co_return failure(errc::malformed, "load '" + path + "'", reader.why(),
                      "restore a copy of the file, or start without the file");
  }
  co_return reader.position();
}

loop::task<result<std::size_t>> disk_persistence::load_commands(std::string_view text,
                                                                std::size_t start,
                                                                const std::string& path) {
  log_reader reader(text, start, engine_);
  const auto how = co_await read_in_steps(loop_, reader, commands_a_step, hooks_);
  if (how == log_reader::outcome::failed) {
    // A file of which nothing could be read may be anything, so the remedy must not be to truncate
    // it.
    auto remedy = reader.whole() == 0 ? "check that it is the log of a cache, or give another file"
                                      : fmt::format(
                                            "restore a copy of the file, or discard the rest with: "
                                            "truncate -s {} '{}'",
                                            reader.whole(), path);
    co_return failure(errc::malformed, "load '" + path + "'", reader.why(), std::move(remedy));
  }
  co_return reader.whole();
}

result<void> disk_persistence::mend(const std::string& path, std::size_t whole, std::size_t size) {
  journal_->write(level::warning,
                  fmt::format("'{}' ends in the middle of a command: its last {} bytes are removed",
                              path, size - whole));
  return loop_.files().truncate(path, whole);
}

loop::task<result<void>> disk_persistence::open_log() {
  auto file = growing_file::reopen(loop_, where_.log);
  if (!file) co_return std::unexpected(file.error());
  if (auto synced = loop_.files().sync_folder_of(where_.log); !synced) co_return synced;
  const auto view = loop_.files().open(where_.log);
  if (!view) co_return std::unexpected(view.error());
  figures_.log_base_size = (*view)->bytes().size();
  log_ = std::make_unique<command_log>(
      loop_, engine_.keys(), std::move(*file), figures_.log_base_size,
      command_log::events{.on_safe = hooks_.on_safe,
                          .on_trouble = [this](const error* why) { on_log_trouble(why); }});
  heed_settings();
  co_return result<void>{};
}

// --- snapshots

void disk_persistence::heed_settings() {
  const auto& settings = engine_.home().settings();
  if (log_) {
    const auto policy = parse_sync_policy(settings.options.appendfsync).value_or(log_->policy());
    if (policy != log_->policy()) log_->set_policy(policy);
  }
  if (settings.options.save == rules_text_) return;
  rules_text_ = settings.options.save;
  rules_ = save_rules::parse(rules_text_).value_or(save_rules{});
}

bool disk_persistence::should_save() const {
  const auto changes = engine_.keys().changes().total() - figures_.changes_at_save;
  return !where_.snapshot.empty() && changes != 0 &&
         rules_.are_met(engine_.keys().now_ms() / 1000 - figures_.last_save_s, changes);
}

bool disk_persistence::should_rewrite() const {
  if (!log_) return false;
  if (log_->is_distrusted()) return true;
  const auto& settings = engine_.home().settings();
  const auto size = static_cast<std::int64_t>(log_->file_size());
  const auto base = static_cast<std::int64_t>(std::max<std::uint64_t>(figures_.log_base_size, 1));
  return settings.rewrite_percentage > 0 && size >= settings.rewrite_min_size &&
         size * 100 / base >= settings.rewrite_percentage + 100;
}

void disk_persistence::tick() {
  heed_settings();
  check_slowness();
  if (!is_writing() && engine_.keys().now_ms() >= retry_at_ms_) {
    saves_next_ = saves_next_ || should_save();
    rewrites_next_ = rewrites_next_ || should_rewrite();
  }
  begin_next();
}

void disk_persistence::begin_next() {
  if (is_writing() || is_closing_) return;
  if (std::exchange(saves_next_, false)) {
    figures_.is_saving = true;
    running_.spawn(save_task());
  } else if (std::exchange(rewrites_next_, false)) {
    figures_.is_rewriting = true;
    running_.spawn(rewrite_task());
  }
}

void disk_persistence::on_log_trouble(const error* why) {
  log_trouble_ = why == nullptr ? "" : describe(*why);
  report_trouble();
  if (why == nullptr) {
    engine_.home().availability().refuse_changes(obstacle::log_fails, {});
    journal_->write(level::info, "writing to the log works again");
    return;
  }
  const auto& text = log_trouble_;
  engine_.home().availability().refuse_changes(obstacle::log_fails,
                                               "MISCONF Errors writing to the AOF file: " + text);
  hooks_.on_safe();
  journal_->write(level::error,
                  text + (log_->is_distrusted()
                              ? "; the content of the file may be lost: changes are refused until "
                                "the log is rewritten; the rewrite is retried repeatedly"
                              : "; changes are refused until a write succeeds; it is retried every "
                                "second"));
}

// Of several errors, the log's comes first: it refuses changes in any case.
void disk_persistence::report_trouble() {
  auto text = log_trouble_;
  if (text.empty() && save_error_) text = describe(*save_error_);
  if (text.empty() && rewrite_error_) text = describe(*rewrite_error_);
  if (text.empty() && is_slow_) text = slowness(where_.log);
  if (text != std::exchange(reported_trouble_, text)) hooks_.on_trouble(text);
}

void disk_persistence::check_slowness() {
  const bool is_slow = log_ && log_->is_stuck_for(slow_call);
  if (std::exchange(is_slow_, is_slow) == is_slow) return;
  if (is_slow) {
    ++figures_.slow_calls;
    journal_->write(level::warning, slowness(where_.log) +
                                        "; meanwhile changes wait in memory, and with "
                                        "--appendfsync always replies wait too");
  } else {
    journal_->write(level::info, "writes to the log complete in time again");
  }
  report_trouble();
}

void disk_persistence::refuse_if_saving_fails() {
  const bool must_save = !rules_.empty() && engine_.home().settings().stop_writes_on_save_error &&
                         !where_.snapshot.empty();
  engine_.home().availability().refuse_changes(
      obstacle::save_fails,
      figures_.last_save_failed && must_save
          ? "MISCONF Snapshots are configured, but the last one failed: changes are refused until "
            "one succeeds. See the cache's log for the reason."
          : "");
}

std::optional<std::string> disk_persistence::save(bool later, client* waits) {
  if (where_.snapshot.empty()) {
    return "ERR no snapshot file is configured: start the cache with --snapshot FILE";
  }
  if (figures_.is_saving) return "ERR Background save already in progress";
  if (figures_.is_rewriting && !later && waits == nullptr) {
    return "ERR Another child process is active (AOF?): can't BGSAVE right now. Use BGSAVE "
           "SCHEDULE in order to schedule a BGSAVE whenever possible.";
  }
  if (waits != nullptr) waiting_.push_back(waits->id);
  saves_next_ = true;
  begin_next();
  return {};
}

std::string disk_persistence::rewrite() {
  if (!log_) return "ERR no log is configured: start the cache with --persistent FILE";
  if (figures_.is_rewriting) {
    return "ERR Background append only file rewriting already in progress";
  }
  rewrites_next_ = true;
  begin_next();
  return figures_.is_saving ? "Background append only file rewriting scheduled"
                            : "Background append only file rewriting started";
}

loop::task<result<void>> disk_persistence::write_snapshot(growing_file& file, bool is_log_base) {
  hooks_.begin_work();
  auto taken = std::make_unique<snapshot>(engine_.keys(), is_log_base);
  hooks_.end_work();
  for (;;) {
    hooks_.begin_work();
    const bool more = taken->step(step_budget);
    hooks_.end_work();
    const auto text = taken->take();
    auto written = co_await file.append(text);
    if (!written) co_return written;
    if (!more) co_return result<void>{};
  }
}

// Until the new file has the name, the old one's claim applies; from then on its own.
loop::task<result<void>> disk_persistence::put_in_place(growing_file& file, const std::string& path,
                                                        loop::file_claim& claim) {
  auto next = loop_.files().claim(file.path());
  if (!next) co_return std::unexpected(next.error());
  auto outcome = co_await file.finish(path);
  if (file.path() == path) claim = std::move(*next);
  co_return outcome;
}

loop::task<result<void>> disk_persistence::save_snapshot() {
  co_await turn_.come();
  const auto& path = where_.snapshot;
  auto file = growing_file::create(loop_, path + ".new");
  if (!file) co_return std::unexpected(file.error());
  auto outcome = co_await write_snapshot(*file, false);
  if (outcome) outcome = co_await put_in_place(*file, path, snapshot_claim_);
  if (!outcome) (void)loop_.files().remove(path + ".new");
  co_return outcome;
}

loop::task<> disk_persistence::save_task() {
  // Begins after the turn's end: a transaction is over by then.
  co_await loop_.sleep(0ms);
  const auto changes = engine_.keys().changes().total();
  began_ms_ = engine_.keys().now_ms();
  auto outcome = co_await save_snapshot();
  const auto now_ms = engine_.keys().now_ms();
  figures_.last_save_took_s = (now_ms - began_ms_) / 1000;
  figures_.last_save_failed = !outcome;
  save_error_ = outcome ? std::nullopt : std::optional(outcome.error());
  end_writing(figures_.is_saving);
  if (outcome) {
    figures_.last_save_s = now_ms / 1000;
    figures_.changes_at_save = changes;
    ++figures_.saves;
  } else {
    retry_at_ms_ = now_ms + retry_after_ms;
    journal_->write(level::error, describe(outcome.error()));
  }
  refuse_if_saving_fails();
  report_trouble();
  answer_waiting(outcome);
}

void disk_persistence::end_writing(bool& which) {
  which = false;
  written_.notify();
}

void disk_persistence::answer_waiting(const result<void>& outcome) {
  const auto ids = std::exchange(waiting_, {});
  hooks_.begin_work();
  for (const auto id : ids) {
    engine_.home().answer(id, [&](client& client) {
      if (outcome) {
        client.reply().ok();
      } else {
        client.reply().error("ERR " + describe(outcome.error()));
      }
    });
  }
  hooks_.end_work();
}

// --- the log's rewriting

loop::task<> disk_persistence::rewrite_task() {
  co_await loop_.sleep(0ms);
  began_ms_ = engine_.keys().now_ms();
  auto outcome = co_await write_log_anew();
  const auto now_ms = engine_.keys().now_ms();
  figures_.last_rewrite_took_s = (now_ms - began_ms_) / 1000;
  figures_.last_rewrite_failed = !outcome;
  rewrite_error_ = outcome ? std::nullopt : std::optional(outcome.error());
  report_trouble();
  end_writing(figures_.is_rewriting);
  if (outcome) {
    ++figures_.rewrites;
    co_return;
  }
  retry_at_ms_ = now_ms + retry_after_ms;
  (void)loop_.files().remove(where_.log + ".new");
  journal_->write(level::error, describe(outcome.error()));
}

// Writes a snapshot to a new file; then copies from the old one the changes since it began.
loop::task<result<void>> disk_persistence::write_log_anew() {
  co_await turn_.come();
  auto file = growing_file::create(loop_, where_.log + ".new");
  if (!file) co_return std::unexpected(file.error());
  log_->mark_beginning();
  const auto from = log_->appended();
  auto outcome = co_await write_snapshot(*file, true);
  const auto base_size = file->appended();
  if (outcome) outcome = co_await catch_up(*file, from);
  if (outcome) outcome = co_await put_in_place(*file, where_.log, log_claim_);
  if (!outcome) {
    // The file has the log's name, but may lose it in a crash.
    if (file->path() == where_.log) log_->distrust(outcome.error());
    log_->go_on();
    co_return outcome;
  }
  figures_.log_base_size = base_size;
  const auto size = file->appended();
  log_->go_on(std::move(*file), size, from);
  co_return outcome;
}

// Ends with the log paused and everything that it has written copied.
loop::task<result<void>> disk_persistence::catch_up(growing_file& file,
                                                    command_log::position position) {
  while (log_->written() > position && log_->written() - position > short_rest) {
    const auto end = log_->written();
    auto copied = co_await copy_log(file, position, end);
    if (!copied) co_return copied;
    position = end;
  }
  co_await log_->pause();
  co_return co_await copy_log(file, position, log_->written());
}

loop::task<result<void>> disk_persistence::copy_log(growing_file& file,
                                                    command_log::position position,
                                                    command_log::position end) {
  if (end <= position) co_return result<void>{};
  if (log_->is_distrusted()) {
    co_return failure(errc::conflict, "rewrite '" + where_.log + "'",
                      "recent changes in the old file may be lost; the rewrite is retried");
  }
  const auto view = loop_.files().open(where_.log);
  if (!view) co_return std::unexpected(view.error());
  auto rest = (*view)->bytes().substr(log_->offset_of(position), end - position);
  while (!rest.empty()) {
    const auto part = rest.substr(0, copied_at_once);
    auto copied = co_await file.append(part);
    if (!copied) co_return copied;
    rest.remove_prefix(part.size());
  }
  co_return result<void>{};
}

persistence_figures disk_persistence::figures() const {
  auto now = figures_;
  now.has_log = log_ != nullptr;
  now.writing_began_ms = began_ms_;
  now.is_rewrite_scheduled = rewrites_next_;
  if (log_) {
    now.log_size = log_->file_size();
    now.is_log_syncing = log_->is_syncing();
    now.log_waiting = log_->appended() - log_->written();
    now.log_fails = log_->is_failing();
    now.log_appended = log_->appended();
    now.log_synced = log_->safe();
  }
  return now;
}

}  // namespace strata::runtime::cache
