#include "daemon/supervisor/record_writer.hpp"

#include <spdlog/spdlog.h>

namespace strata::daemon {

namespace {

// Between attempts to write what the store refuses.
constexpr double first_write_pause_s = 0.5;
constexpr double longest_write_pause_s = 30;

}  // namespace

record_writer::record_writer(loop::loop& loop, std::unique_ptr<record_store> store,
                             operation_count& operations, std::uint64_t pause_seed)
    : home_(loop), store_(std::move(store)), operations_(operations), pause_seed_(pause_seed) {}

loop::task<result<void>> record_writer::settle_attempt(entry_ref subject) {
  if (!subject->attempted) co_return result<void>{};
  const auto found = co_await store_->find(subject->name());
  if (!found) co_return std::unexpected(found.error());
  const auto present = found->value_or(record{});
  if (present.revision == subject->stored.revision) {
    subject->attempted.reset();
    co_return result<void>{};
  }
  if (!present.has_content_of(*subject->attempted)) {
    co_return stale_revision(subject->name(), subject->stored.revision, present.revision);
  }
  subject->stored = present;
  subject->attempted.reset();
  co_return result<void>{};
}

loop::task<result<void>> record_writer::write(entry_ref subject, record next) {
  auto settled = co_await settle_attempt(subject);
  if (!settled) co_return settled;
  next.revision = subject->stored.revision;
  // A record that the store has already needs no writing, which a full disk would refuse.
  if (next != subject->stored) {
    subject->attempted = next;
    const auto revision = co_await store_->put(next, subject->stored.revision);
    if (!revision) co_return std::unexpected(revision.error());
    next.revision = *revision;
    subject->attempted.reset();
    subject->stored = next;
  }
  subject->desired = std::move(next);
  co_return result<void>{};
}

loop::task<> record_writer::write_in_time(entry_ref subject) {
  const auto written = co_await write(subject, subject->present_record());
  if (written) co_return;
  spdlog::error("{}; retrying", describe(written.error()));
  write_later(subject);
}

void record_writer::write_later(const entry_ref& subject) {
  if (!subject->has_write_pending) tasks_.spawn(write_again(subject));
}

loop::task<> record_writer::write_again(entry_ref subject) {
  subject->has_write_pending = true;
  net::backoff pauses(pause_seed_);
  while (!is_ended_) {
    co_await home_.sleep(pauses.next(first_write_pause_s, longest_write_pause_s));
    const operation_count::member counted(operations_);
    const auto guard = co_await subject->lock.acquire();
    if (subject->removed || subject->ended) break;
    const auto written = co_await write(subject, subject->present_record());
    if (written) break;
  }
  subject->has_write_pending = false;
}

loop::task<> record_writer::write_back(entry_ref subject) {
  if (subject->removed || !subject->desired.running) co_return;
  subject->desired.running = false;
  co_await write_in_time(subject);
}

loop::task<result<void>> record_writer::remove(entry_ref subject) {
  auto settled = co_await settle_attempt(subject);
  if (!settled) co_return settled;
  auto gone = co_await store_->remove(subject->name(), subject->stored.revision);
  co_return gone;
}

void record_writer::end() {
  is_ended_ = true;
  store_->close();
}

}  // namespace strata::daemon
