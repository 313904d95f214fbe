// spillway leaves NAMESPACE: what of a namespace leaves the cluster, to whom, under which name, and
// why; and what stays. Only looks.
#include "cli/asking.h"
#include "cli/outcome.h"
#include "cli/space_look.h"
#include "cli/verbs.h"
#include "model/codec.h"

namespace spillway::fabric {

template <class F>
void fields(F& f, LeavesRow& row) {
  f.required("kind", row.kind);
  f.required("name", row.name);
  f.required("leaves", row.leaves);
  f.with_default("there", row.there);
  f.required("why", row.why);
}

}  // namespace spillway::fabric

namespace spillway::cli {
namespace {

struct LeavesArguments {
  std::string space;
  std::string kubeconfig;
  std::string context;
  std::string output = "table";
  bool preview = false;
};

struct LeavesOf {
  std::string provider;  // empty: any
  bool trusted = false;  // of any: whoever the policy trusts
  std::string space;     // its name there
  std::vector<fabric::LeavesRow> objects;
};
struct LeavesDocument {
  std::string space;
  bool offloaded = false;
  std::vector<LeavesOf> providers;
};

template <class F>
void fields(F& f, LeavesOf& of) {
  f.with_default("provider", of.provider);
  f.with_default("trusted", of.trusted);
  f.required("namespace", of.space);
  f.required("objects", of.objects);
}
template <class F>
void fields(F& f, LeavesDocument& document) {
  f.required("namespace", document.space);
  f.required("offloaded", document.offloaded);
  f.required("providers", document.providers);
}

Status check_offloaded(const LeavesArguments& arguments, const SpaceLook& look) {
  if (look.offloading) return {};
  if (look.why_stays) {
    return fail(Code::invalid, "namespace " + arguments.space,
                "it is never offloaded: " + *look.why_stays, "move what is to leave to another");
  }
  if (arguments.preview) return {};
  return fail(Code::not_found, "namespace " + arguments.space,
              "it is not offloaded: nothing leaves",
              "name it in the agent's policy (offload), or see what would leave by --preview");
}

std::string shown_name(const SpaceProvider& of) {
  if (!of.to.provider.empty()) return of.to.provider;
  return of.is_trusted ? "(trusted)" : "(any)";
}

Status tell_leaves(const LeavesArguments& arguments) {
  const auto look = look_at_space(arguments.kubeconfig, arguments.context, arguments.space);
  if (!look) return tl::unexpected(look.error());
  SPILLWAY_TRY(check_offloaded(arguments, *look));
  LeavesDocument document{arguments.space, look->offloading.has_value(), {}};
  Table table({{"TO"}, {"KIND"}, {"NAME"}, {"THERE"}, {"WHY"}});
  const auto providers = providers_of(*look);
  if (!providers) return tl::unexpected(providers.error());
  for (const SpaceProvider& one : *providers) {
    document.providers.push_back({one.to.provider, one.is_trusted, one.space_there,
                                  fabric::what_leaves(look->contents, one.to)});
    for (const fabric::LeavesRow& row : document.providers.back().objects) {
      table.add({shown_name(one), row.kind, row.name,
                 row.leaves ? fmt::format("{}/{}", one.space_there, row.there) : "stays", row.why});
    }
  }
  const Asking shown{.dir = {}, .broker = {}, .output = arguments.output};
  return show(shown.form(), model::write_json(document), table, "There is nothing in it.");
}

}  // namespace

void add_leaves(Word verb) {
  auto arguments = std::make_shared<LeavesArguments>();
  verb.option("namespace", arguments->space, "Of the cluster that buys").required();
  verb.option("--kubeconfig", arguments->kubeconfig,
              "That cluster (default: the one that this runs in)")
      .type_name("FILE");
  verb.option("--context", arguments->context, "Of the kubeconfig (default: its current one)")
      .type_name("NAME");
  verb.flag("--preview", arguments->preview, "Also when it is not offloaded: as if it were");
  add_output(verb, arguments->output);
  verb.examples(
      "  spillway leaves shop --kubeconfig ~/.kube/rome\n"
      "  spillway leaves shop -o json | jq '.providers[].objects[] | select(.leaves)'\n"
      "  spillway leaves web --preview\n");
  verb.run([arguments] {
    const Status status = tell_leaves(*arguments);
    return status ? k_ok : failed("leaves", status.error());
  });
}

}  // namespace spillway::cli
