// Serves the files below a folder: an exchange in, an answer out.
//
// For one loop. It outlives the exchanges that it answers. A long body is sent in pieces as the
// client reads it; each piece is read from the file when it is needed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "http/exchange.hpp"
#include "http/files/byte_ranges.hpp"
#include "http/files/file_catalog.hpp"

namespace strata::http {

struct file_settings {
  catalog_settings catalog;
  bool lists_folders = false;
  std::string fallback;  ///< path below the folder; empty: none
};

/// The part of an answer that is not sent at once.
struct unsent_body {
  struct part {
    std::string head;  ///< precedes the bytes
    std::uint64_t offset = 0;
    std::uint64_t count = 0;
  };
  std::shared_ptr<const representation> of;
  std::vector<part> parts;
  std::string tail;
};

class file_server {
 public:
  /// Opens a server. Errors: name the folder or file that cannot be served.
  [[nodiscard]] static result<std::unique_ptr<file_server>> open(loop::loop& loop,
                                                                 const file_settings& settings);

  /// Answers, or begins to: then pass the result to `send`.
  [[nodiscard]] std::optional<unsent_body> answer(exchange& exchange);
  /// Waits until everything is pushed. A file that has become shorter ends the connection.
  [[nodiscard]] loop::task<> send(exchange& exchange, unsent_body rest);

 private:
  file_server(loop::loop& loop, std::unique_ptr<file_catalog> catalog,
              const file_settings& settings)
      : loop_(loop), catalog_(std::move(catalog)), settings_(settings) {}

  void refuse(exchange& exchange, int status) const;
  [[nodiscard]] std::optional<unsent_body> give_missing(exchange& exchange,
                                                        const request_path& path,
                                                        const finding& finding);
  void list(exchange& exchange, const request_path& path) const;
  [[nodiscard]] std::optional<unsent_body> give(
      exchange& exchange, std::shared_ptr<const representation> representation);
  [[nodiscard]] std::optional<unsent_body> give_whole(
      exchange& exchange, std::shared_ptr<const representation> representation);
  [[nodiscard]] loop::task<> send_compressed(exchange& exchange,
                                             std::shared_ptr<const representation> representation);

  loop::loop& loop_;
  std::unique_ptr<file_catalog> catalog_;
  file_settings settings_;
};

}  // namespace strata::http
