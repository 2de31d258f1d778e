#include "cli/terminal/line_editor.hpp"

#include <fmt/ranges.h>
#include <histedit.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <filesystem>

#include "cli/terminal/output.hpp"
#include "options/own_folder.hpp"

namespace strata::cli {

namespace {

constexpr int history_size = 1000;
constexpr std::string_view clear_line = "\r\x1b[K";

}  // namespace

struct line_editor::state {
  std::string history_file;
  std::string prompt;
  const side_channels* beside = nullptr;
  word_finder words;
  EditLine* editor = nullptr;
  History* history = nullptr;
  mbstate_t letter{};

  static state& of(EditLine* editor) {
    void* found = nullptr;
    el_get(editor, EL_CLIENTDATA, &found);
    return *static_cast<state*>(found);
  }
  int read_letter(wchar_t* room);
  bool receive(const side_channel& one) const;
  void show_above(const std::string& text) const;
  void complete() const;
  void load_history();
};

// Needed because libedit's own reader knows one source only. Returns 1: a character, 0: the end,
// -1: an error.
int line_editor::state::read_letter(wchar_t* room) {
  std::vector<pollfd> ready{{STDIN_FILENO, POLLIN, 0}};
  for (const auto& each : *beside) ready.push_back({each.fd, POLLIN, 0});
  for (;;) {
    if (::poll(ready.data(), ready.size(), -1) < 0) {
      if (errno != EINTR) return -1;
      el_set(editor, EL_REFRESH);  // a signal may mean that the terminal's size has changed
      continue;
    }
    for (std::size_t at = 1; at < ready.size(); ++at) {
      if (ready[at].revents != 0 && !receive((*beside)[at - 1])) return 0;
    }
    if (ready[0].revents == 0) continue;
    char byte = 0;
    const auto got = ::read(STDIN_FILENO, &byte, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return static_cast<int>(got);
    if (byte == '\t' && words) {
      complete();
      continue;
    }
    const auto known = std::mbrtowc(room, &byte, 1, &letter);
    if (known == static_cast<std::size_t>(-2)) continue;  // an incomplete multi-byte character
    if (known != static_cast<std::size_t>(-1)) return 1;
    letter = {};
  }
}

bool line_editor::state::receive(const side_channel& one) const {
  const auto text = one.receive();
  if (!text) return false;
  if (!text->empty()) show_above(*text);
  return true;
}

void line_editor::state::show_above(const std::string& text) const {
  print(std::string(clear_line) + text);
  el_set(editor, EL_REFRESH);
}

// A function registered with libedit for the key would never be freed.
void line_editor::state::complete() const {
  const auto* const line = el_line(editor);
  const std::string_view begun(line->buffer, static_cast<std::size_t>(line->cursor - line->buffer));
  const auto found = begun.contains(' ') ? std::vector<std::string>() : words(begun);
  if (found.empty()) return el_beep(editor);
  auto common = found.front();
  for (const auto& each : found) {
    common.resize(
        static_cast<std::size_t>(std::ranges::mismatch(common, each).in1 - common.begin()));
  }
  const auto rest = common.substr(begun.size()) + (found.size() == 1 ? " " : "");
  if (rest.empty()) return show_above(fmt::format("{}\n", fmt::join(found, "  ")));
  if (el_insertstr(editor, rest.c_str()) == 0) el_set(editor, EL_REFRESH);
}

void line_editor::state::load_history() {
  HistEvent event{};
  ::history(history, &event, H_SETSIZE, history_size);
  ::history(history, &event, H_SETUNIQUE, 1);
  const auto folder = std::filesystem::path(history_file).parent_path().string();
  if (folder.empty() || !options::open_own_folder(folder, {})) history_file.clear();
  if (history_file.empty()) return;
  ::history(history, &event, H_LOAD, history_file.c_str());
}

line_editor::line_editor(std::string history_file) : state_(std::make_unique<state>()) {
  // Otherwise characters beyond ASCII could not be typed.
  if (std::setlocale(LC_CTYPE, "") == nullptr || MB_CUR_MAX == 1) {
    std::setlocale(LC_CTYPE, "C.UTF-8");
  }
  auto& made = *state_;
  made.history_file = std::move(history_file);
  made.editor = el_init("strata", stdin, stdout, stderr);
  made.history = history_init();
  made.load_history();
  el_set(made.editor, EL_CLIENTDATA, &made);
  el_set(made.editor, EL_EDITOR, "emacs");
  el_set(made.editor, EL_SIGNAL, 1);
  el_set(made.editor, EL_HIST, ::history, made.history);
  el_set(made.editor, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  char* (*const ask)(EditLine*) = [](EditLine* editor) { return state::of(editor).prompt.data(); };
  el_set(made.editor, EL_PROMPT, ask);
  el_rfunc_t const read_letter = [](EditLine* editor, wchar_t* room) {
    return state::of(editor).read_letter(room);
  };
  el_set(made.editor, EL_GETCFN, read_letter);
  el_source(made.editor, nullptr);
}

line_editor::~line_editor() {
  el_end(state_->editor);
  history_end(state_->history);
}

void line_editor::complete_with(word_finder words) { state_->words = std::move(words); }

std::optional<std::string> line_editor::read(std::string prompt, const side_channels& channels) {
  state_->prompt = std::move(prompt);
  state_->beside = &channels;
  int size = 0;
  const char* const line = el_gets(state_->editor, &size);
  if (line == nullptr || size <= 0) return {};
  std::string text(line, static_cast<std::size_t>(size));
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

void line_editor::remember(const std::string& line) {
  HistEvent event{};
  ::history(state_->history, &event, H_ENTER, line.c_str());
  if (state_->history_file.empty()) return;
  ::history(state_->history, &event, H_SAVE, state_->history_file.c_str());
}

}  // namespace strata::cli
