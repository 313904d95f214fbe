// Offers and rankings as people read them.
#pragma once

#include <string>

#include "cli/table.h"
#include "cli/when.h"
#include "services/wire/bodies.h"

namespace spillway::cli {

std::string labels_text(const model::Labels& labels, std::string_view between);
std::string terms_text(const model::Terms& terms);

Table ranking_table(const wire::QueryAnswer& told);
// What stands below the table: how many fit, what ruled the others out, and with `explain` every
// term of every candidate and the verdict on every offer.
std::string ranking_notes(const wire::QueryAnswer& told, bool explain);
// Of units that the asker has, and pays for until then whatever it does.
std::string paid_note(const wire::PaidUnits& paid, const model::Contract& contract,
                      const Clock& clock);

Table offers_table(const wire::OfferPage& page, const Clock& clock);
std::string offer_text(const wire::OfferRow& row, const Clock& clock);

}  // namespace spillway::cli
