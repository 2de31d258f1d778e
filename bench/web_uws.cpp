// The peer on WebSocket: an echo and broadcast server by µWebSockets, as its documentation has one.
// bench/web.py compiles it beside the library's sources. `web_uws PORT MODE` with echo or inout.
#include <cstdlib>
#include <string_view>

#include "App.h"

int main(int count, char** words) {
  struct nothing {};
  if (count != 3) return 2;
  const bool is_echo = std::string_view(words[2]) == "echo";
  uWS::App()
      .ws<nothing>("/*", {.compression = uWS::DISABLED,
                          .maxPayloadLength = 1U << 20U,
                          .open = [](auto* socket) { socket->subscribe("all"); },
                          .message =
                              [is_echo](auto* socket, std::string_view message, uWS::OpCode code) {
                                if (is_echo) {
                                  socket->send(message, code, false);
                                } else {
                                  socket->publish("all", message, code, false);
                                }
                              }})
      .listen("127.0.0.1", std::atoi(words[1]), [](auto* listening) {
        if (listening == nullptr) std::exit(1);
      })
      .run();
}
