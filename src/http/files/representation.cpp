#include "http/files/representation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "http/file_piece.hpp"
#include "http/http_date.hpp"

namespace strata::http {

namespace {

std::string_view coding_name(coding which) {
  if (which == coding::identity) return {};
  return which == coding::gzip ? "gzip" : "br";
}

std::string etag_of(const representation_source& of) {
  return fmt::format("\"{:x}-{:x}-{:x}{}{}{}\"", of.sent.modified_ns, of.sent.size, of.sent.inode,
                     of.by == coding::identity ? "" : "-", coding_name(of.by),
                     of.has_script ? "-script" : "");
}

}  // namespace

representation describe_file(const representation_source& of) {
  representation made;
  made.etag = etag_of(of);
  // One in the future would be later than the answer's Date (RFC 9110 section 8.8.2.1).
  made.modified_s = std::min<std::int64_t>(of.original.modified_s(), ::time(nullptr));
  made.original = of.original;
  made.sent = of.sent;
  made.has_ranges = of.by == coding::identity && !of.has_script;
  auto& fields = made.fields;
  fields.reserve(8);
  fields.emplace_back("Content-Type", of.type);
  fields.emplace_back("X-Content-Type-Options", "nosniff");
  fields.emplace_back("ETag", made.etag);
  fields.emplace_back("Last-Modified", date_text(made.modified_s));
  if (made.has_ranges) fields.emplace_back("Accept-Ranges", "bytes");
  if (of.by != coding::identity) fields.emplace_back("Content-Encoding", coding_name(of.by));
  if (of.is_varied) fields.emplace_back("Vary", "Accept-Encoding");
  return made;
}

loop::slice read_whole(const opened_file& from) {
  return read_piece({.fd = from.fd.get(), .offset = 0, .count = from.version.size});
}

}  // namespace strata::http
