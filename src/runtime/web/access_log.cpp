#include "runtime/web/access_log.hpp"

namespace strata::runtime {

result<std::unique_ptr<access_log>> access_log::open(loop::loop& loop, const std::string& path,
                                                     const std::string& format,
                                                     std::function<void(std::string)> on_error) {
  auto lines = http::access_format::parse(format);
  if (!lines) return std::unexpected(lines.error());
  auto sink = file_sink::open(loop, path, std::move(on_error));
  if (!sink) return std::unexpected(sink.error());
  return std::unique_ptr<access_log>(new access_log(std::move(*lines), std::move(*sink)));
}

}  // namespace strata::runtime
