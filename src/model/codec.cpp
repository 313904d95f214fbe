#include "model/codec.h"

#include "base/text.h"

namespace spillway::model {
namespace {

std::string with_article(std::string_view noun) {
  const bool vowel =
      !noun.empty() && std::string_view("aeio").find(noun[0]) != std::string_view::npos;
  return (vowel ? "an " : "a ") + std::string(noun);
}

}  // namespace

const Node* Reader::take(std::string_view name) {
  const std::vector<Node>& members = at_.node().items;
  if (at_.failed()) return nullptr;
  const size_t count = members.size();
  for (size_t i = 0, at = next_; i < count; ++i, ++at) {
    if (at >= count) at = 0;
    if (members[at].key != name) continue;
    next_ = at + 1;
    ++taken_;
    return &members[at];
  }
  return nullptr;
}

bool Reader::finish() const {
  return at_.failed() || (taken_ == at_.node().items.size() && missing_.empty());
}

void Reader::refuse_names(std::span<const std::string_view> known) const {
  at_.refuse_unknown(known);
  if (!missing_.empty()) at_.refuse_missing(missing_);
}

void read_heading(const Spot& at, const Heading& heading, Reader& reader) {
  if (const Node* version = reader.take("version")) {
    const Spot spot = at.member(*version);
    int32_t number = 0;
    read_value(spot, number);
    if (!at.failed() && (number < 1 || number > heading.version)) {
      const std::string supported =
          heading.version == 1 ? "1" : "1 to " + std::to_string(heading.version);
      spot.refuse("version " + std::to_string(number) + " is not known here",
                  "this release reads version " + supported +
                      (number > heading.version ? "; a newer one may read it" : ""));
    }
    at.set_version(number);
  } else {
    at.refuse("it does not say its version", "add version: " + std::to_string(heading.version));
  }
  if (heading.noun.empty()) return;
  const Node* noun = reader.take("noun");
  if (noun == nullptr) return;
  const Spot spot = at.member(*noun);
  if (spot.expect(Node::Kind::string) && noun->text != heading.noun) {
    spot.refuse(in_quotes(noun->text) + " where " + with_article(heading.noun) + " is expected");
  }
}

}  // namespace spillway::model
