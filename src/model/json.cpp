#include "model/json.h"

#include <algorithm>

#include <boost/json/basic_parser_impl.hpp>
#include <fmt/format.h>

#include "base/text.h"

namespace spillway::model {
namespace {

namespace json = boost::json;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Follows the parser through the text, token by token, since its events do not say where they
// are. It only ever walks over what the parser has accepted already.
class Tracker {
 public:
  explicit Tracker(std::string_view text) : text_(text) {}

  // To the next token, over white space and the separators that make no event.
  Position advance() {
    while (at_ < text_.size() && (is_space(text_[at_]) || text_[at_] == ',' || text_[at_] == ':')) {
      if (text_[at_] == '\n') {
        ++line_;
        line_begins_ = at_ + 1;
      }
      ++at_;
    }
    return {line_, static_cast<uint32_t>(at_ - line_begins_ + 1)};
  }
  void skip_mark() { ++at_; }
  void skip_string() {
    ++at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    ++at_;
  }
  std::string_view skip_word() {
    const size_t begin = at_;
    while (at_ < text_.size() && !is_space(text_[at_]) &&
           std::string_view(",:]}").find(text_[at_]) == std::string_view::npos) {
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
  size_t line_begins_ = 0;
  uint32_t line_ = 1;
};

Position position_of(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const size_t newline = before.rfind('\n');
  const size_t line_begins = newline == std::string_view::npos ? 0 : newline + 1;
  return {static_cast<uint32_t>(std::count(before.begin(), before.end(), '\n') + 1),
          static_cast<uint32_t>(offset - line_begins + 1)};
}

// The names and signatures are those of boost::json::basic_parser's handler.
class JsonHandler {
 public:
  // The parser's own limits are switched off where NodeBuilder or parse_json have theirs.
  // NOLINTBEGIN(readability-identifier-naming)
  static constexpr size_t max_object_size = size_t(-1);
  static constexpr size_t max_array_size = size_t(-1);
  static constexpr size_t max_key_size = size_t(-1);
  static constexpr size_t max_string_size = size_t(-1);
  // NOLINTEND(readability-identifier-naming)

  JsonHandler(std::string_view text, size_t max_depth) : tracker_(text), builder_(max_depth) {}

  NodeBuilder& builder() { return builder_; }

  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }
  bool on_object_begin(json::error_code& ec) { return open(Node::Kind::object, ec); }
  bool on_object_end(size_t, json::error_code& ec) { return close(ec); }
  bool on_array_begin(json::error_code& ec) { return open(Node::Kind::array, ec); }
  bool on_array_end(size_t, json::error_code& ec) { return close(ec); }

  bool on_key_part(json::string_view part, size_t, json::error_code&) { return gather(part); }
  bool on_key(json::string_view part, size_t, json::error_code& ec) {
    gather(part);
    const Position position = tracker_.advance();
    tracker_.skip_string();
    return told(builder_.key(std::exchange(text_, {}), position), ec);
  }
  bool on_string_part(json::string_view part, size_t, json::error_code&) { return gather(part); }
  bool on_string(json::string_view part, size_t, json::error_code& ec) {
    gather(part);
    Node node = make(Node::Kind::string);
    tracker_.skip_string();
    node.text = std::exchange(text_, {});
    return told(builder_.value(std::move(node)), ec);
  }
  bool on_number_part(json::string_view, json::error_code&) { return true; }
  bool on_int64(int64_t value, json::string_view, json::error_code& ec) {
    Node node = make(Node::Kind::integer);
    tracker_.skip_word();
    node.integer = value;
    return told(builder_.value(std::move(node)), ec);
  }
  bool on_uint64(uint64_t, json::string_view, json::error_code& ec) { return too_large(ec); }
  bool on_double(double, json::string_view, json::error_code& ec) {
    Node node = make(Node::Kind::decimal);
    node.text = tracker_.skip_word();
    if (node.text.find_first_of(".eE") == std::string::npos) {
      return told(builder_.refuse(in_quotes(node.text) + " is beyond 64 bits", node.position), ec);
    }
    return told(builder_.value(std::move(node)), ec);
  }
  bool on_bool(bool value, json::error_code& ec) {
    Node node = make(Node::Kind::boolean);
    tracker_.skip_word();
    node.boolean = value;
    return told(builder_.value(std::move(node)), ec);
  }
  bool on_null(json::error_code& ec) {
    Node node = make(Node::Kind::null);
    tracker_.skip_word();
    return told(builder_.value(std::move(node)), ec);
  }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }

 private:
  bool open(Node::Kind kind, json::error_code& ec) {
    const Position position = tracker_.advance();
    tracker_.skip_mark();
    return told(builder_.open(kind, position), ec);
  }
  bool close(json::error_code& ec) {
    tracker_.advance();
    tracker_.skip_mark();
    return told(builder_.close(), ec);
  }
  bool gather(json::string_view part) {
    text_.append(part.data(), part.size());
    return true;
  }
  bool too_large(json::error_code& ec) {
    const Position position = tracker_.advance();
    const std::string_view number = tracker_.skip_word();
    return told(builder_.refuse(in_quotes(number) + " is beyond 64 bits", position), ec);
  }
  Node make(Node::Kind kind) {
    Node node;
    node.kind = kind;
    node.position = tracker_.advance();
    return node;
  }
  bool told(bool ok, json::error_code& ec) {
    if (!ok) ec = json::error::syntax;  // only its being set counts: the builder has the reason
    return ok;
  }

  Tracker tracker_;
  NodeBuilder builder_;
  std::string text_;
};

}  // namespace

Result<Node> parse_json(std::string_view text, std::string_view what, size_t max_bytes,
                        size_t max_depth) {
  if (text.size() > max_bytes) {
    return fail(Code::invalid, std::string(what), fmt::format("{} bytes are too many", text.size()),
                fmt::format("send at most {}", max_bytes));
  }
  if (!is_utf8(text)) return fail(Code::invalid, std::string(what), "it is not UTF-8");
  json::parse_options options;
  // NodeBuilder counts the depth too; one more here, so that its words are heard.
  options.max_depth = max_depth + 1;
  json::basic_parser<JsonHandler> parser(options, text, max_depth);
  json::error_code ec;
  const size_t consumed = parser.write_some(false, text.data(), text.size(), ec);
  NodeBuilder& builder = parser.handler().builder();
  if (!builder.reason().empty()) {
    return fail(Code::invalid, pointed(what, builder.where(), Pointing::line_and_column),
                builder.reason());
  }
  if (!ec && consumed < text.size()) ec = json::error::extra_data;
  if (ec) {
    const Position position = position_of(text, std::min(consumed, text.size()));
    return fail(Code::invalid, pointed(what, position, Pointing::line_and_column),
                "it is no JSON: " + ec.message());
  }
  return builder.take();
}

void append_json_string(std::string& out, std::string_view text) {
  constexpr std::string_view k_hex = "0123456789abcdef";
  out += '"';
  size_t done = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c != '"' && c != '\\' && static_cast<unsigned char>(c) >= 0x20) continue;
    out.append(text, done, i - done);
    done = i + 1;
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        out += "\\u00";
        out += k_hex[static_cast<size_t>(c) >> 4];
        out += k_hex[static_cast<size_t>(c) & 15];
    }
  }
  out.append(text, done);
  out += '"';
}

}  // namespace spillway::model
