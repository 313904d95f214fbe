#include "supply/naming.h"

#include <algorithm>
#include <tuple>

#include "base/digest.h"
#include "base/quantity.h"
#include "base/text.h"
#include "model/validation.h"

namespace spillway::supply {
namespace {

constexpr size_t k_longest_step = 24;
constexpr size_t k_longest_name = 63;  // a DNS label
constexpr size_t k_fingerprint_digits = 8;

bool ends_in_fingerprint(std::string_view name) {
  if (name.size() <= k_fingerprint_digits) return false;
  const std::string_view end = name.substr(name.size() - k_fingerprint_digits);
  return name[name.size() - k_fingerprint_digits - 1] == '-' &&
         std::all_of(end.begin(), end.end(), is_lower_hex);
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

void add(Digest& digest, const model::Resources& resources) {
  digest.add(resources.cpu_millis).add(resources.memory_bytes);
  digest.add(resources.pods).add(resources.storage_bytes);
  add(digest, resources.gpus);
  add(digest, resources.extended);
}

// "8cpu", "7910m"
std::string cores_of(const model::Resources& size) {
  const std::string text = cpu_to_text(size.cpu_millis);
  return text.ends_with('m') ? text : text + "cpu";
}

// "32gi"; what is no whole number of those in the next smaller unit ("31744mi").
std::string memory_of(const model::Resources& size) {
  return plain(bytes_to_text(size.memory_bytes));
}

auto in_order(const model::Taint& t) { return std::tie(t.key, t.effect, t.value); }

bool less(const model::Counts& a, const model::Counts& b) {
  return std::lexicographical_compare(
      a.begin(), a.end(), b.begin(), b.end(), [](const model::Count& x, const model::Count& y) {
        return std::tie(x.name, x.amount) < std::tie(y.name, y.amount);
      });
}

}  // namespace

bool operator<(const PoolKey& a, const PoolKey& b) {
  const auto plainly = [](const PoolKey& key) {
    const model::Resources& size = key.size;
    return std::tie(key.arch, size.cpu_millis, size.memory_bytes, size.pods, size.storage_bytes,
                    key.gpus);
  };
  if (plainly(a) != plainly(b)) return plainly(a) < plainly(b);
  if (a.size.gpus != b.size.gpus) return less(a.size.gpus, b.size.gpus);
  if (a.size.extended != b.size.extended) return less(a.size.extended, b.size.extended);
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
  std::string name = fmt::format("{}-{}-{}", key.arch, cores_of(key.size), memory_of(key.size));
  Digest digest;
  digest.add(key.arch).add(static_cast<int64_t>(key.gpus.size()));
  for (const GpuKind& gpu : key.gpus) {
    digest.add(gpu.resource).add(gpu.model);
    name += "-" + gpu.model;
  }
  add(digest, key.size);
  add(digest, key.labels);
  add(digest, key.taints);
  for (const model::Label& label : key.labels) name += "-" + label.value;
  for (const model::Taint& taint : key.taints) name += "-" + taint.key;
  return PoolId(cluster.text + "/" + with_fingerprint(name, digest));
}

OfferId offer_id(const model::Offer& offer, std::string_view step) {
  Digest digest;
  digest.add(offer.pool.text).add(step);
  add(digest, offer.shape);
  add(digest, offer.labels);
  add(digest, offer.taints);
  const std::string& pool = offer.pool.text;
  const size_t slash = pool.find('/');
  std::string_view begin = std::string_view(pool).substr(slash + 1);
  if (ends_in_fingerprint(begin)) begin.remove_suffix(k_fingerprint_digits + 1);
  // The step is what people look for: a long name of the pool is cut before it.
  const size_t room = k_longest_name - k_fingerprint_digits - step.size() - 2;
  const std::string name = fmt::format("{}-{}", begin.substr(0, room), step);
  return OfferId(pool.substr(0, slash + 1) + with_fingerprint(name, digest));
}

}  // namespace spillway::supply
