#include "embedded/liqo/remote.h"

#include <fmt/format.h>

#include "base/base64.h"

namespace spillway::embedded::liqo {

kube::Resource resource_of(const codec::Kind& kind) {
  return {std::string(kind.group), std::string(kind.version), std::string(kind.plural),
          kind.is_namespaced};
}

std::string kubeconfig_in(const Setting& setting, const Key& key) {
  const ObjectPtr secret = setting.find(codec::k_secrets, key);
  if (secret == nullptr) return {};
  return from_base64(model::text_at(secret->document(), {"data", "kubeconfig"})).value_or("");
}

Result<std::unique_ptr<Remote>> Remote::open(const Setting& setting,
                                             const std::string& kubeconfig) {
  if (!setting.options.dial) {
    return fail(Code::unavailable, "cluster " + setting.id(), "it reaches nobody yet",
                "let it listen first");
  }
  auto access = kube::read_wire_kubeconfig(kubeconfig);
  if (!access) return tl::unexpected(access.error());
  auto channel = setting.options.dial(*access);
  if (!channel) return tl::unexpected(channel.error());
  std::unique_ptr<Remote> made(new Remote(setting));
  made->kubeconfig_ = kubeconfig;
  made->space_ = access->space;
  made->server_ = fmt::format("https://{}:{}", access->server.host, access->server.port);
  made->channel_ = std::move(*channel);
  made->api_ = std::make_unique<kube::Api>(
      setting.loop, setting.objects.random, *made->channel_,
      kube::ApiOptions{
          .prefix = access->prefix, .tokens = nullptr, .manager = "liqo", .patience = seconds(10)});
  return made;
}

void Remote::check(std::function<void(bool)> then) {
  const auto once = std::make_shared<std::function<void(bool)>>(std::move(then));
  const auto say = [once](bool is_alive) {
    if (auto call = std::exchange(*once, nullptr)) call(is_alive);
  };
  channel_->send({"GET", "/livez", {}, {}}, lifeline_.guard([say](Result<net::Response> answer) {
    say(answer && answer->status == 200);
  }));
  setting_.loop.after(setting_.options.check_timeout, lifeline_.guard([say] { say(false); }));
}

}  // namespace spillway::embedded::liqo
