#include "kube/lease.h"

#include <algorithm>
#include <utility>

#include "host/backoff.h"

namespace spillway::kube {
namespace {

constexpr std::string_view k_party_annotation = "spillway.dev/party";

std::string micro_time(Instant now) {
  std::string text = to_text(Instant{now.ms - now.ms % 1000});
  text.pop_back();  // Z
  return fmt::format("{}.{:03}000Z", text, now.ms % 1000);
}

}  // namespace

Lease::Lease(Api& api, LeaseOptions options, LeaseCalls calls)
    : api_(api), options_(std::move(options)), calls_(std::move(calls)) {}

void Lease::start() { look(); }

void Lease::look() {
  if (is_ending_) return;
  api_.get(k_leases, options_.name,
           life_.guard([this](Result<Object> found) { on_found(std::move(found)); }));
}

void Lease::on_found(Result<Object> found) {
  if (is_ending_) return;
  if (!found) {
    if (found.error().code == Code::not_found) return create();
    calls_.on_trouble(found.error());
    return look_again();
  }
  note(*found);
  const bool is_ours = seen_holder_ == options_.holder;
  const bool is_free = seen_holder_.empty() || is_old_;
  const std::string party(annotation_in(*found, k_party_annotation));
  // Also of a namesake: hosts and folders are called alike in more than one place.
  const bool is_open = options_.party.empty() || party.empty() || party == options_.party;
  if (is_open && (is_ours || is_free)) return take(std::move(*found));
  set_held(false);
  const std::string holder = is_free ? "" : seen_holder_;
  const std::string told = holder + "\n" + party;
  if (std::exchange(told_holder_, told) != told) calls_.on_other(holder, party);
  look_again();
}

void Lease::note(const Object& lease) {
  seen_holder_ = model::text_at(lease, {"spec", "holderIdentity"});
  if (version_in(lease) == seen_version_) return;
  seen_version_ = version_in(lease);
  is_old_ = false;
  const int64_t lasts = std::clamp<int64_t>(
      model::integer_at(lease, {"spec", "leaseDurationSeconds"}, options_.lasts.ms / 1000), 1,
      3600);
  api_.loop().after(seconds(lasts), life_.guard([this, version = seen_version_] {
    if (version == seen_version_) is_old_ = true;
  }));
}

void Lease::write_record(Object& lease, Instant now) const {
  Object& spec = model::ensure(lease, {"spec"});
  if (model::text_at(spec, {"holderIdentity"}) != options_.holder) {
    model::put(spec, "holderIdentity", model::text_node(options_.holder));
    model::put(spec, "acquireTime", model::text_node(micro_time(now)));
    model::put(spec, "leaseTransitions",
               model::integer_node(model::integer_at(spec, {"leaseTransitions"}) + 1));
  }
  if (!options_.party.empty()) {
    model::put(model::ensure(lease, {"metadata", "annotations"}), k_party_annotation,
               model::text_node(options_.party));
  }
  model::put(spec, "leaseDurationSeconds", model::integer_node(options_.lasts.ms / 1000));
  model::put(spec, "renewTime", model::text_node(micro_time(now)));
}

// Its time begins before it is sent: the record may be as old as that.
uint64_t Lease::begin_attempt() {
  const uint64_t attempt = ++attempt_;
  api_.loop().after(options_.lasts - options_.margin, life_.guard([this, attempt] {
    run_out_ = attempt;
    if (is_held_ && renewed_by_ <= attempt) set_held(false);
  }));
  return attempt;
}

void Lease::create() {
  Object lease = new_object(k_leases, "Lease", options_.name);
  write_record(lease, api_.loop().now());
  const uint64_t attempt = begin_attempt();
  api_.create(k_leases, lease, life_.guard([this, attempt](const Result<Object>& written) {
    on_written(written, attempt);
  }));
}

void Lease::take(Object lease) {
  write_record(lease, api_.loop().now());
  const uint64_t attempt = begin_attempt();
  api_.replace(k_leases, lease, life_.guard([this, attempt](const Result<Object>& written) {
    on_written(written, attempt);
  }));
}

// A write whose answer was lost may have been taken: the next look shows whether it was.
void Lease::on_written(const Result<Object>& written, uint64_t attempt) {
  if (is_ending_) return;
  if (written) {
    note(*written);
    renewed_by_ = attempt;
    told_holder_.clear();
    set_held(attempt > run_out_);
  } else if (written.error().code != Code::contended && written.error().code != Code::conflict) {
    calls_.on_trouble(written.error());
  }
  look_again();
}

void Lease::set_held(bool held) {
  if (std::exchange(is_held_, held) == held) return;
  held ? calls_.on_held() : calls_.on_lost();
}

void Lease::look_again() {
  const Duration wait =
      host::between(api_.random(), options_.renew, Duration{options_.renew.ms * 5 / 4});
  api_.loop().after(wait, life_.guard([this] { look(); }));
}

void Lease::release(std::function<void()> done, bool for_good) {
  is_ending_ = true;
  if (!std::exchange(is_held_, false)) return done();
  api_.change(
      k_leases, options_.name,
      [holder = options_.holder, for_good](Object& lease) -> Status {
        if (model::text_at(lease, {"spec", "holderIdentity"}) != holder) {
          return spillway::fail(Code::conflict, "lease", "it is another's by now");
        }
        model::put(model::ensure(lease, {"spec"}), "holderIdentity", model::text_node(""));
        if (for_good)
          model::erase(model::ensure(lease, {"metadata", "annotations"}), k_party_annotation);
        return {};
      },
      [done = std::move(done)](const Result<Object>&) { done(); });
}

}  // namespace spillway::kube
