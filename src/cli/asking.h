// What all verbs that ask a broker have in common: whose identity, which broker, how the answer is
// shown.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "cli/outcome.h"
#include "cli/session.h"
#include "cli/table.h"
#include "cli/when.h"
#include "cli/word.h"

namespace spillway::cli {

enum class Form { table, wide, json, yaml, plain };

struct Asking {
  std::string dir;     // of the identity; empty: identity_dir() finds it
  std::string broker;  // empty: the one that was joined
  std::string output = "table";
  std::string how_to_get_one = {};  // an identity, for who has none; empty: by joining

  Form form() const;
  Clock clock() const { return {now(), form() == Form::wide}; }
};

void add_asking(Word verb, Asking& asking);       // --dir, --broker, -o
void add_dir(Word verb, std::string& dir);        // --dir alone
void add_output(Word verb, std::string& output);  // -o alone

// What was given, else $SPILLWAY_DIR, else ~/.spillway if it is there, else /etc/spillway.
std::string identity_dir(const std::string& given);
std::string identity_dir(const std::string& given,
                         const std::function<const char*(const char*)>& environment,
                         const std::function<bool(const std::string&)>& is_there);

Result<std::unique_ptr<Session>> open_session(const Asking& asking);

// Opens a session, lets `talk` use it, tells what went wrong; answers the exit code.
int with_session(std::string_view verb, const Asking& asking,
                 const std::function<Status(Session&)>& talk);

// Shows an answer: the document that came, or a text of it.
Status show(Form form, const std::string& json, const std::function<std::string()>& text);
Status show(Form form, const std::string& json, const Table& table, std::string_view if_empty);

// All pages of a list, as one.
inline constexpr int32_t k_page = 1000;
inline constexpr size_t k_most_rows = 1'000'000;
template <class Page, class Row>
Result<Page> all_pages(Session& session,
                       void (wire::BrokerClient::*list)(const wire::ListAsked&, wire::Then<Page>),
                       std::vector<Row> Page::*rows) {
  Page all;
  wire::ListAsked asked{{}, k_page};
  do {
    auto page = session.ask(list, asked);
    if (!page) return tl::unexpected(page.error());
    for (Row& row : (*page).*rows) (all.*rows).push_back(std::move(row));
    if (page->next == asked.after) break;  // a broker that turns in circles
    asked.after = page->next;
  } while (!asked.after.empty() && (all.*rows).size() < k_most_rows);
  return all;
}

}  // namespace spillway::cli
