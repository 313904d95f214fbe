#include "kube/api.h"

#include <utility>

#include "base/text.h"
#include "host/backoff.h"
#include "kube/failure.h"
#include "model/json.h"

namespace spillway::kube {
namespace {

constexpr size_t k_most_body = size_t{16} << 20;
constexpr int k_most_changes = 10;
constexpr int k_most_pages = 10'000;

void add(std::string& query, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  query += fmt::format("{}{}={}", query.empty() ? '?' : '&', name, net::escape_segment(value));
}

std::string query_of(const Wanted& wanted) {
  std::string query;
  add(query, "labelSelector", wanted.labels);
  add(query, "fieldSelector", wanted.fields);
  return query;
}

std::string_view media_of(PatchKind kind) {
  switch (kind) {
    case PatchKind::json:
      return "application/json-patch+json";
    case PatchKind::merge:
      return "application/merge-patch+json";
    case PatchKind::strategic:
      return "application/strategic-merge-patch+json";
  }
  return {};
}

// What cannot be read says nothing of what was asked for: it is no refusal, and is asked for again.
Result<Object> read_object(const net::Response& response, const std::string& thing) {
  auto object = model::parse_json(response.body, thing, k_most_body, model::k_max_foreign_depth);
  if (!object) {
    return fail(Code::unavailable, thing, "the answer: " + object.error().reason, "try again");
  }
  if (object->kind == Object::Kind::object) return object;
  return fail(Code::unavailable, thing, "the answer is no object", "try again");
}

Then<Object> ignoring_object(Then<void> then) {
  return [then = std::move(then)](const Result<Object>& answer) {
    if (!answer) return then(tl::unexpected(answer.error()));
    then({});
  };
}

Object options_of(const RemoveAsked& asked) {
  Object options = model::object_node();
  model::put(options, "apiVersion", model::text_node("v1"));
  model::put(options, "kind", model::text_node("DeleteOptions"));
  if (asked.grace_seconds >= 0) {
    model::put(options, "gracePeriodSeconds", model::integer_node(asked.grace_seconds));
  }
  if (!asked.propagation.empty()) {
    model::put(options, "propagationPolicy", model::text_node(asked.propagation));
  }
  if (!asked.uid.empty()) {
    model::put(model::ensure(options, {"preconditions"}), "uid", model::text_node(asked.uid));
  }
  if (!asked.version.empty()) {
    model::put(model::ensure(options, {"preconditions"}), "resourceVersion",
               model::text_node(asked.version));
  }
  return options;
}

}  // namespace

// One call, through all its tries.
struct Api::Ask {
  net::Request request;
  std::string thing;
  Then<Object> then;
  Instant give_up;
  bool is_idempotent = true;
  bool was_unknown = false;  // 401 once: another token was asked for
  host::Backoff backoff;
};

struct Api::Listing {
  Resource resource;
  Wanted wanted;
  std::function<void(ListPage)> on_page;
  Then<std::string> then;
  std::string next;
  bool is_first = true;
  int attempts = 1;
  int pages = 0;
};

struct Api::Changing {
  Resource resource;
  Name name;
  Change change;
  Then<Object> then;
  int attempts = 0;
  host::Backoff backoff;
};

Api::Api(host::Loop& loop, host::Random& random, net::Channel& channel, ApiOptions options)
    : loop_(loop), random_(random), channel_(channel), options_(std::move(options)) {}

std::shared_ptr<Api::Ask> Api::asking(std::string method, std::string path, std::string thing,
                                      Then<Object> then) const {
  auto ask = std::make_shared<Ask>();
  ask->request.method = std::move(method);
  ask->request.target = options_.prefix + std::move(path);
  ask->request.headers = {{"Accept", "application/json"}, {"User-Agent", "spillway"}};
  ask->thing = std::move(thing);
  ask->then = std::move(then);
  return ask;
}

void Api::begin(const std::shared_ptr<Ask>& ask) {
  if (ask->give_up == Instant{}) ask->give_up = loop_.now() + options_.patience;
  if (options_.tokens == nullptr) return send(ask, {});
  options_.tokens->get(life_.guard([this, ask](const Result<std::string>& token) {
    if (!token) return ask->then(tl::unexpected(token.error()));
    send(ask, *token);
  }));
}

void Api::send(const std::shared_ptr<Ask>& ask, const std::string& token) {
  net::Request request = ask->request;
  if (!token.empty()) request.headers.push_back({"Authorization", "Bearer " + token});
  channel_.send(std::move(request), life_.guard([this, ask](Result<net::Response> answer) {
    on_answer(ask, std::move(answer));
  }));
}

Api::Listening Api::when_back(std::function<void()> call) {
  std::erase_if(listeners_, [](const auto& one) { return one.expired(); });
  auto listening = std::make_shared<const std::function<void()>>(std::move(call));
  listeners_.push_back(listening);
  return listening;
}

// Who fails of itself, or says what nobody can read, is as good as away.
void Api::note_answer(bool is_answer) {
  if (!std::exchange(is_away_, !is_answer) || !is_answer) return;
  for (const auto& one : std::vector(listeners_)) {
    if (const auto call = one.lock()) (*call)();
  }
}

void Api::on_answer(const std::shared_ptr<Ask>& ask, Result<net::Response> answer) {
  if (answer && answer->status < 300) {
    Result<Object> object = read_object(*answer, ask->thing);
    note_answer(object.has_value());
    return ask->then(std::move(object));
  }
  note_answer(answer && answer->status < 500);
  if (!answer) {
    const bool may_help = answer.error().code == Code::unavailable && ask->is_idempotent;
    if (may_help) return again(ask, ask->backoff.next(random_), answer.error());
    return ask->then(tl::unexpected(std::move(answer).error()));
  }
  const Error error = failure_of(*answer, ask->thing);
  if (answer->status == 401 && options_.tokens != nullptr &&
      !std::exchange(ask->was_unknown, true)) {
    options_.tokens->forget();
    return begin(ask);
  }
  // Who is told when to come back was not served: any request may be repeated then.
  const auto wait = asked_to_wait(*answer);
  const bool may_help =
      error.code == Code::unavailable && (ask->is_idempotent || answer->status == 429 || wait);
  if (!may_help) return ask->then(tl::unexpected(error));
  again(ask, std::max(wait.value_or(Duration{}), ask->backoff.next(random_)), error);
}

void Api::again(const std::shared_ptr<Ask>& ask, Duration wait, const Error& why) {
  if (loop_.now() + wait >= ask->give_up) return ask->then(tl::unexpected(why));
  options_.on_retry(why);
  loop_.after(wait, life_.guard([this, ask] { begin(ask); }));
}

void Api::forget_token() {
  if (options_.tokens != nullptr) options_.tokens->forget();
}

void Api::get(const Resource& resource, const Name& name, Then<Object> then) {
  begin(asking("GET", path_of(resource, name), to_text(resource, name), std::move(then)));
}

void Api::list(const Resource& resource, const Wanted& wanted,
               std::function<void(ListPage)> on_page, Then<std::string> then) {
  auto listing = std::make_shared<Listing>();
  listing->resource = resource;
  listing->wanted = wanted;
  listing->on_page = std::move(on_page);
  listing->then = std::move(then);
  list_page(listing);
}

void Api::list_page(const std::shared_ptr<Listing>& listing) {
  const Name all{listing->wanted.space, {}};
  std::string query = query_of(listing->wanted);
  add(query, "limit", std::to_string(k_page));
  add(query, "continue", listing->next);
  begin(asking("GET", path_of(listing->resource, all) + query, to_text(listing->resource, all),
               [this, listing](Result<Object> page) { on_list_page(listing, std::move(page)); }));
}

// A list that takes so long that its version is dropped meanwhile begins anew, once or twice.
void Api::on_list_page(const std::shared_ptr<Listing>& listing, Result<Object> page) {
  constexpr int k_most_attempts = 3;
  if (!page) {
    const bool was_slow = page.error().code == Code::gone && !listing->next.empty();
    if (!was_slow || listing->attempts++ >= k_most_attempts) {
      return listing->then(tl::unexpected(std::move(page).error()));
    }
    listing->next.clear();
    listing->is_first = true;
    return list_page(listing);
  }
  ListPage told;
  told.version = version_in(*page);
  listing->next = model::text_at(*page, {"metadata", "continue"});
  told.is_first = std::exchange(listing->is_first, false);
  told.is_last = listing->next.empty();
  for (Object& member : page->items) {
    if (member.key == "items") told.items = std::move(member.items);
  }
  if (++listing->pages > k_most_pages) {
    return listing->then(fail(Code::invalid,
                              to_text(listing->resource, {listing->wanted.space, {}}),
                              fmt::format("the list has no end after {} pages", k_most_pages),
                              "look whether this is an API server"));
  }
  std::string version = told.version;
  listing->on_page(std::move(told));
  if (!listing->next.empty()) return list_page(listing);
  listing->then(std::move(version));
}

void Api::version(const Resource& resource, const Wanted& wanted, Then<std::string> then) {
  const Name all{wanted.space, {}};
  begin(asking("GET", path_of(resource, all) + "?limit=1", to_text(resource, all),
               [then = std::move(then)](const Result<Object>& page) {
                 if (!page) return then(tl::unexpected(page.error()));
                 then(std::string(version_in(*page)));
               }));
}

void Api::create(const Resource& resource, const Object& object, Then<Object> then) {
  const Name name = key_of(object);
  std::string query;
  add(query, "fieldManager", options_.manager);
  auto ask = asking("POST", path_of(resource, {name.space, {}}) + query, to_text(resource, name),
                    std::move(then));
  ask->request.headers.push_back({"Content-Type", "application/json"});
  ask->request.body = model::to_json(object);
  ask->is_idempotent = false;
  begin(ask);
}

namespace {

std::string put_path(const Resource& resource, const Name& name, std::string_view subresource,
                     const std::string& manager) {
  std::string query;
  add(query, "fieldManager", manager);
  return path_of(resource, name, subresource) + query;
}

}  // namespace

// Not idempotent: what was done once is refused the second time, and looks like somebody else's.
void Api::put(const Resource& resource, const Object& object, std::string_view subresource,
              Then<Object> then) {
  const Name name = key_of(object);
  auto ask = asking("PUT", put_path(resource, name, subresource, options_.manager),
                    to_text(resource, name), std::move(then));
  ask->request.headers.push_back({"Content-Type", "application/json"});
  ask->request.body = model::to_json(object);
  ask->is_idempotent = false;
  begin(ask);
}

void Api::replace(const Resource& resource, const Object& object, Then<Object> then) {
  put(resource, object, {}, std::move(then));
}

void Api::replace_status(const Resource& resource, const Object& object, Then<Object> then) {
  put(resource, object, "status", std::move(then));
}

void Api::patch(const Resource& resource, const Name& name, PatchKind kind,
                const model::Node& patch, Then<Object> then, std::string_view subresource) {
  auto ask = asking("PATCH", put_path(resource, name, subresource, options_.manager),
                    to_text(resource, name), std::move(then));
  ask->request.headers.push_back({"Content-Type", std::string(media_of(kind))});
  ask->request.body = model::to_json(patch);
  ask->is_idempotent = kind != PatchKind::json;  // a JSON patch may append
  begin(ask);
}

void Api::apply(const Resource& resource, const Object& object, const ApplyAsked& asked,
                Then<Object> then, std::string_view subresource) {
  const Name name = key_of(object);
  std::string path = put_path(resource, name, subresource,
                              asked.manager.empty() ? options_.manager : asked.manager);
  if (asked.force) path += "&force=true";
  auto ask = asking("PATCH", std::move(path), to_text(resource, name), std::move(then));
  ask->request.headers.push_back({"Content-Type", "application/apply-patch+yaml"});
  ask->request.body = model::to_json(object);
  begin(ask);
}

void Api::remove(const Resource& resource, const Name& name, const RemoveAsked& asked,
                 Then<void> then) {
  auto ask = asking("DELETE", path_of(resource, name), to_text(resource, name),
                    ignoring_object(std::move(then)));
  ask->request.headers.push_back({"Content-Type", "application/json"});
  ask->request.body = model::to_json(options_of(asked));
  begin(ask);
}

void Api::evict(const Name& pod, Then<void> then) {
  Object eviction = new_object({"policy", "v1", "evictions", true}, "Eviction", pod);
  auto ask = asking("POST", path_of(k_pods, pod, "eviction"), to_text(k_pods, pod),
                    ignoring_object(std::move(then)));
  ask->request.headers.push_back({"Content-Type", "application/json"});
  ask->request.body = model::to_json(eviction);
  begin(ask);
}

void Api::create_token(const Name& account, Duration lasts, Then<Token> then) {
  Object wanted = model::object_node();
  model::put(wanted, "apiVersion", model::text_node("authentication.k8s.io/v1"));
  model::put(wanted, "kind", model::text_node("TokenRequest"));
  model::put(model::ensure(wanted, {"spec"}), "expirationSeconds",
             model::integer_node(lasts.ms / 1000));
  const std::string thing = to_text(k_service_accounts, account);
  auto ask = asking("POST", path_of(k_service_accounts, account, "token"), thing,
                    [thing, then = std::move(then)](const Result<Object>& answer) {
                      if (!answer) return then(tl::unexpected(answer.error()));
                      const auto text = model::text_at(*answer, {"status", "token"});
                      const auto expires =
                          parse_instant(model::text_at(*answer, {"status", "expirationTimestamp"}));
                      if (text.empty() || !expires) {
                        return then(fail(Code::unavailable, thing,
                                         "the API server answered with no token", "try again"));
                      }
                      then(Token{std::string(text), *expires});
                    });
  ask->request.headers.push_back({"Content-Type", "application/json"});
  ask->request.body = model::to_json(wanted);
  begin(ask);
}

void Api::change(const Resource& resource, const Name& name, Change change, Then<Object> then) {
  auto changing = std::make_shared<Changing>();
  changing->resource = resource;
  changing->name = name;
  changing->change = std::move(change);
  changing->then = std::move(then);
  try_change(changing);
}

void Api::try_change(const std::shared_ptr<Changing>& changing) {
  get(changing->resource, changing->name, [this, changing](Result<Object> found) {
    if (!found) return changing->then(std::move(found));
    if (auto status = changing->change(*found); !status) {
      return changing->then(tl::unexpected(std::move(status).error()));
    }
    replace(changing->resource, *found, [this, changing](Result<Object> done) {
      const bool lost = !done && done.error().code == Code::contended;
      if (!lost || ++changing->attempts >= k_most_changes) return changing->then(std::move(done));
      loop_.after(changing->backoff.next(random_, seconds(2)),
                  life_.guard([this, changing] { try_change(changing); }));
    });
  });
}

void Api::watch(const Resource& resource, const Wanted& wanted, const std::string& version,
                Duration lasts, net::StreamCalls calls,
                std::function<void(std::unique_ptr<net::Reading>)> opened) {
  std::string query = query_of(wanted);
  add(query, "watch", "true");
  add(query, "allowWatchBookmarks", "true");
  add(query, "resourceVersion", version);
  add(query, "timeoutSeconds", std::to_string(lasts.ms / 1000));
  auto ask = asking("GET", path_of(resource, {wanted.space, {}}) + query, {}, {});
  auto open = [this, ask, calls = std::move(calls),
               opened = std::move(opened)](const Result<std::string>& token) {
    if (!token) return calls.on_end(token.error());
    if (!token->empty()) ask->request.headers.push_back({"Authorization", "Bearer " + *token});
    opened(channel_.open(ask->request, calls));
  };
  if (options_.tokens == nullptr) return open(std::string());
  options_.tokens->get(life_.guard(std::move(open)));
}

}  // namespace spillway::kube
