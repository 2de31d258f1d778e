#include "http/files/representation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "http/file_piece.hpp"
#include "http/http_date.hpp"

namespace strata::http {

namespace {

std::string_view coding_name(coding coding) {
  if (coding == coding::identity) return {};
  return coding == coding::gzip ? "gzip" : "br";
}

std::string etag_of(const representation_source& source) {
  return fmt::format("\"{:x}-{:x}-{:x}{}{}{}\"", source.sent.modified_ns, source.sent.size,
                     source.sent.inode, source.by == coding::identity ? "" : "-",
                     coding_name(source.by), source.has_script ? "-script" : "");
}

}  // namespace

representation describe_file(const representation_source& source) {
  representation made;
  made.etag = etag_of(source);
  // A time in the future would be later than the answer's Date (RFC 9110 section 8.8.2.1).
  made.modified_s = std::min<std::int64_t>(source.original.modified_s(), ::time(nullptr));
  made.original = source.original;
  made.sent = source.sent;
  made.has_ranges = source.by == coding::identity && !source.has_script;
  auto& fields = made.fields;
  fields.reserve(8);
  fields.emplace_back("Content-Type", source.type);
  fields.emplace_back("X-Content-Type-Options", "nosniff");
  fields.emplace_back("ETag", made.etag);
  fields.emplace_back("Last-Modified", date_text(made.modified_s));
  if (made.has_ranges) fields.emplace_back("Accept-Ranges", "bytes");
  if (source.by != coding::identity)
    fields.emplace_back("Content-Encoding", coding_name(source.by));
  if (source.is_varied) fields.emplace_back("Vary", "Accept-Encoding");
  return made;
}

loop::slice read_whole(const opened_file& file) {
  return read_piece({.fd = file.fd.get(), .offset = 0, .count = file.version.size});
}

}  // namespace strata::http
