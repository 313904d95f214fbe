// Api: the verbs of a Kubernetes API server, over any Channel.
//
// Every call answers once, on the loop, unless the Api is gone by then. What the server asks to be
// tried again (429, Retry-After) is; so is what broke on the way, where trying twice does what
// trying once does. All tries of a call together end after `patience`; waits between them grow
// and differ. Errors: kube/failure.h.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/lifeline.h"
#include "host/loop.h"
#include "host/random.h"
#include "kube/object.h"
#include "kube/resource.h"
#include "kube/token_source.h"
#include "net/channel.h"

namespace spillway::kube {

template <class T>
using Then = std::function<void(Result<T>)>;

struct ApiOptions {
  std::string prefix = {};                        // of every path, for servers behind a gateway
  std::shared_ptr<TokenSource> tokens = nullptr;  // null: the connection says who we are
  std::string manager = "spillway";               // whose fields those are that we apply
  Duration patience = seconds(30);
  // A try has failed, another one follows: for who waits for the end of it.
  std::function<void(const Error&)> on_retry = [](const Error&) {};
};

struct Wanted {             // of a list or a watch
  std::string space = {};   // empty: all namespaces
  std::string labels = {};  // label selector
  std::string fields = {};  // field selector
};

// A page of a list. The first page of another attempt has is_first set again: what came before it
// is to be forgotten.
struct ListPage {
  std::vector<Object> items;
  std::string version;  // of the whole list
  bool is_first = false;
  bool is_last = false;
};

enum class PatchKind { json, merge, strategic };

struct ApplyAsked {
  std::string manager = {};  // empty: ApiOptions::manager
  bool force = false;        // takes over fields of others
};

// A credential: it is logged nowhere.
struct Token {
  std::string text;
  Instant expires;
};

struct RemoveAsked {
  std::string uid = {};      // only this one: another of that name stays
  std::string version = {};  // only in this state
  int64_t grace_seconds = -1;
  std::string propagation = {};  // Background, Foreground, Orphan
};

class Api {
 public:
  static constexpr int k_page = 250;  // a page of pods is a megabyte or two

  Api(host::Loop& loop, host::Random& random, net::Channel& channel, ApiOptions options);

  void get(const Resource& resource, const Name& name, Then<Object> then);
  // In pages. `on_page` is called for each, `then` at the end with the list's version.
  void list(const Resource& resource, const Wanted& wanted, std::function<void(ListPage)> on_page,
            Then<std::string> then);
  // Of the whole resource, as it is now.
  void version(const Resource& resource, const Wanted& wanted, Then<std::string> then);
  void create(const Resource& resource, const Object& object, Then<Object> then);
  // Refused (contended) unless the object's resourceVersion is the present one.
  void replace(const Resource& resource, const Object& object, Then<Object> then);
  void replace_status(const Resource& resource, const Object& object, Then<Object> then);
  void patch(const Resource& resource, const Name& name, PatchKind kind, const model::Node& patch,
             Then<Object> then, std::string_view subresource = {});
  // Server-side apply: our fields become as the object says. Contended: others have set one of
  // them.
  void apply(const Resource& resource, const Object& object, const ApplyAsked& asked,
             Then<Object> then, std::string_view subresource = {});
  // What is not there is not an error: not_found.
  void remove(const Resource& resource, const Name& name, const RemoveAsked& asked,
              Then<void> then);
  void evict(const Name& pod, Then<void> then);
  // Of a ServiceAccount, for calls to this API server; it may live longer or shorter than asked.
  void create_token(const Name& account, Duration lasts, Then<Token> then);

  // Reads the object, lets `change` edit it and puts it back; again when somebody was faster. A
  // change that answers an error ends it with that error.
  using Change = std::function<Status(Object&)>;
  void change(const Resource& resource, const Name& name, Change change, Then<Object> then);

  // For Watch: the stream of changes after `version`; null if it could not even be asked for. The
  // server is asked to end it after `lasts`.
  void watch(const Resource& resource, const Wanted& wanted, const std::string& version,
             Duration lasts, net::StreamCalls calls,
             std::function<void(std::unique_ptr<net::Reading>)> opened);

  void forget_token();  // the server would not have it

  // Who waits longer and longer for a server that is away need not wait to the end: it calls when
  // one call is answered after another was not, for as long as what is returned lives.
  using Listening = std::shared_ptr<const std::function<void()>>;
  [[nodiscard]] Listening when_back(std::function<void()> call);

  host::Loop& loop() { return loop_; }
  host::Random& random() { return random_; }

 private:
  struct Ask;
  struct Listing;
  struct Changing;
  void begin(const std::shared_ptr<Ask>& ask);
  void send(const std::shared_ptr<Ask>& ask, const std::string& token);
  void on_answer(const std::shared_ptr<Ask>& ask, Result<net::Response> answer);
  void note_answer(bool is_answer);
  void again(const std::shared_ptr<Ask>& ask, Duration wait, const Error& why);
  void put(const Resource& resource, const Object& object, std::string_view subresource,
           Then<Object> then);
  void list_page(const std::shared_ptr<Listing>& listing);
  void on_list_page(const std::shared_ptr<Listing>& listing, Result<Object> page);
  void try_change(const std::shared_ptr<Changing>& changing);
  std::shared_ptr<Ask> asking(std::string method, std::string path, std::string thing,
                              Then<Object> then) const;

  host::Loop& loop_;
  host::Random& random_;
  net::Channel& channel_;
  ApiOptions options_;
  bool is_away_ = false;  // the last call was not answered
  std::vector<std::weak_ptr<const std::function<void()>>> listeners_;
  host::Lifeline life_;
};

}  // namespace spillway::kube
