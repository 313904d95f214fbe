// spillway validate FILE...: reads YAML files as the market would, and says what is wrong where.
#include <CLI/CLI.hpp>

#include "cli/files.h"
#include "cli/verbs.h"
#include "model/cluster.h"
#include "model/contract.h"
#include "model/documents.h"
#include "model/intent.h"
#include "model/offer.h"
#include "model/pool.h"

namespace spillway::cli {
namespace {

template <class T>
Status only_errors(const Result<T>& result) {
  if (!result) return tl::unexpected(result.error());
  return {};
}

Status validate_text(const std::string& noun, const std::string& text, const std::string& path) {
  if (noun == "pool") return only_errors(model::pool_from_yaml(text, path));
  if (noun == "offer") return only_errors(model::offer_from_yaml(text, path));
  if (noun == "cluster") return only_errors(model::cluster_from_yaml(text, path));
  if (noun == "intent") return only_errors(model::intent_from_yaml(text, path));
  if (noun == "contract") return only_errors(model::contract_from_yaml(text, path));
  return fail(Code::invalid, path, fmt::format("there is no noun '{}'", noun),
              "use pool, offer, cluster, intent or contract");
}

Status validate_file(const std::string& path) {
  auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  auto noun = model::noun_in_yaml(*text, path);
  if (!noun) return tl::unexpected(noun.error());
  return validate_text(*noun, *text, path);
}

int run_validate(const std::vector<std::string>& paths) {
  int bad = 0;
  for (const std::string& path : paths) {
    if (const Status status = validate_file(path); !status) {
      fmt::print(stderr, "{}\n", status.error().message());
      ++bad;
    } else {
      fmt::print("{}: good\n", path);
    }
  }
  return bad == 0 ? 0 : 1;
}

}  // namespace

Run add_validate(CLI::App& verb) {
  auto paths = std::make_shared<std::vector<std::string>>();
  verb.add_option("files", *paths, "YAML files, each with `noun:` and `version: 1`")->required();
  add_examples(verb,
               "  spillway validate examples/offer.yaml\n"
               "  spillway validate examples/*.yaml\n");
  return [paths] { return run_validate(*paths); };
}

}  // namespace spillway::cli
