#include "net/tls/certificate.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>

#include "net/tls/certificate_file.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::net {

namespace {

using std::chrono::system_clock;

constexpr std::size_t longest_pem = 4U << 20U;
constexpr mode_t of_others = 07;

result<std::string> read_pem(const std::string& file, const std::string& operation, bool is_key) {
  const unique_fd opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!opened) {
    return system_failure(
        errno, operation,
        errno == ENOENT ? "name an existing file" : "give a file that strata's user can read");
  }
  struct stat about{};
  if (::fstat(opened.get(), &about) != 0) return system_failure(errno, operation);
  if (!S_ISREG(about.st_mode)) {
    return failure(errc::invalid_argument, operation, "it is not a regular file");
  }
  if (is_key && (about.st_mode & of_others) != 0) {
    return failure(
        errc::permission_denied, operation,
        fmt::format("its mode is {:04o}, so other users can read it", about.st_mode & 07777U),
        "chmod 600 " + file);
  }
  std::string text;
  std::array<char, 16384> part{};
  for (;;) {
    const auto got = ::read(opened.get(), part.data(), part.size());
    if (got < 0) return system_failure(errno, operation);
    if (got == 0) return text;
    text.append(part.data(), static_cast<std::size_t>(got));
    if (text.size() > longest_pem) {
      return failure(errc::limit_exceeded, operation, "it is longer than 4 MiB");
    }
  }
}

bio_pointer reader_of(const std::string& text) {
  return bio_pointer(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

system_clock::time_point time_of(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return {};
  return system_clock::from_time_t(::timegm(&parts));
}

std::string ip_text(const ASN1_OCTET_STRING* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int size = ASN1_STRING_length(address);
  const int family = size == 4 ? AF_INET : AF_INET6;
  if (size != 4 && size != 16) return {};
  const auto* const made = ::inet_ntop(family, ASN1_STRING_get0_data(address), text.data(),
                                       static_cast<socklen_t>(text.size()));
  return made == nullptr ? std::string{} : made;
}

std::vector<std::string> names_of(const X509& certificate) {
  std::vector<std::string> names;
  auto* const all = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(all); ++i) {
    const auto* const each = sk_GENERAL_NAME_value(all, i);
    if (each->type == GEN_DNS) {
      const auto* const text = ASN1_STRING_get0_data(each->d.dNSName);
      const auto size = static_cast<std::size_t>(ASN1_STRING_length(each->d.dNSName));
      names.emplace_back(reinterpret_cast<const char*>(text), size);
    } else if (each->type == GEN_IPADD) {
      if (auto text = ip_text(each->d.iPAddress); !text.empty()) names.push_back(std::move(text));
    }
  }
  GENERAL_NAMES_free(all);
  return names;
}

// OpenSSL escapes ASCII control characters, but not those of Unicode, which move a terminal's
// cursor too.
std::string without_c1(std::string_view text) {
  std::string escaped;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_c1 = text[i] == '\xC2' && i + 1 < text.size() &&
                       (static_cast<unsigned char>(text[i + 1]) & 0xE0U) == 0x80U;
    if (!is_c1) {
      escaped += text[i];
    } else {
      ++i;
      escaped += fmt::format("\\C2\\{:02X}", static_cast<unsigned char>(text[i]));
    }
  }
  return escaped;
}

// Never asks for a passphrase: a daemon has no terminal.
int give_no_passphrase(char* /*into*/, int /*size*/, int /*writing*/, void* /*of*/) { return 0; }

}  // namespace

std::string take_openssl_reason() {
  // The oldest error caused the others.
  const auto code = ERR_get_error();
  const auto* const reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  ERR_clear_error();
  return reason == nullptr ? "OpenSSL gives no reason" : std::string("OpenSSL says: ") + reason;
}

std::string format_date(system_clock::time_point when) {
  const auto seconds = system_clock::to_time_t(when);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string text_of(const X509_NAME* name) {
  const bio_pointer into(BIO_new(BIO_s_mem()));
  const auto flags = XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB;
  // Half a name could be another subject's name.
  if (X509_NAME_print_ex(into.get(), name, 0, flags) < 0) return "(unreadable)";
  char* text = nullptr;
  const auto size = BIO_get_mem_data(into.get(), &text);
  if (size <= 0) return {};
  return without_c1(std::string_view(text, static_cast<std::size_t>(size)));
}

certificate_info info_of(X509& certificate, std::string file) {
  return {.file = std::move(file),
          .subject = text_of(X509_get_subject_name(&certificate)),
          .issuer = text_of(X509_get_issuer_name(&certificate)),
          .names = names_of(certificate),
          .not_before = time_of(X509_get0_notBefore(&certificate)),
          .not_after = time_of(X509_get0_notAfter(&certificate)),
          .is_authority = X509_check_ca(&certificate) != 0};
}

result<x509_stack> load_certificates(const std::string& file) {
  const auto operation = "use certificate '" + file + "'";
  const auto text = read_pem(file, operation, false);
  if (!text) return std::unexpected(text.error());
  const auto from = reader_of(*text);
  x509_stack all(sk_X509_new_null());
  ERR_clear_error();
  while (auto* const each = PEM_read_bio_X509(from.get(), nullptr, give_no_passphrase, nullptr)) {
    sk_X509_push(all.get(), each);
  }
  // A good file ends with this error too: the end of the file.
  const bool is_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  auto reason = is_end ? "it holds no certificate in PEM" : take_openssl_reason();
  ERR_clear_error();
  if (sk_X509_num(all.get()) == 0 || !is_end) {
    return failure(errc::malformed, operation, std::move(reason),
                   "give a PEM file, the server's certificate first");
  }
  return all;
}

result<std::string> read_key_file(const std::string& file) {
  return read_pem(file, "use key '" + file + "'", true);
}

result<key_pointer> load_key(const std::string& file) {
  const auto text = read_key_file(file);
  if (!text) return std::unexpected(text.error());
  const auto from = reader_of(*text);
  ERR_clear_error();
  key_pointer key(PEM_read_bio_PrivateKey(from.get(), nullptr, give_no_passphrase, nullptr));
  ERR_clear_error();
  if (!key) {
    return failure(errc::malformed, "use key '" + file + "'",
                   "it holds no private key in PEM without a passphrase",
                   "give the key that belongs to the certificate");
  }
  return key;
}

result<std::vector<certificate_info>> read_certificates(const std::string& file) {
  const auto loaded = load_certificates(file);
  if (!loaded) return std::unexpected(loaded.error());
  std::vector<certificate_info> all;
  all.reserve(static_cast<std::size_t>(sk_X509_num(loaded->get())));
  for (int i = 0; i < sk_X509_num(loaded->get()); ++i) {
    all.push_back(info_of(*sk_X509_value(loaded->get(), i), file));
  }
  return all;
}

}  // namespace strata::net
