// Lists of rows in pages, for handlers.
#pragma once

#include "services/broker/body.h"
#include "services/wire/convert.h"

namespace spillway::services {

// The page that was asked for of the caller's rows, or of all where its scope is all.
template <class Record, class Page, class Row>
void list_rows(Desk& desk, const std::shared_ptr<Call>& call, market::Kind kind,
               std::vector<Row> Page::*rows) {
  PageAsked asked;
  if (!page_asked(desk, *call, asked)) return;
  const auto by = call->scope == Scope::all ? host::Scan::By::all : host::Scan::By::owner;
  const host::Scan scan = scan_of(kind, by, call->caller.name, asked);
  load(desk, call, {{}, {scan}}, [&desk, call, rows, asked](const host::Snapshot& snapshot) {
    Page page;
    for (const host::Row& row : snapshot.found[0]) {
      if (const auto* record = held<Record>(row)) {
        (page.*rows).push_back(wire::row_of(*record));
        page.next = row.key.id;
      }
    }
    if (std::cmp_less(snapshot.found[0].size(), asked.limit)) page.next.clear();
    answer(desk, *call, 200, page);
  });
}

}  // namespace spillway::services
