// Changes of records, each with its consequences.
#include "daemon/supervisor/reconciler.hpp"

#include <spdlog/spdlog.h>

#include "daemon/supervisor/collisions.hpp"
#include "daemon/supervisor/log_output.hpp"
#include "daemon/supervisor/relations.hpp"
#include "text/json_text.hpp"

namespace strata::daemon {

namespace {

/// While it lives, an entry also counts as its edited body.
class edit_scope {
 public:
  edit_scope(entry& subject, const runtime::runtime& edited) : subject_(subject) {
    subject_.edited = &edited;
  }
  edit_scope(const edit_scope&) = delete;
  edit_scope& operator=(const edit_scope&) = delete;
  ~edit_scope() { subject_.edited = nullptr; }

 private:
  entry& subject_;
};

}  // namespace

reconciler::reconciler(loop::loop& loop, runtime::loop_source& loops,
                       std::unique_ptr<record_store> store, runtime::runtime_service& others,
                       std::uint64_t pause_seed)
    : home_(loop),
      loops_(loops),
      others_(others),
      pause_seed_(pause_seed),
      binding_(loop),
      directory_(loop, list_),
      operations_(loop),
      records_(loop, std::move(store), operations_, pause_seed) {}

void reconciler::write_event(const std::string& name, std::string_view type, std::string_view event,
                             const std::string& detail) {
  const nlohmann::json line = {
      {"event", event}, {"runtime", name}, {"type", type}, {"detail", detail}};
  events_.write(runtime::level::info, text::write_json(line), name);
}

void reconciler::report(const entry& subject, std::string_view event, const std::string& detail) {
  write_event(subject.name(), subject.type->name, event, detail);
  const bool bad = event == "failed";
  subject.log->write(bad ? runtime::level::error : runtime::level::info,
                     std::string(event) + (detail.empty() ? "" : ": " + detail));
  directory_.refresh();
}

result<std::unique_ptr<runtime::runtime>> reconciler::make_body(const entry& subject,
                                                                const nlohmann::json& options) {
  return subject.type->make(
      {.name = subject.name(),
       .home = home_,
       .loops = loops_,
       .names = *names_,
       .binding = binding_,
       .log = subject.log,
       .messages = subject.messages,
       .tap = subject.tap,
       .report = [this, name = subject.name(), type = subject.type->name](
                     std::string_view event,
                     const std::string& detail) { write_event(name, type, event, detail); },
       .others = &others_,
       .state_folder = place()},
      options);
}

result<entry_ref> reconciler::make_entry(record record, const nlohmann::json& options) {
  auto made = std::make_shared<entry>(home_, pause_seed_);
  made->type = runtime::find_type(record.type);
  made->desired = std::move(record);
  made->log = std::make_shared<runtime::journal>();
  made->log->set_copy(
      [logger = spdlog::default_logger()->clone(made->name())](const runtime::journal_line& line) {
        const auto* const separator = line.subject.empty() ? "" : ": ";
        logger->log(log_level(line.severity), "{}{}{}", line.subject, separator, line.text);
      });
  made->messages = std::make_shared<runtime::journal>(0);
  made->tap = std::make_shared<runtime::tap>();
  auto body = make_body(*made, options);
  if (!body) return std::unexpected(body.error());
  made->body = std::move(*body);
  made->body->on_failure = [this, weak = std::weak_ptr(made)] {
    if (auto still = weak.lock()) tasks_.spawn(end_failed(std::move(still)));
  };
  made->body->on_open_instances = [this] { directory_.refresh(); };
  return made;
}

void reconciler::discard(entry& subject) {
  subject.removed = true;
  list_.erase(subject.name());
  directory_.refresh();
}

loop::task<result<void>> reconciler::create(entry_ref subject, bool is_started) {
  auto next = subject->present_record();
  next.running = is_started;
  auto written = co_await records_.write(subject, std::move(next));
  if (!written) {
    discard(*subject);
    co_return written;
  }
  report(*subject, "created");
  if (!is_started) co_return written;
  const manner conduct{.is_retry = false, .leaves_failure = true};
  auto started = co_await reconcile(subject, conduct);
  // It would wait for the interface; but a user who creates it has most likely mistyped the name.
  if (const auto awaited = awaited_interface(*subject); started && !awaited.empty()) {
    started = failure(errc::not_found, "listen or connect on '" + awaited + "'",
                      "no interface has this name",
                      "list interfaces with: ip link; created without -s and started, it waits");
  }
  if (started) co_return started;
  // A creation that is answered with an error leaves nothing behind.
  auto& why = started.error();
  const auto gone = co_await remove(subject, home_.now());
  if (gone) {
    why.operation =
        "create '" + subject->name() + "' because it does not start: cannot " + why.operation;
  } else {
    co_await records_.write_back(subject);
  }
  co_return started;
}

loop::task<result<runtime::edit_outcome>> reconciler::change(entry_ref subject,
                                                             nlohmann::json changes) {
  const auto edited = make_body(*subject, subject->options_with(changes));
  if (!edited) co_return std::unexpected(edited.error());
  result<void> written;
  {
    const edit_scope scope(*subject, **edited);
    const auto free = check_needs(list_.entries(), directory_.given(), subject->name(),
                                  (*edited)->needs(), subject->body->needs());
    if (!free) co_return std::unexpected(free.error());
    auto next = subject->desired;
    next.options = text::write_json((*edited)->options(true));
    auto done = co_await records_.write(subject, std::move(next));
    written = std::move(done);
  }
  if (!written) co_return std::unexpected(written.error());
  const auto before = subject->unapplied;
  subject->unapplied.update(changes);
  auto outcome = co_await apply_options(subject);
  if (outcome) co_return outcome;
  // A change that is not in force must not take effect with the next daemon.
  subject->unapplied = before;
  co_await records_.write_in_time(subject);
  co_return outcome;
}

loop::task<result<void>> reconciler::start(entry_ref subject) {
  if (subject->removed) co_return not_found(subject->name());
  if (subject->ended) {
    co_return failure(errc::conflict, "start '" + subject->name() + "'", "the daemon is stopping");
  }
  if (subject->state == run_state::running) co_return result<void>{};
  const bool was_to_run = subject->desired.running;
  if (!was_to_run) {
    auto next = subject->present_record();
    next.running = true;
    const auto written = co_await records_.write(subject, std::move(next));
    if (!written) {
      auto why = written.error();
      why.operation = "start '" + subject->name() + "': cannot " + why.operation;
      set_failed(*subject, why, false);
      co_return std::unexpected(why);
    }
  }
  const manner conduct{.is_retry = false, .leaves_failure = true};
  const auto started = co_await reconcile(subject, conduct);
  if (!started && was_to_run) {
    return_later(subject);
  } else if (!started) {
    co_await records_.write_back(subject);
  } else if (was_to_run) {
    co_await records_.write_in_time(subject);
  }
  co_return started;
}

loop::task<result<void>> reconciler::stop(entry_ref subject, loop::time_point limit) {
  ++subject->changes;
  subject->next_start.reset();
  auto saved = co_await save_data(subject, "stop '" + subject->name() + "'", limit);
  if (!saved) co_return saved;
  co_await stop_body(subject, limit);
  subject->desired.running = false;
  auto written = co_await records_.write(subject, subject->present_record());
  if (!written) {
    records_.write_later(subject);
    auto& why = written.error();
    why.operation =
        "save the state of '" + subject->name() + "', which is stopped: cannot " + why.operation;
    why.reason += "; the next daemon will start it, unless a later attempt succeeds";
  }
  co_await end_children(subject->name(), children_of(list_.entries(), subject->name()), false);
  co_return written;
}

loop::task<result<void>> reconciler::remove(entry_ref subject, loop::time_point limit) {
  if (subject->removed) co_return not_found(subject->name());
  auto saved = co_await save_data(subject, "remove '" + subject->name() + "'", limit);
  if (!saved) co_return saved;
  // The name stays taken until its record is gone: the removal must not hit a new runtime's record.
  auto gone = co_await records_.remove(subject);
  if (!gone) co_return gone;
  co_await drop(subject, limit);
  co_return gone;
}

loop::task<result<void>> reconciler::remove_unusable(std::string name) {
  const auto revision = list_.unusable().at(name).revision;
  auto gone = co_await records_.store().remove(name, revision);
  if (gone) list_.erase_unusable(name);
  co_return gone;
}

loop::task<result<void>> reconciler::reconcile(entry_ref subject, manner conduct) {
  if (subject->removed) co_return not_found(subject->name());
  if (!subject->unapplied.empty()) {
    const auto applied = co_await apply_options(subject);
    if (!applied) co_return std::unexpected(applied.error());
  }
  const bool is_running = subject->state == run_state::running;
  if (subject->desired.running == is_running) co_return result<void>{};
  if (subject->desired.running) {
    auto started = co_await start_body(subject, conduct);
    co_return started;
  }
  ++subject->changes;
  auto saved =
      co_await save_data(subject, "stop '" + subject->name() + "'", loop::time_point::max());
  if (!saved) co_return saved;
  co_await stop_body(subject, loop::time_point::max());
  co_await end_children(subject->name(), children_of(list_.entries(), subject->name()), false);
  co_return saved;
}

}  // namespace strata::daemon
