#include "runtime/cache/serving/shard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <nlohmann/json.hpp>

#include "runtime/cache/engine/users/acl_text.hpp"
#include "runtime/cache/serving/connection.hpp"
#include "runtime/cache/serving/session.hpp"
#include "runtime/refusals.hpp"
#include "runtime/runtime_service.hpp"
#include "runtime/tls_identity.hpp"

namespace strata::runtime::cache {

using namespace std::chrono_literals;

namespace {

// If more keys have expired than a tick's budget can remove, the next tick comes soon.
constexpr auto soon = 1ms;
constexpr auto budget = 500us;
constexpr std::int64_t between_idle_checks_ms = 1000;

}  // namespace

shard::shard(loop::loop& loop, const cache_options& options, serve::connection_gauge& connections,
             std::shared_ptr<journal> log, std::shared_ptr<tap> tap, events events,
             scripting::identity identity, std::string handover_file)
    : loop_(loop),
      log_(std::move(log)),
      bench_(
          loop, options, [this] { arm_timer(usual_tick()); }, [this] { return check_memory(); }),
      data_(bench_.data()),
      admission_(options),
      commands_(std::move(tap), identity.name),
      turn_(loop, data_.keys()),
      persistence_(loop, data_, turn_,
                   {.log = options.persistent,
                    .snapshot = options.snapshot,
                    .handover = std::move(handover_file)},
                   {.begin_work = [this] { bench_.begin_work(); },
                    .end_work = [this] { bench_.end_work(); },
                    .on_safe =
                        [this] {
                          bench_.release_held();
                          bench_.begin_work();
                          data_.home().awaited_syncs().check(data_.home());
                          bench_.end_work();
                        },
                    .on_trouble =
                        [this, report = std::move(events.on_disk_trouble)](const std::string& why) {
                          bench_.count_disk_trouble(!why.empty());
                          report(why);
                        },
                    .on_shut_down = std::move(events.on_shut_down)},
                   log_),
      replication_(loop, data_, turn_,
                   {.begin_work = [this] { bench_.begin_work(); },
                    .end_work = [this] { bench_.end_work(); },
                    .on_new_data = [this] { (void)persistence_.rewrite(); },
                    .on_trouble = std::move(events.on_leader_trouble)},
                   log_),
      evaluator_(loop, data_,
                 {.begin_work = [this] { bench_.begin_work(); },
                  .end_work = [this] { bench_.end_work(); }},
                 *log_),
      landing_(bench_),
      acceptor_(loop, acceptor_settings(connections)) {
  data_.home().set_evaluator(&evaluator_);
  bench_.rely_on(persistence_);
  data_.home().feed().set_watcher(commands_);
  if (identity.others != nullptr) replication_.find_leaders_in(identity.others->names());
  if (!options.lua.empty()) {
    work_hooks hooks{.begin_work = [this] { bench_.begin_work(); },
                     .end_work = [this] { bench_.end_work(); }};
    script_ =
        std::make_unique<cache_script>(loop, data_, std::move(hooks), options, std::move(identity));
    landing_.set_script(script_.get());
  }
  data_.home().on_configured(
      [this, events = std::move(events.on_options_set)](const nlohmann::json& changed) {
        if (!changed.empty()) events(changed, edit_);
        admission_.heed(settings().options);
        replication_.check_followers();
        arm_timer(usual_tick());
      });
}

// Sessions use it while its members still exist.
shard::~shard() {
  acceptor_.stop_listening();
  evaluator_.supervisor().abandon();
  acceptor_.end_connections();
}

loop::task<result<void>> shard::load() {
  if (auto loaded = load_users(); !loaded) co_return loaded;
  co_return co_await persistence_.open();
}

result<void> shard::load_users() {
  auto& front = data_.home();
  front.apply_permissions();
  front.apply_user_options({});
  const auto& path = settings().options.acl_file;
  if (path.empty()) return {};
  front.set_acl_file(&users_file_.emplace(loop_.files(), path));
  const auto text = users_file_->read();
  if (!text) return std::unexpected(text.error());
  auto users = parse_acl(*text, path, channel_default::none);
  if (!users) return std::unexpected(users.error());
  front.replace_users(std::move(*users));
  return {};
}

serve::acceptor_settings shard::acceptor_settings(serve::connection_gauge& connections) {
  auto made = admission_.settings(connections, bench_.count(), *log_,
                                  [this] { ++data_.home().statistics().counted().rejected; });
  made.serve = [this](auto connection, auto place, unsigned /*listener*/) {
    return serve(std::move(connection), std::move(place));
  };
  return made;
}

result<void> shard::open(std::vector<net::bind_target>& targets,
                         const std::shared_ptr<net::tls_slot>& identity) {
  if (auto read = read_certificates(); !read) return std::unexpected(read.error());
  for (auto& each : targets) {
    auto opened =
        each.url.scheme->listen(loop_, each, {.share_port = settings().options.threads > 1});
    if (!opened) return std::unexpected(opened.error());
    acceptor_.add(std::move(opened->streams), 0, each.url.scheme->is_secure ? identity : nullptr);
    if (each.address.port() != 0) replication_.set_own_port(each.address.port());
    show_address(each);
  }
  if (!settings().options.follow.empty()) {
    const auto url = *net::parse_endpoint(settings().options.follow);
    replication_.follow(url.host, url.port);
  }
  if (script_) {
    if (auto opened = script_->open(); !opened) return opened;
  }
  data_.home().on_wrong_password([this](const client& client) {
    note_refusal(bench_.count(), *log_, client.remote_address(), refusal::password,
                 "the password is wrong");
  });
  acceptor_.begin();
  bench_.show_figures();
  arm_timer(usual_tick());
  return {};
}

// CONFIG shows the first port of each kind.
void shard::show_address(const net::bind_target& target) {
  auto& shown = settings();
  if (!target.url.has_port()) {
    if (shown.unix_socket.empty()) shown.unix_socket = target.url.path;
    return;
  }
  auto& port = target.url.scheme->is_secure ? shown.tls_port : shown.port;
  if (port == "0") port = std::to_string(target.address.port());
  if (!shown.addresses.empty()) shown.addresses += ' ';
  shown.addresses += target.address.is_every() ? "*" : target.address.ip();
}

// A cache that follows nobody any more has its settings still: what it connects to afterwards, for
// MIGRATE or REPLICAOF, it reaches by TLS, as before its restart.
result<bool> shard::read_certificates() {
  const auto& options = settings().options;
  const auto url = net::parse_endpoint(options.follow);
  const bool has_own = !options.ca.empty() || !options.client_cert.empty() || options.insecure;
  // A runtime's scheme is known once it is found.
  const bool is_open = !url || url->scheme->form == net::url_form::name;
  if (!(url && url->scheme->is_secure) && !(is_open && has_own)) return false;
  auto secure = read_client_tls(options);
  if (!secure) return std::unexpected(secure.error());
  replication_.secure_with(std::move(*secure));
  return true;
}

loop::time_point shard::end_limit(loop::time_point limit) const {
  const auto own = loop_.now() + loop::from_seconds(settings().options.drain_timeout);
  return std::min(limit, own);
}

loop::task<result<void>> shard::save(loop::time_point limit, const std::atomic<bool>& hurried) {
  const auto end = end_limit(limit);
  if (!persistence_.ends_unsaved()) co_await evaluator_.supervisor().finish(end, hurried);
  co_return co_await persistence_.save_changes(end, hurried);
}

loop::task<> shard::close(loop::time_point limit, const std::atomic<bool>& hurried,
                          bool is_handed_over) {
  const auto end = end_limit(limit);
  acceptor_.stop_listening();
  if (persistence_.ends_unsaved()) {
    evaluator_.supervisor().abandon();
  } else {
    co_await evaluator_.supervisor().finish(end, hurried);
  }
  replication_.close();
  // No more changes may occur when the log is closed.
  acceptor_.end_connections();
  co_await landing_.close();
  if (script_) co_await script_->end(end, hurried);
  disarm();
  if (is_handed_over) co_await persistence_.hand_over();
  co_await persistence_.close(end, hurried);
}

void shard::apply(const nlohmann::json& changes, std::uint64_t edit) {
  auto& settings = data_.home().settings();
  const auto users_before = settings.options.user;
  [[maybe_unused]] const auto applied = apply_json(settings.options, option_table(), changes);
  assert(applied);
  settings.heed_options();
  admission_.heed(settings.options);
  data_.home().apply_permissions();
  data_.home().apply_user_options(users_before);
  edit_ = edit;
  bench_.memory().look_soon();
}

serve::memory_watch::view shard::check_memory() {
  std::uint64_t held = 0;
  for (const auto* each : data_.home().clients()) held += each->held();
  bench_.count().connections_memory.set(held);
  const auto limit = settings().options.max_memory_connections;
  if (limit != 0 && held > limit) let_go(held);
  return {.held = held, .goes_on = false};
}

// Followers stay: a follower that has to begin again costs more than the memory it holds. Clients
// that must not be evicted go only if what the others hold does not suffice.
void shard::let_go(std::uint64_t held) {
  const auto limit = settings().options.max_memory_connections;
  const auto left = let_go(held, false);
  if (left > limit) (void)let_go(left, true);
}

std::uint64_t shard::let_go(std::uint64_t held, bool are_protected) {
  std::vector<serve::held_memory<client*>> all;
  for (auto* each : data_.home().clients()) {
    if (each->is_follower || each->no_evict != are_protected) continue;
    all.push_back({each, each->held(), each->last_whole});
  }
  const auto limit = settings().options.max_memory_connections;
  auto left = held;
  for (const auto& each : serve::longest_unfinished(all, held, limit)) {
    left -= std::min(left, each.bytes);
    bench_.count().drop_message(drop::memory);
    data_.home().disconnect(*each.by);
    log_->write_few("memory of connections", level::warning,
                    fmt::format("a client that held {} bytes was disconnected: all clients "
                                "together held {}, more than --max-memory-connections allows",
                                each.bytes, held));
  }
  return left;
}

loop::duration shard::usual_tick() const { return loop::duration(1s) / settings().hz; }

// Arms the next tick: at its regular time, or when a client's wait ends. Never postpones it.
void shard::arm_timer(loop::duration longest) {
  auto delay = longest;
  if (const auto deadline = data_.home().next_deadline_ms()) {
    const auto left = std::chrono::milliseconds(*deadline - data_.keys().now_ms());
    delay = std::clamp<loop::duration>(left, 0ms, longest);
  }
  if (!armed() || deadline() > loop_.now() + delay) loop_.arm_after(*this, delay);
}

void shard::on_timer() {
  bench_.set_date();
  if (data_.home().interrupted().is_on()) {
    // Waits that are over stay until the script goes on.
    loop_.arm_after(*this, usual_tick());
    return;
  }
  bool done = false;
  {
    const work_turn turn(bench_);
    done = data_.tick(budget);
    persistence_.tick();
    replication_.tick();
    end_idle_clients();
  }
  arm_timer(done ? usual_tick() : loop::duration(soon));
}

// A client is idle while it neither sends nor receives.
void shard::end_idle_clients() {
  const auto limit_ms = settings().idle_timeout_s * 1000;
  const auto now_ms = bench_.loop_ms();
  if (limit_ms == 0 || now_ms < idle_check_ms_) return;
  idle_check_ms_ = now_ms + between_idle_checks_ms;
  for (auto* each : std::vector(data_.home().clients())) {
    const auto traffic = each->traffic();
    if (std::exchange(each->seen_traffic, traffic) != traffic || each->may_idle()) {
      each->last_active_ms = now_ms;
    } else if (now_ms - each->last_active_ms > limit_ms) {
      data_.home().disconnect(*each);
    }
  }
}

// Reports only those of the engine's clients that are connections.
std::vector<client_report> shard::report() const {
  std::vector<client_report> reports;
  for (const auto* each : data_.home().clients()) {
    const auto* const connection = dynamic_cast<const session*>(each);
    if (connection != nullptr) reports.push_back(connection->report());
  }
  return reports;
}

bool shard::disconnect(std::uint64_t id) {
  const auto& clients = data_.home().clients();
  const auto found = std::ranges::find(clients, id, &client::id);
  if (found == clients.end()) return false;
  data_.home().disconnect(**found);
  return true;
}

loop::task<> shard::serve(std::unique_ptr<net::stream> connection,
                          [[maybe_unused]] serve::connection_gauge::place place) {
  if (const auto interval_s = settings().tcp_keepalive_s; interval_s != 0) {
    connection->keep_alive(std::chrono::seconds(interval_s));
  }
  cache::connection served(bench_, std::move(connection));
  const auto id = served.client().id;
  if (script_) co_await script_->notify(scripting::callback::connect, id);
  co_await served.run();
  if (script_) co_await script_->notify(scripting::callback::disconnect, id);
}

}  // namespace strata::runtime::cache
