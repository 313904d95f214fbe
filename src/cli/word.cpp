#include "cli/word.h"

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <type_traits>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/result.h"
#include "base/text.h"
#include "cli/outcome.h"
#include "cli/safe_text.h"

namespace spillway::cli {
namespace {

// CLI11 takes a number that is too large for the greatest there is. Empty: it is not.
template <class T>
std::string too_large(const std::string& text) {
  errno = 0;
  if constexpr (std::is_signed_v<T>) {
    static_cast<void>(std::strtoll(text.c_str(), nullptr, 0));
  } else {
    static_cast<void>(std::strtoull(text.c_str(), nullptr, 0));
  }
  if (errno != ERANGE) return {};
  return fmt::format("{} does not fit into 64 bits: {} to {}", text, std::numeric_limits<T>::min(),
                     std::numeric_limits<T>::max());
}

// What CLI11 has for this spells out the greatest double, in 309 digits, when it refuses.
CLI::Validator number_that(bool (*is_so)(double), const char* so, const char* type) {
  const auto check = [is_so, so](const std::string& text) -> std::string {
    double value = 0;
    if (!CLI::detail::lexical_cast(text, value)) return fmt::format("{} is no number", text);
    return is_so(value) ? "" : fmt::format("{} must be {}", text, so);
  };
  return {check, type};
}

// What was given and is not known, as CLI11 would say it; nothing when no option is among it.
std::optional<CLI::ParseError> unknown_option(const CLI::App& app) {
  const std::vector<std::string> unknown = app.remaining();
  for (const std::string& word : unknown) {
    if (word.starts_with('-')) return CLI::ExtrasError(app.get_name(), unknown);
  }
  for (const CLI::App* word : app.get_subcommands()) {
    if (auto error = unknown_option(*word)) return error;
  }
  return std::nullopt;
}

// The first word that nobody knows, where there had to be one.
struct Unknown {
  const CLI::App* after = nullptr;  // null: there is none
  std::string word;
};

Unknown unknown_word(const CLI::App& root) {
  const CLI::App* app = &root;
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  const std::vector<std::string> rest = app->remaining();
  if (app->get_require_subcommand_min() == 0 || rest.empty() || rest.front().starts_with('-')) {
    return {};
  }
  return {app, rest.front()};
}

int tell_unknown(const Unknown& unknown) {
  std::string path;
  for (const CLI::App* app = unknown.after; app->get_parent() != nullptr; app = app->get_parent()) {
    path.insert(0, " " + app->get_name());
  }
  std::vector<std::string> names;
  for (const CLI::App* app : unknown.after->get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(app->get_name());
  }
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  const std::string_view meant = nearest(unknown.word, candidates);
  fmt::print(stderr, "spillway{}: {}: there is no such word; {}\n", path,
             hide_tokens(in_quotes(unknown.word)),
             meant.empty() ? "these are known:\n" + unknown.after->help()
                           : fmt::format("did you mean {}?", meant));
  return k_usage;
}

}  // namespace

Setting Setting::type_name(const std::string& name) const {
  option_->type_name(name);
  return *this;
}

Setting Setting::group(const std::string& title) const {
  option_->group(title);
  return *this;
}

Setting Setting::show_default() const {
  option_->capture_default_str();
  return *this;
}

Setting Setting::required() const {
  option_->required();
  return *this;
}

Setting Setting::may_repeat() const {
  option_->take_all()->allow_extra_args(false);
  return *this;
}

Setting Setting::in_range(int least, int most) const {
  option_->check(CLI::Range(least, most));
  return *this;
}

Setting Setting::positive() const {
  option_->check(number_that([](double value) { return value > 0; }, "greater than 0", "POSITIVE"));
  return *this;
}

Setting Setting::not_negative() const {
  option_->check(
      number_that([](double value) { return value >= 0; }, "0 or greater", "NONNEGATIVE"));
  return *this;
}

Setting Setting::one_of(const std::vector<std::string>& values) const {
  option_->check(CLI::IsMember(values));
  return *this;
}

Setting Setting::excludes(Setting other) const {
  option_->excludes(other.option_);
  return *this;
}

const std::vector<std::string>& Setting::long_names() const { return option_->get_lnames(); }
const std::vector<std::string>& Setting::short_names() const { return option_->get_snames(); }
const std::string& Setting::help() const { return option_->get_description(); }
bool Setting::is_argument() const { return !option_->nonpositional(); }
bool Setting::takes_value() const { return option_->get_items_expected() > 0; }

template <class T>
Setting Word::option(const std::string& names, T& into, const std::string& help) const {
  CLI::Option* option = app_->add_option(names, into, help);
  if constexpr (std::is_integral_v<T> && sizeof(T) == 8) option->check(too_large<T>, "", "");
  return Setting(*option);
}

template Setting Word::option(const std::string&, std::string&, const std::string&) const;
template Setting Word::option(const std::string&, int32_t&, const std::string&) const;
template Setting Word::option(const std::string&, int64_t&, const std::string&) const;
template Setting Word::option(const std::string&, uint64_t&, const std::string&) const;
template Setting Word::option(const std::string&, std::vector<std::string>&,
                              const std::string&) const;
template Setting Word::option(const std::string&, std::vector<int32_t>&, const std::string&) const;

Setting Word::flag(const std::string& names, bool& into, const std::string& help) const {
  return Setting(*app_->add_flag(names, into, help));
}

Word Word::add(const std::string& name, const std::string& summary) const {
  return {*app_->add_subcommand(name, summary), *chosen_};
}

void Word::require_word() const { app_->require_subcommand(1); }

// Callbacks of inner words are called before those of outer ones, which then have no say.
void Word::run(Run run) const {
  app_->callback([chosen = chosen_, run = std::move(run)] {
    if (!*chosen) *chosen = run;
  });
}

void Word::examples(std::string_view lines) const {
  app_->footer("Examples:\n" + std::string(lines));
}

void Word::group(const std::string& title) const { app_->group(title); }

std::string Word::name() const { return app_->get_name(); }
std::string Word::summary() const { return app_->get_description(); }
std::string Word::help() const { return app_->help(); }
Word Word::parent() const { return {*app_->get_parent(), *chosen_}; }

std::vector<Word> Word::words() const {
  std::vector<Word> words;
  for (CLI::App* app : app_->get_subcommands([](CLI::App*) { return true; })) {
    words.emplace_back(*app, *chosen_);
  }
  return words;
}

std::vector<Setting> Word::settings() const {
  std::vector<Setting> settings;
  for (CLI::Option* option : app_->get_options()) settings.emplace_back(*option);
  return settings;
}

Program::Program(const std::string& summary) : app_(std::make_unique<CLI::App>(summary)) {
  // Help of the verb that was meant; without a token that stood in the wrong place.
  app_->failure_message([](const CLI::App* of, const CLI::Error& error) {
    return hide_tokens(CLI::FailureMessage::help(of, error));
  });
}

Program::~Program() = default;

Word Program::word() { return {*app_, chosen_}; }

void Program::version(const std::string& text) { app_->set_version_flag("--version", text); }

Run Program::read(int argc, const char* const* argv) {
  const auto told = [this](const CLI::ParseError& error) -> Run {
    return [this, error] { return app_->exit(error) == 0 ? k_ok : k_usage; };
  };
  chosen_ = nullptr;
  try {
    app_->parse(argc, argv);
  } catch (const CLI::RequiredError& error) {
    // A slip in a name is often why something seems to be missing.
    Unknown unknown = unknown_word(*app_);
    if (unknown.after != nullptr) {
      return [unknown = std::move(unknown)] { return tell_unknown(unknown); };
    }
    return told(unknown_option(*app_).value_or(error));
  } catch (const CLI::ParseError& error) {
    return told(error);
  }
  return chosen_;
}

}  // namespace spillway::cli
