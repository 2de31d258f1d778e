#include "runtime/tls_identity.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

namespace strata::runtime {

using namespace std::chrono_literals;

namespace {

constexpr auto between_looks = 1s;

// A file's state, which changes when the file is written or replaced.
std::string stamp_of(const std::string& file) {
  struct stat found{};
  if (::stat(file.c_str(), &found) != 0) return "-";
  return fmt::format("{}.{}.{}.{}.{}", found.st_dev, found.st_ino, found.st_size,
                     found.st_mtim.tv_sec, found.st_mtim.tv_nsec);
}

std::string stamp_of_all(const std::vector<std::string>& files) {
  std::string all;
  for (const auto& each : files) all += stamp_of(each) + ' ';
  return all;
}

net::tls_server_settings settings_of(const tls_server_options& options) {
  net::tls_server_settings made{.client_ca = options.client_ca};
  for (std::size_t i = 0; i < options.cert.size(); ++i) {
    made.certificates.push_back({options.cert[i], options.key[i]});
  }
  if (options.tls_min == "1.3") made.least = net::tls_version::tls_1_3;
  return made;
}

std::vector<std::string> files_of(const tls_server_options& options) {
  auto all = options.cert;
  all.insert(all.end(), options.key.begin(), options.key.end());
  if (!options.client_ca.empty()) all.push_back(options.client_ca);
  return all;
}

result<void> check_paths(const std::vector<std::string>& files) {
  for (const auto& each : files) {
    if (each.empty() || each.starts_with('/')) continue;
    return failure(errc::invalid_argument, "use '" + each + "' for TLS",
                   "the path is relative, and the daemon runs in a different folder",
                   "give an absolute path");
  }
  return {};
}

}  // namespace

result<void> check_tls(const tls_client_options& options) {
  auto checked = check_paths({options.ca, options.client_cert, options.client_key});
  if (!checked || options.client_cert.empty() == options.client_key.empty()) return checked;
  return failure(errc::invalid_argument, "use a client certificate",
                 "its file or its key's is missing", "give both --client-cert and --client-key");
}

result<std::shared_ptr<const net::tls_context>> read_client_tls(
    const tls_client_options& options, std::vector<std::string> protocols) {
  return net::tls_context::for_client({.ca = options.ca,
                                       .server_name = options.servername,
                                       .certificate = {options.client_cert, options.client_key},
                                       .is_insecure = options.insecure,
                                       .protocols = std::move(protocols)});
}

result<void> check_tls(const tls_server_options& options, const std::vector<std::string>& urls) {
  if (auto checked = check_paths(files_of(options)); !checked) return checked;
  if (options.cert.size() != options.key.size()) {
    return failure(errc::invalid_argument, "use the certificates of --cert",
                   fmt::format("the numbers differ: certificates {}, keys {}", options.cert.size(),
                               options.key.size()),
                   "give --key FILE for each --cert FILE, in the same order");
  }
  if (!options.cert.empty()) return {};
  if (!options.client_ca.empty()) {
    return failure(errc::invalid_argument, "use --client-ca",
                   "TLS needs a certificate of the server itself",
                   "give --cert FILE and --key FILE too");
  }
  for (const auto& each : urls) {
    const auto url = net::parse_endpoint(each);
    if (!url || !url->scheme->is_secure) continue;
    return failure(errc::invalid_argument, "listen on '" + each + "'", "no certificate is given",
                   "give --cert FILE and --key FILE; 'strata cert make NAME' makes both");
  }
  return {};
}

result<void> try_files(const tls_server_options& options) {
  if (options.cert.empty()) return {};
  auto made = net::tls_context::for_server(settings_of(options));
  return made ? result<void>() : std::unexpected(made.error());
}

result<void> try_files(const tls_client_options& options) {
  if (options.ca.empty() && options.client_cert.empty()) return {};
  auto made = read_client_tls(options);
  return made ? result<void>() : std::unexpected(made.error());
}

nlohmann::json certificates_json(const std::vector<net::certificate_info>& all) {
  auto shown = nlohmann::json::array();
  const auto now = std::chrono::system_clock::now();
  for (const auto& each : all) {
    const auto left = std::chrono::duration_cast<std::chrono::seconds>(each.not_after - now);
    shown.push_back({{"file", each.file},
                     {"subject", each.subject},
                     {"issuer", each.issuer},
                     {"names", each.names},
                     {"not_after", format_time(each.not_after)},
                     {"expires_in_s", left.count()}});
  }
  return shown;
}

nlohmann::json certificates_in(const std::vector<std::string>& files) {
  std::vector<net::certificate_info> firsts;
  for (const auto& each : files) {
    auto found = net::read_certificates(each);
    if (found) firsts.push_back(std::move(found->front()));
  }
  return certificates_json(firsts);
}

void log_subject(const net::stream& stream, journal& journal) {
  const auto& peer = stream.peer();
  if (peer.tls_subject.empty()) return;
  journal.write(level::debug, fmt::format("client {} has the certificate of '{}'",
                                          peer.address.text(), peer.tls_subject));
}

result<void> tls_identity::open(const tls_server_options& options,
                                std::vector<std::string> protocols) {
  const bool is_same = files_ == files_of(options);
  settings_ = settings_of(options);
  settings_.protocols = std::move(protocols);
  files_ = files_of(options);
  watching_.cancel();
  if (files_.empty()) {
    slot_->set(nullptr);
    return {};
  }
  auto done = read();
  if (!done && !(is_same && slot_->get())) return done;
  watching_.spawn(watch());
  return {};
}

result<bool> tls_identity::reload() {
  if (files_.empty()) return false;
  if (auto done = read(); !done) return std::unexpected(done.error());
  watching_.cancel();
  watching_.spawn(watch());
  return true;
}

// Errors that do not end the runtime are logged.
result<void> tls_identity::read() {
  auto made = net::tls_context::for_server(settings_);
  if (made) {
    slot_->set(std::move(*made));
    return {};
  }
  if (slot_->get()) {
    log_->write(level::error, describe(made.error()) + "; the previous certificates stay in force");
  }
  return std::unexpected(made.error());
}

// Files that belong together are not replaced at the same moment: they are read once they are
// unchanged for a while.
loop::task<> tls_identity::watch() {
  auto in_force = stamp_of_all(files_);
  auto last = in_force;
  for (;;) {
    co_await home_.sleep(between_looks);
    const auto now = stamp_of_all(files_);
    const bool rests = now == last;
    last = now;
    if (!rests || now == in_force) continue;
    in_force = now;
    if (read()) log_->write(level::info, "reread the certificates: their files have changed");
  }
}

nlohmann::json tls_identity::shown() const {
  const auto with = slot_->get();
  return with ? certificates_json(with->certificates()) : nlohmann::json::array();
}

}  // namespace strata::runtime
