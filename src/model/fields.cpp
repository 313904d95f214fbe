#include "model/fields.h"

#include <algorithm>

namespace spillway::model {
namespace {

template <class Format>
void read_counts(const Spot& at, Counts& counts) {
  counts.clear();
  if (!at.expect(Node::Kind::object)) return;
  counts.reserve(at.node().items.size());
  for (const Node& member : at.node().items) {
    if (at.failed()) return;
    Count& count = counts.emplace_back();
    count.name = member.key;
    Format::read(at.member(member), count.amount);
  }
  std::sort(counts.begin(), counts.end(),
            [](const Count& a, const Count& b) { return a.name < b.name; });
}

// {"<name>":<value>,…} of a list whose elements `write` writes.
template <class List, class Name, class Write>
void write_object(Output& out, const List& list, Name name, Write write) {
  out.text += '{';
  bool first = true;
  for (const auto& element : list) {
    if (!first) out.text += ',';
    first = false;
    append_json_string(out.text, name(element));
    out.text += ':';
    write(element);
  }
  out.text += '}';
}

template <class Format>
void write_counts(Output& out, const Counts& counts) {
  write_object(
      out, counts, [](const Count& count) { return std::string_view(count.name); },
      [&out](const Count& count) { Format::write(out, count.amount); });
}

// The object form of Visibility.
struct Listed {
  std::vector<ClusterId> clusters;
  Labels labels;
};

template <class Fields>
void fields(Fields& f, Listed& listed) {
  f.with_default("clusters", listed.clusters);
  f.with_default("labels", listed.labels);
}

}  // namespace

void read_value(const Spot& at, Counts& counts) { read_counts<as::Pieces>(at, counts); }
void write_value(Output& out, const Counts& counts) { write_counts<as::Pieces>(out, counts); }

void as::Amounts::read(const Spot& at, Counts& prices) { read_counts<as::Amount>(at, prices); }
void as::Amounts::write(Output& out, const Counts& prices) {
  write_counts<as::Amount>(out, prices);
}

void read_value(const Spot& at, Labels& labels) {
  labels.clear();
  if (!at.expect(Node::Kind::object)) return;
  labels.reserve(at.node().items.size());
  for (const Node& member : at.node().items) {
    if (at.failed()) return;
    Label& label = labels.emplace_back();
    label.key = member.key;
    read_value(at.member(member), label.value);
  }
  std::sort(labels.begin(), labels.end(),
            [](const Label& a, const Label& b) { return a.key < b.key; });
}

void write_value(Output& out, const Labels& labels) {
  write_object(
      out, labels, [](const Label& label) { return std::string_view(label.key); },
      [&out](const Label& label) { append_json_string(out.text, label.value); });
}

void read_value(const Spot& at, std::vector<MixShare>& mix) {
  mix.clear();
  if (!at.expect(Node::Kind::object)) return;
  for (const Node& member : at.node().items) {
    if (at.failed()) return;
    MixShare& share = mix.emplace_back();
    share.source = member.key;
    as::Share::read(at.member(member), share.permille);
  }
}

void write_value(Output& out, const std::vector<MixShare>& mix) {
  write_object(
      out, mix, [](const MixShare& share) { return std::string_view(share.source); },
      [&out](const MixShare& share) { as::Share::write(out, share.permille); });
}

void read_value(const Spot& at, Visibility& visibility) {
  visibility = {};
  if (at.node().kind == Node::Kind::string) {
    if (at.node().text == "everyone") {
      visibility.everyone = true;
    } else {
      constexpr std::array<std::string_view, 1> k_words{"everyone"};
      at.refuse_word(k_words);
    }
    return;
  }
  Listed listed;
  read_value(at, listed);
  visibility.clusters = std::move(listed.clusters);
  visibility.selector = std::move(listed.labels);
  std::sort(visibility.clusters.begin(), visibility.clusters.end());
}

void write_value(Output& out, const Visibility& visibility) {
  if (visibility.everyone) {
    out.text += "\"everyone\"";
  } else {
    write_value(out, Listed{visibility.clusters, visibility.selector});
  }
}

}  // namespace spillway::model
