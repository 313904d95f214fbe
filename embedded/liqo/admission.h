// What Liqo's webhooks and the enums of its schemas refuse, and what they add; and what the
// fabric's admission policies refuse to tenants.
#pragma once

#include "embedded/ask.h"
#include "embedded/liqo/setting.h"

namespace spillway::embedded::liqo {

Done admit(const Setting& setting, const Ask& ask, model::Node& document, const Object* before);

}  // namespace spillway::embedded::liqo
