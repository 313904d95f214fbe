// spillway doctor: everything between here and the broker, one by one, with what to do about it.
#include <algorithm>
#include <cstdio>

#include "cli/doctor.h"
#include "cli/safe_text.h"
#include "cli/verbs.h"

namespace spillway::cli {
namespace {

struct DoctorArguments {
  std::string dir;
  std::string broker;
  std::string state;
  std::string kubeconfig;
  std::string context;
};

void print_finding(const Finding& finding) {
  fmt::print("{} {:<12} {}\n", finding.good ? "✓" : "✗", finding.what, safe(finding.seen));
  if (!finding.good && !finding.to_do.empty()) {
    fmt::print("  {:<12} → {}\n", "", safe(finding.to_do));
  }
  std::fflush(stdout);  // the next one may take its time
}

int run_doctor(const DoctorArguments& arguments) {
  Examination examination;
  examination.dir = identity_dir(arguments.dir);
  examination.broker = arguments.broker;
  examination.state = arguments.state.empty() ? examination.dir + "/state" : arguments.state;
  examination.kubeconfig = arguments.kubeconfig;
  examination.context = arguments.context;
  const auto findings = examine(examination, print_finding);
  const auto bad = std::count_if(findings.begin(), findings.end(),
                                 [](const Finding& finding) { return !finding.good; });
  if (bad == 0) {
    fmt::print("All is well.\n");
    return k_ok;
  }
  fmt::print("{} of {} checks failed; begin with the first.\n", bad, findings.size());
  return k_failed;
}

}  // namespace

void add_doctor(Word verb) {
  auto arguments = std::make_shared<DoctorArguments>();
  add_dir(verb, arguments->dir);
  verb.option("--broker", arguments->broker, "Another address of the broker than the joined one")
      .type_name("URL");
  verb.option("--state", arguments->state, "The agent's folder (state in --dir)").type_name("DIR");
  verb.option("--kubeconfig", arguments->kubeconfig, "Check the guard of this cluster, too")
      .type_name("FILE");
  verb.option("--context", arguments->context, "Of the kubeconfig (default: its current one)")
      .type_name("NAME");
  verb.examples(
      "  spillway doctor\n"
      "  spillway doctor --dir ./milan-edge\n"
      "  spillway doctor --broker https://10.0.0.5:7443\n"
      "  spillway doctor --kubeconfig ~/.kube/config\n");
  verb.run([arguments] { return run_doctor(*arguments); });
}

}  // namespace spillway::cli
