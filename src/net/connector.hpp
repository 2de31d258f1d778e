// Connects to what a URL names: finds its addresses, and takes the first that answers.
#pragma once

#include "net/directory.hpp"
#include "net/scheme.hpp"
#include "net/tls/context.hpp"

namespace strata::net {

/// `timeout` is for the look-up, and again for each address; 0: none but the system's. `names`
/// finds runtimes; null: a URL that names one is an error. Errors: of the last address that was
/// tried, naming the URL. Where the URL's scheme is secure, TLS has been agreed on, by `secure`;
/// null: the server's certificate must be good for the URL's host by what the system trusts.
[[nodiscard]] loop::task<result<connection>> connect(
    loop::loop& on, endpoint_url to, loop::duration timeout, directory* names = nullptr,
    std::shared_ptr<const tls_context> secure = nullptr);

}  // namespace strata::net
