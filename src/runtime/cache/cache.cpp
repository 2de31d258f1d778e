#include "runtime/cache/cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/cache/cache_part.hpp"
#include "runtime/cache/serving/user_options.hpp"
#include "runtime/clients.hpp"
#include "runtime/data_saver.hpp"
#include "runtime/introducers.hpp"
#include "runtime/runtime_service.hpp"
#include "runtime/scripting/scripted.hpp"
#include "runtime/tls_identity.hpp"

namespace strata::runtime::cache {

namespace {

result<void> check_path(std::string_view flag, const std::string& path) {
  if (path.empty() || path.front() == '/') return {};
  return failure(errc::invalid_argument, fmt::format("use '{}' as {}", path, flag),
                 "the path is relative, and the daemon runs in a different folder",
                 "give an absolute path");
}

result<void> check_files(const cache_options& options) {
  if (auto checked = check_path("--persistent", options.persistent); !checked) return checked;
  if (auto checked = check_path("--snapshot", options.snapshot); !checked) return checked;
  if (!options.snapshot.empty() && options.snapshot == options.persistent) {
    return failure(errc::invalid_argument, fmt::format("use '{}' as --snapshot", options.snapshot),
                   "--persistent uses the same file", "give a different file");
  }
  if (!save_rules::parse(options.save)) {
    return failure(errc::invalid_argument, fmt::format("use '{}' as --save", options.save),
                   "the value is not a list of pairs",
                   "give seconds and changes: \"3600 1 60 1000\"");
  }
  if (auto checked = check_path("--acl-file", options.acl_file); !checked) return checked;
  if (!options.save.empty() && options.snapshot.empty()) {
    return failure(errc::invalid_argument, fmt::format("use '{}' as --save", options.save),
                   "no snapshot file is given", "also give --snapshot FILE");
  }
  return {};
}

// How long to wait before a record that could not be written is tried again. The wait may outlive
// the cache.
constexpr auto between_records = std::chrono::seconds(1);

// The pending update of the daemon's record with options that clients have set. It may outlive the
// cache.
struct record_keeping {
  bool is_needed = false;
  bool is_under_way = false;
  /// Called with the current error; empty when it is resolved. Null once the cache is destroyed.
  std::function<void(const std::string& trouble)> on_trouble;
};

// Tries until the options are in the record: a disk that is full now may have room later.
loop::task<> keep_record(std::shared_ptr<record_keeping> keeping, runtime_service& others,
                         loop::loop& home, std::string name, std::shared_ptr<journal> log) {
  keeping->is_under_way = true;
  for (bool failing = false; keeping->is_needed && keeping->on_trouble;) {
    keeping->is_needed = false;
    // A named variable: GCC 12 destroys a braced argument of an awaited call twice.
    service_request request{
        .verb = service_verb::edit, .name = name, .details = nlohmann::json::object(), .by = name};
    const auto kept = co_await others.perform(home, std::move(request));
    if (!keeping->on_trouble) co_return;
    if (kept || kept.error().code == errc::not_found) {
      keeping->on_trouble("");
      continue;
    }
    if (!std::exchange(failing, true)) log->write(level::error, describe(kept.error()));
    keeping->on_trouble(describe(kept.error()));
    keeping->is_needed = true;
    co_await home.sleep(between_records);
  }
  keeping->is_under_way = false;
}

class cache final : public scripting::scripted<cache_options, cache_part>, public data_saver {
 public:
  explicit cache(context&& context) : scripted(std::move(context), option_table()) {
    keeping_->on_trouble = [this](const std::string& trouble) { note_record(trouble); };
  }
  ~cache() override { keeping_->on_trouble = nullptr; }

  loop::task<result<void>> save(loop::time_point limit, const std::atomic<bool>& hurried) override;
  [[nodiscard]] std::vector<nlohmann::json> figures() const override;
  loop::task<result<nlohmann::json>> clients(operation_call call);
  loop::task<result<nlohmann::json>> disconnect(operation_call call);

 private:
  [[nodiscard]] result<void> check(const cache_options& options) const override;
  [[nodiscard]] part_list make_parts(const std::vector<loop::loop*>& loops) override;
  [[nodiscard]] std::size_t wanted_loops() const override { return wanted().threads; }
  /// The first part; only while it is opened.
  [[nodiscard]] engine_part& engine() const { return static_cast<engine_part&>(part_at(0)); }
  [[nodiscard]] result<void> open_identity() override { return identity_.open(running()); }
  void close_identity() override { identity_.close(); }
  [[nodiscard]] result<void> try_certificates() const override;
  [[nodiscard]] loop::task<result<bool>> read_certificates() override;
  [[nodiscard]] nlohmann::json certificates() const override {
    auto all = has_parts() ? identity_.shown() : certificates_in(wanted().cert);
    if (wanted().client_cert.empty()) return all;
    for (auto& each : certificates_in({wanted().client_cert})) all.push_back(std::move(each));
    return all;
  }
  [[nodiscard]] std::string warning() const override;
  [[nodiscard]] std::vector<std::string> needs() const override;
  [[nodiscard]] std::vector<std::string_view> carried(const cache_options& next) const override {
    auto all = carried_by(next.endpoints());
    if (!next.proxy_protocol.empty()) all.emplace_back("PROXY headers");
    return all;
  }
  [[nodiscard]] bool serves_strangers() const override { return wanted().serves_strangers(); }
  void hand_over() override { is_handed_over_ = true; }
  [[nodiscard]] std::string handover_file() const;

  void keep_figures() override;
  /// Called on the shard's loop.
  void note_trouble(std::string cache::* kind, const std::string& why) {
    given().home.post([this, kind, why] { this->*kind = why; });
  }
  /// Has the daemon store the options in its record, as clients have set them.
  void keep_options();
  void note_record(const std::string& trouble);
  [[nodiscard]] key_figures counted_keys() const;
  [[nodiscard]] behind_figures counted_changes() const;

  std::atomic<bool> is_handed_over_ = false;
  std::shared_ptr<record_keeping> keeping_ = std::make_shared<record_keeping>();
  std::string record_trouble_;  ///< why changed options are not in the record; empty if they are
  key_figures past_keys_;
  behind_figures past_changes_;
  std::string leader_trouble_;  // why the leader cannot be followed; empty if unknown
  std::string disk_trouble_;    // why the disk does not accept the data; empty if it does
  tls_identity identity_{given().home, given().log};
};

result<void> cache::check(const cache_options& options) const {
  const auto urls = options.endpoints();
  if (urls.empty()) {
    return failure(errc::invalid_argument, "create a cache", "no address to listen on is given",
                   "give -p PORT or --listen URL");
  }
  for (const auto& each : urls) {
    auto url = net::parse_listening(each);
    if (!url) return std::unexpected(url.error());
    if (!url->is_stream() || url->is_web()) {
      return failure(errc::invalid_argument, "listen on '" + each + "'",
                     "a cache accepts only streams",
                     "use tcp://HOST:PORT, tls://HOST:PORT or unix:///PATH");
    }
  }
  if (!options.follow.empty()) {
    const auto url = net::parse_connecting(options.follow);
    if (!url) return std::unexpected(url.error());
    const bool is_name = url->scheme->form == net::url_form::name;
    if (!url->is_stream() || (!url->has_port() && !is_name) || url->is_web()) {
      return failure(errc::invalid_argument, "follow '" + options.follow + "'",
                     "a cache follows only over streams",
                     "use tcp://HOST:PORT, tls://HOST:PORT or runtime://NAME");
    }
    if (is_name && url->host.starts_with('@')) {
      return failure(errc::invalid_argument, "follow '" + options.follow + "'",
                     "a cache has one leader, and this is a group",
                     "name a runtime: runtime://NAME or runtime://NAME@DAEMON");
    }
  }
  if (auto checked = check_tls(static_cast<const tls_client_options&>(options)); !checked) {
    return checked;
  }
  if (auto checked = check_tls(options, urls); !checked) return checked;
  if (const auto read = introducers::parse(options.proxy_protocol); !read) {
    return std::unexpected(read.error());
  }
  if (auto checked = check_users(options); !checked) return checked;
  parameters checking;
  checking.options = options;
  if (auto taken = checking.take_config(); !taken) return taken;
  return check_files(options);
}

cache::part_list cache::make_parts(const std::vector<loop::loop*>& loops) {
  shard::events events{
      .on_shut_down = [this] { finish("a client sent SHUTDOWN"); },
      .on_options_set =
          [this](const nlohmann::json& changes, std::uint64_t edit) {
            adopt(changes, edit);
            given().home.post([this] { keep_options(); });
          },
      .on_leader_trouble =
          [this](const std::string& why) { note_trouble(&cache::leader_trouble_, why); },
      .on_disk_trouble =
          [this](const std::string& why) { note_trouble(&cache::disk_trouble_, why); }};
  leader_trouble_.clear();
  disk_trouble_.clear();
  is_handed_over_ = false;
  scripting::identity who{given().name, "cache", given().log, shared(), given().others};
  part_list made;
  auto engine = std::make_unique<engine_part>(
      *loops[0], running(), connections(), given().log, given().tap, identity_.slot(),
      std::move(events), std::move(who), hurried(),
      engine_part::handover{.file = handover_file(), .is_due = is_handed_over_});
  auto& there = *engine;
  made.push_back(std::move(engine));
  for (std::size_t i = 1; i < loops.size(); ++i) {
    made.push_back(std::make_unique<outpost_part>(*loops[i], connections(), given().log,
                                                  identity_.slot(), there));
  }
  return made;
}

std::string cache::handover_file() const {
  const auto& folder = given().state_folder;
  return folder.empty() ? "" : fmt::format("{}/handover/{}.rdb", folder, given().name);
}

result<void> cache::try_certificates() const {
  auto own = try_files(static_cast<const tls_server_options&>(wanted()));
  return own ? try_files(static_cast<const tls_client_options&>(wanted())) : own;
}

loop::task<result<bool>> cache::read_certificates() {
  auto own = identity_.reload();
  if (!own) co_return own;
  auto to_leader = co_await run_at(
      0, [](cache_part& part) { return static_cast<engine_part&>(part).read_certificates(); });
  if (!to_leader) co_return to_leader;
  co_return *own || *to_leader;
}

std::vector<std::string> cache::needs() const {
  const auto url = net::parse_endpoint(wanted().follow);
  if (!url || url->scheme->form != net::url_form::name) return {};
  return {url->host};
}

std::string cache::warning() const {
  if (has_parts() && !disk_trouble_.empty()) return "not writing: " + disk_trouble_;
  if (has_parts() && !leader_trouble_.empty()) return "not following: " + leader_trouble_;
  if (!record_trouble_.empty()) return "options are not saved in the record: " + record_trouble_;
  return wanted().insecure ? "insecure: any certificate of the leader is accepted" : "";
}

void cache::keep_options() {
  if (given().others == nullptr) return;
  keeping_->is_needed = true;
  if (keeping_->is_under_way) return;
  given().home.spawn(
      keep_record(keeping_, *given().others, given().home, given().name, given().log));
}

void cache::note_record(const std::string& trouble) {
  if (record_trouble_ == trouble) return;
  record_trouble_ = trouble;
  if (!has_parts()) return;
  loop_of(0).post([&part = engine(), trouble] { part.note_record_trouble(trouble); });
}

loop::task<result<void>> cache::save(loop::time_point limit, const std::atomic<bool>& hurried) {
  auto work = [&saved = engine(), limit, &hurried] { return saved.save(limit, hurried); };
  co_return co_await loop::call_on(given().home, loop_of(0), std::move(work));
}

loop::task<result<nlohmann::json>> cache::clients(operation_call /*call*/) {
  std::vector<client_report> all;
  if (opened() != 0) {
    all = co_await loop::run_on(given().home, loop_of(0), [&at = engine()] { return at.report(); });
  }
  co_return co_await json_of(given().home, std::move(all));
}

loop::task<result<nlohmann::json>> cache::disconnect(operation_call call) {
  const auto id = call.parameters.at("client").get<std::uint64_t>();
  if (opened() != 0) {
    const bool is_there = co_await loop::run_on(given().home, loop_of(0),
                                                [&at = engine(), id] { return at.disconnect(id); });
    if (is_there) co_return nlohmann::json();
  }
  co_return std::unexpected(no_such_client(id, given().name));
}

key_figures cache::counted_keys() const {
  auto sum = past_keys_;
  if (opened() != 0) add_figures(sum, engine().counted_keys(), key_figure_table());
  return sum;
}

behind_figures cache::counted_changes() const {
  auto sum = past_changes_;
  const auto* const script = opened() != 0 ? engine().script() : nullptr;
  if (script != nullptr) add_figures(sum, script->counted_changes(), behind_figure_table());
  return sum;
}

void cache::keep_figures() {
  scripted::keep_figures();
  past_keys_ = past_figures(counted_keys(), key_figure_table());
  past_changes_ = past_figures(counted_changes(), behind_figure_table());
}

std::vector<nlohmann::json> cache::figures() const {
  auto values = scripted::figures();
  std::ranges::move(values_of(counted_changes(), behind_figure_table()),
                    std::back_inserter(values));
  std::ranges::move(values_of(counted_keys(), key_figure_table()), std::back_inserter(values));
  return values;
}

}  // namespace

const std::vector<options::figure_row>& figure_rows() {
  static const auto rows = [] {
    auto all = scripting::script_figure_rows();
    std::ranges::copy(rows_of(behind_figure_table()), std::back_inserter(all));
    std::ranges::copy(rows_of(key_figure_table()), std::back_inserter(all));
    return all;
  }();
  return rows;
}

const std::vector<operation_row>& operation_rows() {
  static const auto rows = [] {
    auto all = scripting::script_operations<cache>();
    all.push_back(clients_operation(operation_method<&cache::clients>::run));
    all.push_back(disconnect_operation(operation_method<&cache::disconnect>::run));
    return all;
  }();
  return rows;
}

result<std::unique_ptr<runtime>> make(context&& context, const nlohmann::json& options) {
  return make_from<cache>(std::move(context), options);
}

}  // namespace strata::runtime::cache
