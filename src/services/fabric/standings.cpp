#include "services/fabric/standings.h"

#include <utility>

#include "fabric/liqo/standing.h"

namespace spillway::agent {
namespace {

constexpr const char* k_rights_group = "rbac.authorization.k8s.io";
const kube::Resource k_bindings_in_spaces{k_rights_group, "v1", "rolebindings", true};
const kube::Resource k_bindings_of_cluster{k_rights_group, "v1", "clusterrolebindings", false};

}  // namespace

Standings::Answer Standings::ask(const std::string& buyer) {
  Look& look = looks_[buyer];
  const Instant now = api_.loop().now();
  // An answer of the future is one of before the clock was put back.
  const bool is_fresh = look.answered && *look.answered <= now && now < *look.answered + k_fresh;
  if (is_fresh) return {!look.why, look.why, *look.answered + k_fresh};
  if (!look.is_under_way) {
    look.is_under_way = true;
    look.found.reset();
    list(buyer, false);
  }
  return {false, look.why};
}

void Standings::list(const std::string& buyer, bool of_cluster) {
  api_.list(of_cluster ? k_bindings_of_cluster : k_bindings_in_spaces, {},
            life_.guard([this, buyer](const kube::ListPage& page) {
              const Status status = fabric::liqo::check_has_no_standing(buyer, page.items);
              if (!status) looks_.at(buyer).found = status.error();
            }),
            life_.guard([this, buyer, of_cluster](const Result<std::string>& listed) {
              if (!listed) return end(buyer, listed.error());
              if (!of_cluster) return list(buyer, true);
              end(buyer, looks_.at(buyer).found);
            }));
}

void Standings::end(const std::string& buyer, std::optional<Error> why) {
  Look& look = looks_.at(buyer);
  look.is_under_way = false;
  look.answered = api_.loop().now();
  look.why = std::move(why);
  answered_(buyer);
}

}  // namespace spillway::agent
