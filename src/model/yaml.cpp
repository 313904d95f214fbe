#include "model/yaml.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "base/text.h"

namespace spillway::model {
namespace {

// Carries a refusal out of yaml-cpp, whose handlers have no other way to stop it.
struct Refused {};

Position position_of(const YAML::Mark& mark) {
  return {static_cast<uint32_t>(std::max(mark.line, 0) + 1),
          static_cast<uint32_t>(std::max(mark.column, 0) + 1)};
}

// [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?
bool is_number(std::string_view text, bool& whole) {
  size_t i = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  const auto digits = [&text, &i] {
    const size_t begin = i;
    while (i < text.size() && is_digit(text[i])) ++i;
    return i - begin;
  };
  const size_t before = digits();
  whole = before > 0;
  if (i < text.size() && text[i] == '.') {
    whole = false;
    ++i;
    if (digits() == 0 && before == 0) return false;
  } else if (before == 0) {
    return false;
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    whole = false;
    ++i;
    if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
    if (digits() == 0) return false;
  }
  return i == text.size();
}

std::optional<int> radix_of(std::string_view text) {
  if (text.size() < 3 || text[0] != '0') return std::nullopt;
  const bool hexadecimal = text[1] == 'x';
  if (!hexadecimal && text[1] != 'o') return std::nullopt;
  const std::string_view allowed = hexadecimal ? "0123456789abcdefABCDEF" : "01234567";
  if (text.find_first_not_of(allowed, 2) != std::string_view::npos) return std::nullopt;
  return hexadecimal ? 16 : 8;
}

class YamlHandler final : public YAML::EventHandler {
 public:
  NodeBuilder& builder() { return builder_; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0) stop("a second document begins", mark);
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    check(mark, "?", anchor);
    keep(builder_.value(make(Node::Kind::null, mark)));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    stop("an alias; write the value out", mark);
  }
  void OnAnchor(const YAML::Mark& mark, const std::string&) override {
    stop("an anchor; write the value out where it is used", mark);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    // yaml-cpp's tags for plain and for quoted scalars are "?" and "!".
    const bool is_quoted = tag == "!";
    check(mark, is_quoted ? "?" : tag, anchor);
    if (builder_.awaits_key()) {
      keep(builder_.key(value, position_of(mark)));
    } else {
      keep(builder_.value(is_quoted ? string(value, mark) : plain(value, mark)));
    }
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    check(mark, tag, anchor);
    keep(builder_.open(Node::Kind::array, position_of(mark)));
  }
  void OnSequenceEnd() override { keep(builder_.close()); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    check(mark, tag, anchor);
    keep(builder_.open(Node::Kind::object, position_of(mark)));
  }
  void OnMapEnd() override { keep(builder_.close()); }

 private:
  [[noreturn]] void stop(std::string reason, const YAML::Mark& mark) {
    builder_.refuse(std::move(reason), position_of(mark));
    throw Refused{};
  }
  void keep(bool ok) {
    if (!ok) throw Refused{};
  }
  void check(const YAML::Mark& mark, std::string_view tag, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) stop("an anchor; write the value out where it is used", mark);
    if (!tag.empty() && tag != "?") stop("a tag: " + in_quotes(tag) + "; leave it out", mark);
  }
  static Node make(Node::Kind kind, const YAML::Mark& mark) {
    Node node;
    node.kind = kind;
    node.position = position_of(mark);
    return node;
  }
  static Node string(const std::string& value, const YAML::Mark& mark) {
    Node node = make(Node::Kind::string, mark);
    node.text = value;
    return node;
  }
  Node integer(std::string_view digits, int radix, const std::string& value,
               const YAML::Mark& mark) {
    Node node = make(Node::Kind::integer, mark);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    const auto read =
        std::from_chars(digits.data(), digits.data() + digits.size(), node.integer, radix);
    if (read.ec != std::errc{}) stop(in_quotes(value) + " is beyond 64 bits", mark);
    return node;
  }
  Node plain(const std::string& value, const YAML::Mark& mark) {
    if (value.empty() || value == "~" || value == "null" || value == "Null" || value == "NULL") {
      return make(Node::Kind::null, mark);
    }
    const bool yes = value == "true" || value == "True" || value == "TRUE";
    if (yes || value == "false" || value == "False" || value == "FALSE") {
      Node node = make(Node::Kind::boolean, mark);
      node.boolean = yes;
      return node;
    }
    bool whole = false;
    if (is_number(value, whole)) {
      if (whole) return integer(value, 10, value, mark);
      Node node = make(Node::Kind::decimal, mark);
      node.text = value;
      return node;
    }
    if (const auto radix = radix_of(value)) {
      return integer(std::string_view(value).substr(2), *radix, value, mark);
    }
    return string(value, mark);
  }

  NodeBuilder builder_;
  int documents_ = 0;
};

// What YAML allows in a text. The rest also keeps yaml-cpp from guessing at other encodings.
bool is_allowed(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte == '\t' || byte == '\n' || byte == '\r' || (byte >= 0x20 && byte != 0x7F);
}

// A quoted text that is never closed is an error to yaml-cpp only when the input ends right there:
// behind a line break it would silently swallow the fields that follow.
std::string_view without_trailing_space(std::string_view text) {
  const size_t last = text.find_last_not_of(" \t\r\n");
  return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

}  // namespace

Result<Node> parse_yaml(std::string_view text, std::string_view what, size_t max_bytes) {
  if (text.size() > max_bytes) {
    return fail(Code::invalid, std::string(what), fmt::format("{} bytes are too many", text.size()),
                fmt::format("send at most {}", max_bytes));
  }
  if (!is_utf8(text)) return fail(Code::invalid, std::string(what), "it is not UTF-8");
  if (!std::all_of(text.begin(), text.end(), is_allowed)) {
    return fail(Code::invalid, std::string(what), "it has control characters");
  }
  std::istringstream stream{std::string(without_trailing_space(text))};
  YamlHandler handler;
  try {
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(handler)) {
      return fail(Code::invalid, std::string(what), "it is empty",
                  "look whether it is the right one");
    }
    while (parser.HandleNextDocument(handler)) {
    }
  } catch (const Refused&) {
    return fail(Code::invalid, pointed(what, handler.builder().where(), Pointing::line),
                handler.builder().reason());
  } catch (const YAML::Exception& error) {
    return fail(Code::invalid, pointed(what, position_of(error.mark), Pointing::line),
                "it is no YAML: " + error.msg);
  } catch (const std::exception& error) {
    return fail(Code::invalid, std::string(what), std::string("it is no YAML: ") + error.what());
  }
  return handler.builder().take();
}

}  // namespace spillway::model
