#include "net/tls/authority.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "net/tls/certificate_file.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::net {

namespace {

using namespace std::chrono_literals;

constexpr auto life_of_authority = 24h * 3650;
// Clocks differ between machines.
constexpr long backdated_s = 3600;
constexpr std::size_t longest_name = 253;
constexpr std::size_t most_names = 100;

std::unexpected<error> openssl_failure(std::string operation) {
  return failure(errc::system, std::move(operation), take_openssl_reason());
}

result<void> write_all(int fd, std::string_view text, const std::string& operation) {
  while (!text.empty()) {
    const auto count = ::write(fd, text.data(), text.size());
    if (count < 0) return system_failure(errno, operation);
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  if (::fsync(fd) != 0) return system_failure(errno, operation);
  return {};
}

// Writes under a temporary name first, so that no reader sees a partial file.
result<void> write_file(const std::string& path, std::string_view text, mode_t mode) {
  const auto operation = "write '" + path + "'";
  const auto fresh = path + ".new";
  (void)::unlink(fresh.c_str());
  const unique_fd opened(
      ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!opened) {
    const int why = errno;
    const auto folder = path.substr(0, path.rfind('/'));
    return system_failure(why, operation,
                          why == ENOENT ? "make its folder first: mkdir -p " + folder : "");
  }
  auto written = write_all(opened.get(), text, operation);
  if (written && ::rename(fresh.c_str(), path.c_str()) != 0) {
    written = system_failure(errno, operation);
  }
  if (!written) (void)::unlink(fresh.c_str());
  return written;
}

std::string pem_text(BIO* bio) {
  char* text = nullptr;
  const auto size = BIO_get_mem_data(bio, &text);
  return size <= 0 ? std::string{} : std::string(text, static_cast<std::size_t>(size));
}

result<void> write_pair(const certificate_files& files, EVP_PKEY* key,
                        const std::vector<X509*>& certificates) {
  const bio_pointer secret(BIO_new(BIO_s_mem()));
  const bio_pointer shown(BIO_new(BIO_s_mem()));
  bool is_good =
      PEM_write_bio_PrivateKey(secret.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1;
  for (auto* const each : certificates) {
    is_good = is_good && PEM_write_bio_X509(shown.get(), each) == 1;
  }
  if (!is_good) return openssl_failure("write '" + files.certificate + "'");
  if (auto done = write_file(files.key, pem_text(secret.get()), 0600); !done) return done;
  return write_file(files.certificate, pem_text(shown.get()), 0644);
}

bool add_extension(X509* certificate, X509* issuer, int index, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  auto* const made = X509V3_EXT_conf_nid(nullptr, &context, index, value.c_str());
  const bool added = made != nullptr && X509_add_ext(certificate, made, -1) == 1;
  X509_EXTENSION_free(made);
  return added;
}

bool set_serial(X509* certificate) {
  std::array<unsigned char, 16> number{};
  if (RAND_bytes(number.data(), static_cast<int>(number.size())) != 1) return false;
  number[0] &= 0x7F;  // makes it positive
  BIGNUM* const large = BN_bin2bn(number.data(), static_cast<int>(number.size()), nullptr);
  const bool done = BN_to_ASN1_INTEGER(large, X509_get_serialNumber(certificate)) != nullptr;
  BN_free(large);
  return done;
}

bool add_common_name(X509_NAME* name, const std::string& text) {
  return X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(text.data()),
                                    static_cast<int>(text.size()), -1, 0) == 1;
}

using extension_list = std::vector<std::pair<int, std::string>>;

// Makes a certificate for `key`, signed with `issuer`'s key; self-signed if `issuer` is null.
x509_pointer make_certificate(const std::string& name, EVP_PKEY* key, std::chrono::seconds life,
                              X509* issuer, EVP_PKEY* issuer_key, const extension_list& more) {
  ERR_clear_error();
  x509_pointer made(X509_new());
  auto* const one = made.get();
  if (one == nullptr) return {};
  X509* const by = issuer == nullptr ? one : issuer;
  bool is_good = X509_set_version(one, X509_VERSION_3) == 1 && set_serial(one) &&
                 X509_gmtime_adj(X509_getm_notBefore(one), -backdated_s) != nullptr &&
                 X509_gmtime_adj(X509_getm_notAfter(one), life.count()) != nullptr &&
                 X509_set_pubkey(one, key) == 1 &&
                 add_common_name(X509_get_subject_name(one), name) &&
                 X509_set_issuer_name(one, X509_get_subject_name(by)) == 1;
  for (const auto& [which, value] : more) is_good = is_good && add_extension(one, by, which, value);
  if (!is_good || X509_sign(one, issuer_key, EVP_sha256()) == 0) return {};
  return made;
}

bool is_name(std::string_view text) {
  if (text.starts_with("*.")) text.remove_prefix(2);
  if (text.empty() || text.size() > longest_name || text.front() == '.') return false;
  return std::ranges::all_of(text, [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '-' || letter == '.' || letter == '_';
  });
}

bool is_address(const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> parsed{};
  return ::inet_pton(AF_INET, text.c_str(), parsed.data()) == 1 ||
         ::inet_pton(AF_INET6, text.c_str(), parsed.data()) == 1;
}

result<std::string> alternative_names(const std::vector<std::string>& names) {
  if (names.empty() || names.size() > most_names) {
    return failure(errc::invalid_argument, "make a certificate", "it has no name or too many names",
                   "give from 1 to 100 names");
  }
  std::string all;
  for (const auto& each : names) {
    const bool has_address = is_address(each);
    if (!has_address && !is_name(each)) {
      return failure(errc::invalid_argument, "make a certificate for '" + each + "'",
                     "that is neither a host name nor an address");
    }
    all += (all.empty() ? "" : ",") + std::string(has_address ? "IP:" : "DNS:") + each;
  }
  return all;
}

// Turns a name into a file name.
std::string file_name(std::string name) {
  if (name.starts_with('*')) name.replace(0, 1, "_wildcard");
  for (auto& letter : name) {
    if (letter == ':') letter = '-';
  }
  return name;
}

}  // namespace

result<certificate_files> open_authority(const std::string& folder) {
  certificate_files files{folder + "/ca.pem", folder + "/ca-key.pem"};
  const bool has_certificate = ::access(files.certificate.c_str(), F_OK) == 0;
  const bool has_key = ::access(files.key.c_str(), F_OK) == 0;
  if (has_certificate && has_key) return files;
  if (has_certificate || has_key) {
    return failure(errc::conflict, "use the authority in '" + folder + "'",
                   "its certificate or its key is missing",
                   "put both there, ca.pem and ca-key.pem, or remove both");
  }
  const key_pointer key(EVP_EC_gen("P-256"));
  const auto made =
      make_certificate("strata local authority", key.get(), life_of_authority, nullptr, key.get(),
                       {{NID_basic_constraints, "critical,CA:TRUE,pathlen:0"},
                        {NID_key_usage, "critical,keyCertSign,cRLSign"},
                        {NID_subject_key_identifier, "hash"}});
  if (!made) return openssl_failure("make an authority in '" + folder + "'");
  if (auto done = write_pair(files, key.get(), {made.get()}); !done) {
    return std::unexpected(done.error());
  }
  return files;
}

result<certificate_files> issue_certificate(const certificate_files& authority,
                                            const certificate_order& order,
                                            const std::string& folder) {
  const auto names = alternative_names(order.names);
  if (!names) return std::unexpected(names.error());
  const auto issuers = load_certificates(authority.certificate);
  if (!issuers) return std::unexpected(issuers.error());
  const auto issuer_key = load_key(authority.key);
  if (!issuer_key) return std::unexpected(issuer_key.error());
  auto* const issuer = sk_X509_value(issuers->get(), 0);
  const auto& name = order.names.front();
  const key_pointer key(EVP_EC_gen("P-256"));
  // A common name has at most 64 letters; verification uses the alternative names.
  const auto made =
      make_certificate(name.substr(0, 64), key.get(), order.life, issuer, issuer_key->get(),
                       {{NID_basic_constraints, "critical,CA:FALSE"},
                        {NID_key_usage, "critical,digitalSignature"},
                        {NID_ext_key_usage, "serverAuth,clientAuth"},
                        {NID_subject_key_identifier, "hash"},
                        {NID_authority_key_identifier, "keyid"},
                        {NID_subject_alt_name, *names}});
  if (!made) return openssl_failure("make a certificate for '" + name + "'");
  const auto base = folder + "/" + file_name(name);
  certificate_files files{base + ".pem", base + "-key.pem"};
  if (auto done = write_pair(files, key.get(), {made.get(), issuer}); !done) {
    return std::unexpected(done.error());
  }
  return files;
}

}  // namespace strata::net
