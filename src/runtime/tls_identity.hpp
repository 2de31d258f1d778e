// The certificates of a runtime that listens: read from files when it starts, and again whenever a
// file has changed. Files that are wrong leave what was read before in force.
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

/// Whether the options of TLS make sense for one that listens on `urls`. No file is read.
[[nodiscard]] result<void> check_tls(const tls_server_options& options,
                                     const std::vector<std::string>& urls);

/// Says to the log's copy which certificate a client has shown, if it has shown one.
void tell_subject(const net::stream& stream, journal& journal);

/// Whether the options of TLS make sense for one that connects. No file is read.
[[nodiscard]] result<void> check_tls(const tls_client_options& options);
/// What is wrong with the files, if something is; those of one without certificates are good.
[[nodiscard]] result<void> try_files(const tls_server_options& options);
[[nodiscard]] result<void> try_files(const tls_client_options& options);
/// What one that connects reads from its files. `protocols`: for ALPN, the best first. Errors: of
/// the files.
[[nodiscard]] result<std::shared_ptr<const net::tls_context>> read_client_tls(
    const tls_client_options& options, std::vector<std::string> protocols = {});

/// As `runtime::certificates()` has them.
[[nodiscard]] nlohmann::json certificates_json(const std::vector<net::certificate_info>& all);
/// The same of the first certificate in each of the files, as they are now. One that cannot be read
/// is left out: who uses it says so.
[[nodiscard]] nlohmann::json certificates_in(const std::vector<std::string>& files);

class tls_identity {
 public:
  tls_identity(loop::loop& loop, std::shared_ptr<journal> log)
      : home_(loop), log_(std::move(log)), slot_(std::make_shared<net::tls_slot>()) {}

  /// Reads the files, and looks after them from then on. Errors: of the files, unless the same were
  /// right before. `protocols`: those that ALPN may choose, the best first.
  [[nodiscard]] result<void> open(const tls_server_options& options,
                                  std::vector<std::string> protocols = {});
  /// Reads the files once more, whether they have changed or not. False: there are none. Errors: of
  /// the files; what was read before stays in force.
  [[nodiscard]] result<bool> reload();
  /// Looks after them no more.
  void close() { watching_.cancel(); }

  [[nodiscard]] const std::shared_ptr<net::tls_slot>& slot() const { return slot_; }
  /// As `runtime::certificates()` has it: what was read last.
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
