#include "supply/naming.h"

#include <algorithm>
#include <tuple>

#include "base/digest.h"
#include "base/text.h"
#include "model/validation.h"

namespace spillway::supply {
namespace {

constexpr size_t k_longest_step = 24;
constexpr size_t k_longest_name = 63;  // a DNS label
constexpr size_t k_fingerprint_digits = 8;

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

bool ends_in_fingerprint(std::string_view name) {
  if (name.size() <= k_fingerprint_digits) return false;
  const std::string_view end = name.substr(name.size() - k_fingerprint_digits);
  return name[name.size() - k_fingerprint_digits - 1] == '-' &&
         std::all_of(end.begin(), end.end(), is_hex);
}

// Small letters and digits, one '-' for any run of what else there is, none at the ends.
std::string plain(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    const bool kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (kept) {
      out += c;
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  while (out.ends_with('-')) out.pop_back();
  return out;
}

std::string with_fingerprint(std::string_view readable, const Digest& digest) {
  const std::string begin(readable.substr(0, k_longest_name - k_fingerprint_digits - 1));
  return plain(begin) + "-" + to_hex(digest.value()).substr(0, k_fingerprint_digits);
}

void add(Digest& digest, const model::Labels& labels) {
  digest.add(static_cast<int64_t>(labels.size()));
  for (const model::Label& label : labels) digest.add(label.key).add(label.value);
}

void add(Digest& digest, const std::vector<model::Taint>& taints) {
  digest.add(static_cast<int64_t>(taints.size()));
  for (const model::Taint& taint : taints) {
    digest.add(taint.key).add(taint.value).add(static_cast<int64_t>(taint.effect));
  }
}

void add(Digest& digest, const model::Counts& counts) {
  digest.add(static_cast<int64_t>(counts.size()));
  for (const model::Count& count : counts) digest.add(count.name).add(count.amount);
}

auto in_order(const model::Taint& t) { return std::tie(t.key, t.effect, t.value); }

}  // namespace

bool operator<(const PoolKey& a, const PoolKey& b) {
  const auto plainly = [](const PoolKey& key) { return std::tie(key.arch, key.step, key.gpus); };
  if (plainly(a) != plainly(b)) return plainly(a) < plainly(b);
  const auto label_less = [](const model::Label& x, const model::Label& y) {
    return std::tie(x.key, x.value) < std::tie(y.key, y.value);
  };
  if (a.labels != b.labels) {
    return std::lexicographical_compare(a.labels.begin(), a.labels.end(), b.labels.begin(),
                                        b.labels.end(), label_less);
  }
  return std::lexicographical_compare(
      a.taints.begin(), a.taints.end(), b.taints.begin(), b.taints.end(),
      [](const model::Taint& x, const model::Taint& y) { return in_order(x) < in_order(y); });
}

Status check_step_name(std::string_view name) {
  if (name.size() > k_longest_step || !check_cluster_id(name)) {
    return model::refuse("name", in_quotes(name) + " is no name for a step",
                         "use 1 to 24 small letters, digits and '-', such as small");
  }
  if (!ends_in_fingerprint(name)) return {};
  return model::refuse("name", in_quotes(name) + " ends like a fingerprint",
                       "end it otherwise than in '-' and eight hexadecimal digits");
}

PoolId pool_id(const ClusterId& cluster, const PoolKey& key) {
  std::string name = key.arch + "-" + key.step;
  const bool says_all = key.gpus.empty() && key.labels.empty() && key.taints.empty();
  // With a '-' in the architecture two keys could make one name.
  const bool clear = plain(name) == name && key.arch.find('-') == std::string::npos;
  if (says_all && clear && name.size() <= k_longest_name) {
    return PoolId(cluster.text + "/" + name);
  }
  Digest digest;
  digest.add(key.arch).add(key.step).add(static_cast<int64_t>(key.gpus.size()));
  for (const GpuKind& gpu : key.gpus) {
    digest.add(gpu.resource).add(gpu.model);
    name += "-" + gpu.model;
  }
  add(digest, key.labels);
  add(digest, key.taints);
  for (const model::Label& label : key.labels) name += "-" + label.value;
  for (const model::Taint& taint : key.taints) name += "-" + taint.key;
  return PoolId(cluster.text + "/" + with_fingerprint(name, digest));
}

OfferId offer_id(const model::Offer& offer, std::string_view step) {
  const model::Resources& shape = offer.shape;
  Digest digest;
  digest.add(offer.pool.text).add(step).add(shape.cpu_millis).add(shape.memory_bytes);
  digest.add(shape.pods).add(shape.storage_bytes);
  add(digest, shape.gpus);
  add(digest, shape.extended);
  add(digest, offer.labels);
  add(digest, offer.taints);
  const std::string& pool = offer.pool.text;
  const size_t slash = pool.find('/');
  // The step is what people look for: a long name of the pool is cut before it.
  const size_t room = k_longest_name - k_fingerprint_digits - step.size() - 2;
  const std::string name = fmt::format("{}-{}", pool.substr(slash + 1, room), step);
  return OfferId(pool.substr(0, slash + 1) + with_fingerprint(name, digest));
}

}  // namespace spillway::supply
