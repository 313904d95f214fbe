#include "services/agent/held_secret.h"

#include <utility>

#include "base/base64.h"

namespace spillway::agent {
namespace {

constexpr int k_most_tries = 5;

void put_data(kube::Object& object, const HeldSecret::Data& data) {
  kube::Object members = model::object_node();
  for (const auto& [key, bytes] : data) {
    model::put(members, key, model::text_node(to_base64(bytes)));
  }
  model::put(object, "data", std::move(members));
}

void put_mark(kube::Object& object, const std::string& holder) {
  model::put(model::ensure(object, {"metadata", "annotations"}), HeldSecret::k_mark,
             model::text_node(holder));
}

size_t bytes_in(const HeldSecret::Data& data) {
  size_t sum = 0;
  for (const auto& [key, bytes] : data) sum += bytes.size();
  return sum;
}

}  // namespace

Result<HeldSecret::Data> secret_data(const kube::Object& object, const std::string& thing) {
  HeldSecret::Data data;
  const kube::Object* members = model::look(object, {"data"});
  if (members == nullptr) return data;
  for (const kube::Object& member : members->items) {
    auto bytes = from_base64(model::text_at(*members, {member.key}));
    if (!bytes) {
      return fail(Code::invalid, thing, fmt::format("{} is no base64", member.key),
                  "mend it, or remove it");
    }
    data[member.key] = std::move(*bytes);
  }
  return data;
}

HeldSecret::HeldSecret(kube::Api& api, kube::Name name, std::string holder,
                       std::function<void(const Error&)> lost)
    : api_(api), name_(std::move(name)), holder_(std::move(holder)), lost_(std::move(lost)) {}

void HeldSecret::claim(Done then) {
  api_.get(kube::k_secrets, name_,
           life_.guard([this, then = std::move(then)](Result<kube::Object> found) {
             if (found) return mark(std::move(*found), k_most_tries, then);
             if (found.error().code != Code::not_found) {
               return then(tl::unexpected(std::move(found).error()));
             }
             create(then);
           }));
}

void HeldSecret::create(Done then) {
  kube::Object object = kube::new_object(kube::k_secrets, "Secret", name_);
  put_mark(object, holder_);
  api_.create(kube::k_secrets, object,
              life_.guard([this, then = std::move(then)](Result<kube::Object> made) {
                if (made) {
                  take(std::move(*made));
                  return then({});
                }
                if (made.error().code == Code::conflict) return claim(then);  // it is there
                then(tl::unexpected(std::move(made).error()));
              }));
}

// A former holder's write may come between reading and marking: then what it wrote is read, too.
void HeldSecret::mark(kube::Object found, int tries, Done then) {
  auto data = secret_data(found, text());
  if (!data) return then(tl::unexpected(std::move(data).error()));
  put_mark(found, holder_);
  api_.replace(kube::k_secrets, found,
               life_.guard([this, tries, data = std::move(*data),
                            then = std::move(then)](Result<kube::Object> marked) {
                 if (marked) {
                   take(std::move(*marked));
                   data_ = data;
                   return then({});
                 }
                 const bool was_changed = marked.error().code == Code::contended;
                 if (was_changed && tries > 0) {
                   return api_.get(kube::k_secrets, name_,
                                   life_.guard([this, tries, then](Result<kube::Object> again) {
                                     if (!again) {
                                       return then(tl::unexpected(std::move(again).error()));
                                     }
                                     mark(std::move(*again), tries - 1, then);
                                   }));
                 }
                 then(tl::unexpected(std::move(marked).error()));
               }));
}

void HeldSecret::take(kube::Object written) {
  object_ = std::move(written);
  model::erase(object_, "data");  // it is in data_, and is put in anew with every write
}

kube::Object HeldSecret::wanted() const {
  kube::Object object = object_;
  put_data(object, next_);
  put_mark(object, holder_);
  return object;
}

Status HeldSecret::give_up() {
  const Error error{Code::conflict, text(), "somebody else has written to it",
                    "let only the holder of the Lease write to it"};
  if (!std::exchange(is_lost_, true)) lost_(error);
  return tl::unexpected(error);
}

void HeldSecret::write(Data data, Done then) {
  if (is_lost_) return then(give_up());
  if (const size_t bytes = bytes_in(data); bytes > k_most_bytes) {
    return then(fail(
        Code::invalid, text(),
        fmt::format("{} bytes are more than the {} that a Secret can have", bytes, k_most_bytes),
        "sell fewer offers, or keep the state in a folder (--state)"));
  }
  if (is_unsure_) {
    return settle(
        life_.guard([this, data = std::move(data), then = std::move(then)](Status settled) {
          if (!settled) return then(std::move(settled));
          tried_ = std::exchange(next_, data);
          put(k_most_tries, then);
        }));
  }
  next_ = std::move(data);
  put(k_most_tries, std::move(then));
}

void HeldSecret::put(int tries, Done then) {
  if (is_lost_) return then(give_up());
  api_.replace(kube::k_secrets, wanted(),
               life_.guard([this, tries, then = std::move(then)](Result<kube::Object> written) {
                 if (written) {
                   take(std::move(*written));
                   data_ = next_;
                   return then({});
                 }
                 if (written.error().code == Code::unavailable) is_unsure_ = true;
                 const bool was_changed = written.error().code == Code::contended ||
                                          written.error().code == Code::not_found;
                 if (!was_changed || tries == 0) {
                   return then(tl::unexpected(std::move(written).error()));
                 }
                 settle(life_.guard([this, tries, then](Status settled) {
                   if (!settled || data_ == next_) return then(std::move(settled));
                   put(tries - 1, then);
                 }));
               }));
}

// What is there now is ours: as it was, as it is being written, or by a write that came late.
void HeldSecret::settle(Done then) {
  api_.get(kube::k_secrets, name_,
           life_.guard([this, then = std::move(then)](Result<kube::Object> found) {
             if (!found && found.error().code != Code::not_found) {
               return then(tl::unexpected(std::move(found).error()));
             }
             if (!found || kube::annotation_in(*found, k_mark) != holder_) return then(give_up());
             auto data = secret_data(*found, text());
             if (!data || (*data != data_ && *data != next_ && *data != tried_)) {
               return then(give_up());
             }
             take(std::move(*found));
             data_ = std::move(*data);
             is_unsure_ = false;
             then({});
           }));
}

}  // namespace spillway::agent
