// Invoices as people read them.
#pragma once

#include <string>

#include "cli/table.h"
#include "cli/when.h"
#include "services/wire/bodies.h"

namespace spillway::cli {

// Puts another part of an invoice to what came before. Of a contract that is in both, the lines of
// the later part count.
void add_part(wire::InvoiceAnswer& whole, wire::InvoiceAnswer part);

Table lines_table(const wire::InvoiceAnswer& invoice, const Clock& clock);
// What it is of, its lines, and what they come to.
std::string invoice_text(const wire::InvoiceAnswer& invoice, const Clock& clock, size_t width);

}  // namespace spillway::cli
