#include "runtime/cache/replication/leader_connection.hpp"

#include <fmt/format.h>

#include "loop/within.hpp"
#include "runtime/cache/disk/in_steps.hpp"
#include "runtime/cache/disk/rdb_file.hpp"
#include "runtime/cache/engine/engine.hpp"
#include "runtime/cache/engine/persistence.hpp"
#include "runtime/cache/replication/leader.hpp"
#include "text/word.hpp"

namespace strata::runtime::cache {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t keys_a_step = 256;
constexpr std::size_t longest_line = 64U << 10U;
constexpr std::size_t mark_size = 40;
// Of the replies before the snapshot: each is a line.
constexpr proto::value_limits reply_limits{
    .max_depth = 1, .max_bulk = longest_line, .max_values = 16, .max_reply = longest_line};

}  // namespace

leader_connection::leader_connection(loop::loop& loop, engine& engine, place leader, hooks hooks,
                                     std::shared_ptr<journal> log)
    : loop_(loop),
      engine_(engine),
      leader_(std::move(leader)),
      hooks_(std::move(hooks)),
      log_(std::move(log)) {
  engine_.keys().set_expires_by_leader(true);
  engine_.home().availability().set_cut_off(true);
  engine_.home().availability().refuse_changes(
      obstacle::follows, "READONLY You can't write against a read only replica.");
  if (leader_.known) {
    id_ = leader_.known->id;
    offset_ = leader_.known->offset;
    replay_ = std::make_unique<replay>(engine_);
    replay_->database = leader_.known->database;
  }
  if (leader_.hands_over) handover_ = handover::pending;
  running_.spawn(run());
}

leader_connection::~leader_connection() {
  running_.cancel();
  engine_.home().availability().set_loading(false);
  engine_.home().availability().set_cut_off(false);
  engine_.keys().set_expires_by_leader(false);
  engine_.home().availability().refuse_changes(obstacle::follows, {});
}

std::optional<leader_connection::position> leader_connection::known() const {
  if (id_.empty()) return {};
  return position{.id = id_, .offset = offset_, .database = replay_->database};
}

std::string leader_connection::name() const {
  if (leader_.port == 0) return leader_.host;
  return fmt::format("{}:{}", leader_.host, leader_.port);
}

std::string leader_connection::url() const {
  if (leader_.port == 0) return "runtime://" + leader_.host;
  const auto* const scheme = leader_.secure->get() ? "tls" : "tcp";
  const bool brackets = leader_.host.contains(':');
  return fmt::format(fmt::runtime(brackets ? "{}://[{}]:{}" : "{}://{}:{}"), scheme, leader_.host,
                     leader_.port);
}

void leader_connection::set_state(std::string_view state) {
  const bool was_connected = is_connected();
  state_ = state;
  if (is_connected()) {
    lost_at_.reset();
  } else if (was_connected) {
    lost_at_ = loop_.now();
  }
  engine_.home().availability().set_cut_off(!is_connected());
}

bool leader_connection::cut() {
  if (!stream_) return false;
  stream_->abort();
  return true;
}

loop::task<> leader_connection::run() {
  // The client that requested it gets its reply first.
  co_await loop_.sleep(0ms);
  std::string last_trouble;
  for (;;) {
    set_state("connecting");
    auto outcome = co_await connect();
    if (outcome) outcome = co_await synchronise();
    if (outcome) {
      last_trouble.clear();
      hooks_.on_trouble({});
      outcome = co_await repeat();
    }
    set_state("connect");
    if (replay_) replay_->forget_transaction();
    stream_.reset();
    received_.clear();
    const auto trouble = describe(outcome.error());
    if (trouble != last_trouble) {
      log_->write(level::warning, trouble + "; retrying");
      hooks_.on_trouble(trouble);
    }
    // Retries quickly if the connection worked before or the error is new; otherwise more slowly.
    co_await loop_.sleep(trouble == last_trouble ? 1s : 50ms);
    last_trouble = trouble;
  }
}

void leader_connection::tick() {
  if (!stream_ || !last_received_ || awaits_end_of_script_) return;
  const auto timeout = std::chrono::seconds(engine_.home().settings().replication_timeout_s);
  if (loop_.now() - *last_received_ > timeout) stream_->abort();
  if (is_connected() && loop_.now() - last_acknowledgement_ >= 1s) acknowledge();
}

void leader_connection::acknowledge() {
  last_acknowledgement_ = loop_.now();
  const auto offset = std::to_string(offset_);
  note_synced();
  const auto synced = std::to_string(synced_);
  const std::array<std::string_view, 5> words = {"REPLCONF", "ACK", offset, "FACK", synced};
  send(std::span(words).first(synced_ == 0 ? 3 : 5));
}

// Determines up to which offset the changes are on this cache's disk: its log has positions of its
// own, so it remembers which position each acknowledged offset had.
void leader_connection::note_synced() {
  const auto* const persistence = engine_.home().persisted_by();
  if (persistence == nullptr) return;
  const auto figures = persistence->figures();
  if (!figures.has_log) return;
  if (!unsynced_.empty() && unsynced_.back().offset > offset_) unsynced_.clear();
  unsynced_.push_back({offset_, figures.log_appended});
  while (!unsynced_.empty() && unsynced_.front().position <= figures.log_synced) {
    synced_ = unsynced_.front().offset;
    unsynced_.pop_front();
  }
}

// --- the connection

loop::task<result<void>> leader_connection::connect() {
  auto endpoint = net::parse_endpoint(url());
  if (!endpoint) co_return std::unexpected(endpoint.error());
  const auto& settings = engine_.home().settings();
  const redis::address server{.url = std::move(*endpoint),
                              .user = settings.options.follow_user,
                              .password = settings.options.follow_password};
  const auto timeout = std::chrono::seconds(settings.replication_timeout_s);
  redis::connection connection(loop_, server, reply_limits);
  auto opening =
      connection.open({.timeout = timeout, .names = leader_.names, .secure = leader_.secure->get()},
                      redis::protocol::resp2);
  auto done = co_await opening;
  if (done) {
    auto introducing = loop::within(loop_, introduce(connection), loop_.now() + timeout);
    auto introduced = co_await introducing;
    done = introduced ? std::move(*introduced)
                      : failure(errc::timed_out, "introduce this cache", "it has not answered");
  }
  if (!done) {
    auto failed = done.error();
    failed.operation = "follow " + name() + ": cannot " + failed.operation;
    co_return std::unexpected(failed);
  }
  stream_ = connection.release();
  last_received_ = loop_.now();
  co_return result<void>{};
}

// Asks each command in turn; an error is the end.
loop::task<result<void>> leader_connection::introduce(redis::connection& connection) {
  const auto& settings = engine_.home().settings();
  const auto shown_port =
      settings.announced_port != 0 ? settings.announced_port : std::int64_t{leader_.own_port};
  const auto port = std::to_string(shown_port);
  const auto address = settings.announced_address;
  std::vector<std::vector<std::string_view>> commands{{"PING"}};
  if (shown_port != 0) commands.push_back({"REPLCONF", "listening-port", port});
  if (!address.empty()) commands.push_back({"REPLCONF", "ip-address", address});
  commands.push_back({"REPLCONF", "capa", "eof", "capa", "psync2", "capa", field_times_capability});
  for (const auto& each : commands) {
    auto asking = connection.ask(each);
    auto reply = co_await asking;
    if (!reply) co_return std::unexpected(reply.error());
    if (reply->what == proto::resp_value::kind::error) {
      co_return failure(errc::conflict, "introduce this cache",
                        fmt::format("the leader replied {} to {}",
                                    text::quoted(std::string_view(reply->text)), each.front()));
    }
  }
  co_return result<void>{};
}

void leader_connection::send(std::span<const std::string_view> words) {
  std::string text;
  append_command(text, words);
  stream_->push_copy(as_bytes(text));
}

loop::task<result<void>> leader_connection::receive() {
  auto got = co_await stream_->receive();
  if (!got) co_return std::unexpected(got.error());
  if (got->empty()) {
    co_return failure(errc::connection_closed, "follow " + name(),
                      "the leader closed the connection");
  }
  last_received_ = loop_.now();
  received_ += as_text(got->bytes());
  co_return result<void>{};
}

// An empty line only shows that the leader is still there.
loop::task<result<std::string>> leader_connection::read_line() {
  for (;;) {
    const auto end = received_.find('\n');
    if (end == std::string::npos) {
      if (received_.size() > longest_line) {
        co_return failure(errc::malformed, "follow " + name(),
                          "the leader sent a line without an end");
      }
      auto more = co_await receive();
      if (!more) co_return std::unexpected(more.error());
      continue;
    }
    auto line = received_.substr(0, end);
    received_.erase(0, end + 1);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!line.empty()) co_return line;
  }
}

loop::task<result<std::string>> leader_connection::ask(std::span<const std::string_view> words) {
  const std::string what(words[0]);
  send(words);
  auto line = co_await read_line();
  if (line && line->starts_with('-')) {
    co_return failure(
        errc::conflict, "follow " + name(),
        fmt::format("the leader replied {} to {}", text::quoted(std::string_view(*line)), what));
  }
  co_return line;
}

// --- what there is at the beginning

loop::task<result<void>> leader_connection::synchronise() {
  const auto next = std::to_string(offset_ + 1);
  const bool has_past = !id_.empty();
  std::vector<std::string_view> words = {"PSYNC", has_past ? std::string_view(id_) : "?",
                                         has_past ? std::string_view(next) : "-1"};
  if (handover_ == handover::pending) words.emplace_back("FAILOVER");
  auto asking = ask(words);
  auto said = co_await asking;
  if (handover_ == handover::pending) note_handover(said);
  if (!said) co_return std::unexpected(said.error());
  std::vector<std::string> parts;
  if (!proto::split_words(*said, parts)) parts.clear();
  if (!parts.empty() && parts[0] == "+CONTINUE" && has_past) {
    if (parts.size() > 1) id_ = parts[1];
    log_->write(level::info, fmt::format("following {} from byte {}", name(), offset_ + 1));
  } else if (parts.size() == 3 && parts[0] == "+FULLRESYNC" && text::parse_integer(parts[2])) {
    // Until the snapshot has arrived, there is nothing to continue from.
    id_.clear();
    auto taken = co_await take_snapshot();
    if (!taken) co_return taken;
    replay_ = std::make_unique<replay>(engine_);
    id_ = parts[1];
    offset_ = static_cast<std::uint64_t>(*text::parse_integer(parts[2]));
    log_->write(level::info, fmt::format("following {} from a snapshot", name()));
  } else {
    co_return failure(
        errc::malformed, "follow " + name(),
        fmt::format("the leader replied {} to PSYNC", text::quoted(std::string_view(*said))));
  }
  unfinished_ = 0;
  set_state("connected");
  acknowledge();
  co_return result<void>{};
}

// If the connection broke before the answer, the other one may already lead, and then refuses to be
// asked again.
void leader_connection::note_handover(const result<std::string>& reply) {
  if (reply) {
    handover_ = handover::accepted;
  } else if (reply.error().code == errc::conflict) {
    const bool leads = has_asked_ && reply.error().reason.contains("can't be sent to a master");
    handover_ = leads ? handover::accepted : handover::rejected;
  }
  has_asked_ = true;
}

loop::task<result<void>> leader_connection::take_snapshot() {
  transfer_ = {};
  set_state("sync");
  auto payload = co_await receive_payload();
  if (!payload) co_return std::unexpected(payload.error());
  co_return co_await load(std::move(*payload));
}

// "$SIZE", or "$EOF:" and 40 bytes that are repeated at the end.
loop::task<result<std::string>> leader_connection::receive_payload() {
  auto head = co_await read_line();
  if (!head) co_return std::unexpected(head.error());
  const auto size = head->starts_with('$') ? text::parse_integer(std::string_view(*head).substr(1))
                                           : std::nullopt;
  const bool has_mark = head->starts_with("$EOF:") && head->size() == 5 + mark_size;
  if (!has_mark && (!size || *size < 0)) {
    co_return failure(errc::malformed, "follow " + name(),
                      fmt::format("the leader's snapshot has an invalid header: {}",
                                  text::quoted(std::string_view(*head))));
  }
  if (size) transfer_.size = static_cast<std::uint64_t>(*size);
  const auto mark = has_mark ? head->substr(5) : "";
  const auto is_whole = [&] {
    return has_mark ? received_.size() >= mark_size && received_.ends_with(mark)
                    : received_.size() >= static_cast<std::uint64_t>(*size);
  };
  transfer_.received = received_.size();
  while (!is_whole()) {
    auto more = co_await receive();
    if (!more) co_return std::unexpected(more.error());
    transfer_.received = received_.size();
  }
  const auto length = has_mark ? received_.size() - mark_size : static_cast<std::uint64_t>(*size);
  auto payload = received_.substr(0, length);
  received_.erase(0, has_mark ? received_.size() : length);
  co_return payload;
}

loop::task<result<void>> leader_connection::load(std::string payload) {
  co_await await_end_of_script();
  hooks_.begin_work();
  engine_.home().availability().set_loading(true);
  hooks_.on_discard();
  for (unsigned i = 0; i < keyspace::database_count; ++i) engine_.keys().clear(i);
  engine_.keys().functions().clear();
  hooks_.end_work();
  rdb::file_reader reader(payload, engine_.keys(), engine_.home().settings());
  const auto how = co_await read_in_steps(loop_, reader, keys_a_step, hooks_);
  if (how == rdb::file_reader::outcome::failed) {
    co_return failure(errc::malformed, "follow " + name(),
                      "the leader's snapshot is invalid: " + reader.why());
  }
  engine_.home().availability().set_loading(false);
  hooks_.on_new_data();
  co_return result<void>{};
}

// --- what changes

loop::task<result<void>> leader_connection::repeat() {
  proto::request_reader reader;
  std::vector<std::string_view> words;
  for (;;) {
    const auto bytes = std::exchange(received_, {});
    reader.feed(as_bytes(bytes));
    co_await await_end_of_script();
    hooks_.begin_work();
    auto outcome = proto::request_reader::outcome::request;
    result<void> done;
    while (done) {
      words.clear();
      outcome = reader.next(words);
      if (outcome != proto::request_reader::outcome::request) break;
      if (!words.empty()) done = execute(words);
      // A connection that continues later must not begin in the middle of a transaction.
      unfinished_ += reader.last_size();
      if (!replay_->in_transaction) offset_ += std::exchange(unfinished_, 0);
    }
    reader.keep();
    hooks_.end_work();
    if (!done) co_return done;
    if (outcome == proto::request_reader::outcome::broken) {
      co_return failure(errc::malformed, "follow " + name(), reader.error());
    }
    auto more = co_await receive();
    if (!more) co_return more;
  }
}

// What the leader sends meanwhile stays in the connection. Acknowledging goes on, or the leader
// would give this follower up.
loop::task<> leader_connection::await_end_of_script() {
  const auto& interrupted = engine_.home().interrupted();
  if (!interrupted.is_on()) co_return;
  awaits_end_of_script_ = true;
  while (interrupted.is_on()) {
    co_await loop_.sleep(10ms);
    if (is_connected() && loop_.now() - last_acknowledgement_ >= 1s) acknowledge();
  }
  last_received_ = loop_.now();
  awaits_end_of_script_ = false;
}

result<void> leader_connection::execute(std::span<const std::string_view> words) {
  if (text::same_text(words[0], "REPLCONF")) {
    if (words.size() > 1 && text::same_text(words[1], "GETACK")) acknowledge();
    return {};
  }
  if (text::same_text(words[0], "PING")) return {};
  return replay_->execute(words);
}

}  // namespace strata::runtime::cache
