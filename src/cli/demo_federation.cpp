#include "cli/demo_federation.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/asking.h"
#include "cli/broker_words.h"
#include "cli/demo_load.h"
#include "cli/files.h"
#include "cli/waiting.h"
#include "cli/when.h"
#include "pki/private_file.h"

namespace spillway::cli {
namespace {

constexpr const char* k_operator = "operator";
constexpr auto k_set_up_patience = std::chrono::seconds(30);
constexpr auto k_set_up_look = std::chrono::milliseconds(10);

// One that was free a moment ago.
Result<uint16_t> free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  const bool found = fd >= 0 && ::bind(fd, any, size) == 0 && ::getsockname(fd, any, &size) == 0;
  const int error = errno;
  if (fd >= 0) ::close(fd);
  if (found) return ntohs(address.sin_port);
  return fail(Code::unavailable, "127.0.0.1", std::strerror(error), "look whether ports are left");
}

std::string supply_text(const Seller& seller) {
  return fmt::format(
      "noun: policy\n"
      "version: 1\n"
      "ladder:\n"
      "  - name: {0}\n"
      "    shape: {{cpu: {1}, memory: 4Gi, pods: 10}}\n"
      "price: {{currency: USD, unit_hour: {2}, minimum_term: 1s}}\n"
      "place: {{{3}}}\n"
      "energy:\n"
      "  carbon_now: {4}\n"
      "  unit_milliwatts: 100000\n"
      "  provenance: {{source: demo, as_of: {5}}}\n"
      "visibility: everyone\n"
      "terms: {{lease: 10m, notice: 1m}}\n",
      seller.step, seller.cpus, seller.usd_hour, seller.place, seller.carbon, to_text(now()));
}

// What the buyer's pods need to run at the sellers.
std::string offload_text() {
  return fmt::format(
      "noun: policy\n"
      "version: 1\n"
      "offload: {{namespaces: [{}]}}\n",
      k_load_space);
}

std::string cluster_of(const std::string& member) { return member + "-cluster"; }

}  // namespace

std::string DemoFederation::dir(const std::string& member) const {
  return member == k_operator ? operator_in(path("broker")) : path(member);
}

Result<std::string> DemoFederation::run(const std::vector<std::string>& words) {
  return stage_.run(process("set-up"), words);
}

// Until the file has that text in it, or its process has ended.
Status DemoFederation::await_file(const std::string& of, const std::string& file,
                                  const std::string& text) {
  const auto came = wait_until(k_set_up_patience, k_set_up_look, [&]() -> Result<bool> {
    if (is_there(path(file))) {
      const auto now_in_it = read_file(path(file));
      if (now_in_it && now_in_it->find(text) != std::string::npos) return true;
    }
    SPILLWAY_TRY(stage_.check_runs(process(of)));
    return false;
  });
  if (!came) return tl::unexpected(came.error());
  if (*came) return {};
  return fail(Code::unavailable, process(of), "it does not come up",
              "look whether the machine is busy, then try again");
}

Status DemoFederation::set_up_broker() {
  const auto port = free_port();
  if (!port) return tl::unexpected(port.error());
  url_ = fmt::format("https://127.0.0.1:{}", *port);
  const auto made =
      run({"broker", "init", "--data", path("broker"), "--federation", name_, "--name", "127.0.0.1",
           "--listen", fmt::format("127.0.0.1:{}", *port), "--operator", k_operator});
  if (!made) return tl::unexpected(made.error());
  const auto pid = stage_.start(process("broker"), {"broker", "--data", path("broker")});
  if (!pid) return tl::unexpected(pid.error());
  return await_file("broker", "broker.out", url_ + "\n");
}

Status DemoFederation::start_cluster(const std::string& member, int nodes, int cpus) {
  const auto pid =
      stage_.start(process(cluster_of(member)),
                   {"cluster", "run", member, "--liqo", "--nodes", std::to_string(nodes), "--cpu",
                    std::to_string(cpus), "--memory", "4Gi", "--kubeconfig", kubeconfig(member)});
  if (!pid) return tl::unexpected(pid.error());
  return {};
}

// The token goes through a file: arguments can be seen by everybody on the machine.
Status DemoFederation::join(const std::string& member, const std::string& roles) {
  const auto token = run({"token", "create", "--cluster", member, "--roles", roles, "-o", "plain",
                          "--dir", dir(k_operator)});
  if (!token) return tl::unexpected(token.error());
  const std::string file = path(member + ".token");
  SPILLWAY_TRY(pki::write_private(file, *token));
  const auto joined = run({"join", url_, "--token-file", file, "--dir", dir(member)});
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
  if (!joined) return tl::unexpected(joined.error());
  return {};
}

Status DemoFederation::start_agent(const std::string& member, const std::string& roles,
                                   const std::string& policy_text) {
  SPILLWAY_TRY(join(member, roles));
  SPILLWAY_TRY(await_file(cluster_of(member), member + ".kubeconfig", ""));
  SPILLWAY_TRY(pki::write_private(policy(member), policy_text));
  const auto pid =
      stage_.start(process(member), {"agent", "--dir", dir(member), "--policy", policy(member),
                                     "--kubeconfig", kubeconfig(member), "--fabric", "liqo"});
  if (!pid) return tl::unexpected(pid.error());
  return {};
}

Status DemoFederation::set_up(const std::string& profile) {
  SPILLWAY_TRY(pki::make_private_folder(stage_.path(name_)));
  SPILLWAY_TRY(start_cluster(k_buyer, 1, k_own_cpus));
  for (const Seller& seller : k_sellers) {
    SPILLWAY_TRY(start_cluster(seller.name, seller.units, seller.cpus));
  }
  SPILLWAY_TRY(set_up_broker());
  for (const Seller& seller : k_sellers) {
    SPILLWAY_TRY(start_agent(seller.name, "provider", supply_text(seller)));
  }
  SPILLWAY_TRY(start_agent(k_buyer, "consumer", offload_text()));
  SPILLWAY_TRY(start_autoscaler(profile));
  return await_sale();
}

Status DemoFederation::check_runs() {
  SPILLWAY_TRY(stage_.check_runs(process("broker")));
  SPILLWAY_TRY(stage_.check_runs(process("autoscaler")));
  SPILLWAY_TRY(stage_.check_runs(process(k_buyer)));
  SPILLWAY_TRY(stage_.check_runs(process(cluster_of(k_buyer))));
  for (const Seller& seller : k_sellers) {
    SPILLWAY_TRY(stage_.check_runs(process(seller.name)));
    SPILLWAY_TRY(stage_.check_runs(process(cluster_of(seller.name))));
  }
  return {};
}

Status DemoFederation::await_sale() {
  Asking asking;
  asking.dir = dir(k_buyer);
  auto opened = open_session(asking);
  if (!opened) return tl::unexpected(opened.error());
  buyer_ = std::move(*opened);
  wire::QueryRequest request;
  request.intent.shape.cpu_millis = 1000;
  request.intent.currency = Currency{{'U', 'S', 'D'}};
  std::vector<wire::Candidate> candidates;
  const auto all = wait_until(k_set_up_patience, k_set_up_look, [&]() -> Result<bool> {
    SPILLWAY_TRY(check_runs());
    auto answer = buyer_->ask(&wire::BrokerClient::query, request);
    if (!answer) return tl::unexpected(answer.error());
    candidates = std::move(answer->candidates);
    return candidates.size() == k_sellers.size();
  });
  if (!all) return tl::unexpected(all.error());
  if (*all) return read_offers(candidates);
  return fail(Code::unavailable, process("the sale"), "not all that is free is on sale",
              "look whether the machine is busy, then try again");
}

Status DemoFederation::read_offers(const std::vector<wire::Candidate>& candidates) {
  for (const wire::Candidate& candidate : candidates) {
    auto row = buyer_->ask(&wire::BrokerClient::get_offer, candidate.offer);
    if (!row) return tl::unexpected(row.error());
    on_sale_.push_back(
        {candidate.provider.text, std::move(row->offer), candidate.rate, candidate.free_units});
  }
  std::sort(on_sale_.begin(), on_sale_.end(),
            [](const OnSale& a, const OnSale& b) { return a.rate < b.rate; });
  return {};
}

// The broker lists those that live; one that is listed no more is asked for by its id.
Result<std::vector<model::Contract>> DemoFederation::contracts() {
  auto page =
      all_pages(*buyer_, &wire::BrokerClient::list_contracts, &wire::ContractPage::contracts);
  if (!page) return tl::unexpected(page.error());
  std::map<ContractId, model::Contract> live;
  for (model::Contract& contract : page->contracts) live.emplace(contract.id, std::move(contract));
  for (auto& [id, contract] : contracts_) {
    if (!contract.is_live() || live.contains(id)) continue;
    const auto seen = buyer_->ask(&wire::BrokerClient::get_contract, id);
    if (!seen) return tl::unexpected(seen.error());
    contract = seen->contract;
  }
  for (const auto& [id, contract] : live) contracts_.insert_or_assign(id, contract);
  std::vector<model::Contract> all;
  for (const auto& [id, contract] : contracts_) all.push_back(contract);
  return all;
}

}  // namespace spillway::cli
