// The certificates of a runtime that listens: read from files when it starts, and again whenever a
// file has changed. If files are invalid, the previous certificates stay in force.
//
// It lives on the home loop; its slot is for all loops.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "loop/loop.hpp"
#include "loop/task_group.hpp"
#include "net/scheme.hpp"
#include "net/stream.hpp"
#include "net/tls/slot.hpp"
#include "runtime/journal.hpp"
#include "runtime/options/tls_options.hpp"

namespace strata::runtime {

/// Checks that the TLS options are valid for a runtime that listens on `urls`. No file is read.
[[nodiscard]] result<void> check_tls(const tls_server_options& options,
                                     const std::vector<std::string>& urls);

/// Reports a client's certificate, if there is one, to the log's copy.
void log_subject(const net::stream& stream, journal& journal);

/// Checks that the TLS options are valid for a runtime that connects. No file is read.
[[nodiscard]] result<void> check_tls(const tls_client_options& options);
/// Reads the files only for their errors; without certificates there are none.
[[nodiscard]] result<void> try_files(const tls_server_options& options);
[[nodiscard]] result<void> try_files(const tls_client_options& options);
/// Reads the TLS files of a runtime that connects. `protocols`: for ALPN, in order of preference.
/// Errors: those of the files.
[[nodiscard]] result<std::shared_ptr<const net::tls_context>> read_client_tls(
    const tls_client_options& options, std::vector<std::string> protocols = {});

/// In the form of `runtime::certificates()`.
[[nodiscard]] nlohmann::json certificates_json(const std::vector<net::certificate_info>& all);
/// The same for the first certificate of each file, as it is now. A file that cannot be read is
/// left out: its user reports it.
[[nodiscard]] nlohmann::json certificates_in(const std::vector<std::string>& files);

class tls_identity {
 public:
  tls_identity(loop::loop& loop, std::shared_ptr<journal> log)
      : home_(loop), log_(std::move(log)), slot_(std::make_shared<net::tls_slot>()) {}

  /// Reads the files, and watches them from then on. Errors: those of the files, unless the same
  /// files were valid before. `protocols`: for ALPN, in order of preference.
  [[nodiscard]] result<void> open(const tls_server_options& options,
                                  std::vector<std::string> protocols = {});
  /// Reads the files again, whether they have changed or not. Returns false if there are none.
  /// Errors: those of the files; what was read before stays in force.
  [[nodiscard]] result<bool> reload();
  /// Stops watching the files.
  void close() { watching_.cancel(); }

  [[nodiscard]] const std::shared_ptr<net::tls_slot>& slot() const { return slot_; }
  /// In the form of `runtime::certificates()`: what was read last.
  [[nodiscard]] nlohmann::json shown() const;

 private:
  [[nodiscard]] result<void> read();
  loop::task<> watch();

  loop::loop& home_;
  std::shared_ptr<journal> log_;
  std::shared_ptr<net::tls_slot> slot_;
  net::tls_server_settings settings_;
  std::vector<std::string> files_;
  loop::task_group watching_;
};

}  // namespace strata::runtime
