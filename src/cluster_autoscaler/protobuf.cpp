#include "cluster_autoscaler/protobuf.h"

#include <bit>
#include <cstring>

namespace spillway::cluster_autoscaler {
namespace {

enum Kind : uint32_t { k_varint = 0, k_fixed64 = 1, k_bytes = 2, k_fixed32 = 5 };

uint64_t little_endian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i > 0; --i) {
    value = value << 8 | static_cast<unsigned char>(bytes[i - 1]);
  }
  return value;
}

}  // namespace

void ProtoWriter::varint(uint64_t value) {
  while (value >= 0x80) {
    out_ += static_cast<char>(static_cast<unsigned char>(value | 0x80));
    value >>= 7;
  }
  out_ += static_cast<char>(static_cast<unsigned char>(value));
}

void ProtoWriter::tag(uint32_t field, uint32_t kind) { varint(uint64_t{field} << 3 | kind); }

ProtoWriter& ProtoWriter::integer(uint32_t field, int64_t value) {
  if (value == 0) return *this;
  tag(field, k_varint);
  varint(static_cast<uint64_t>(value));
  return *this;
}

ProtoWriter& ProtoWriter::real(uint32_t field, double value) {
  const auto bits = std::bit_cast<uint64_t>(value);
  if (bits == 0) return *this;
  tag(field, k_fixed64);
  for (int shift = 0; shift < 64; shift += 8) {
    out_ += static_cast<char>(static_cast<unsigned char>(bits >> shift));
  }
  return *this;
}

ProtoWriter& ProtoWriter::bytes(uint32_t field, std::string_view value) {
  tag(field, k_bytes);
  varint(value.size());
  out_ += value;
  return *this;
}

ProtoWriter& ProtoWriter::text(uint32_t field, std::string_view value) {
  return value.empty() ? *this : bytes(field, value);
}

ProtoWriter& ProtoWriter::message(uint32_t field, const ProtoWriter& value) {
  return bytes(field, value.out_);
}

ProtoWriter& ProtoWriter::entry(uint32_t field, std::string_view key, std::string_view value) {
  return message(field, ProtoWriter().bytes(1, key).bytes(2, value));
}

ProtoWriter& ProtoWriter::entry(uint32_t field, std::string_view key, const ProtoWriter& value) {
  return message(field, ProtoWriter().bytes(1, key).message(2, value));
}

bool ProtoReader::varint(uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) return false;
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool ProtoReader::take(size_t size, std::string_view& bytes) {
  if (size > rest_.size()) return false;
  bytes = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return true;
}

bool ProtoReader::next(ProtoField& field) {
  if (rest_.empty() || is_broken_) return false;
  is_broken_ = true;  // until all of it was there
  uint64_t head = 0;
  if (!varint(head) || head >> 3 == 0 || head >> 3 > UINT32_MAX) return false;
  field = {static_cast<uint32_t>(head >> 3), 0, {}};
  std::string_view fixed;
  uint64_t size = 0;
  switch (head & 7) {
    case k_varint:
      if (!varint(field.value)) return false;
      break;
    case k_bytes:
      if (!varint(size) || !take(size, field.bytes)) return false;
      break;
    case k_fixed64:
    case k_fixed32:
      if (!take((head & 7) == k_fixed64 ? 8 : 4, fixed)) return false;
      field.value = little_endian(fixed);
      break;
    default:
      return false;
  }
  is_broken_ = false;
  return true;
}

bool read_entry(std::string_view bytes, std::string_view& key, std::string_view& value) {
  ProtoReader reader(bytes);
  key = {};
  value = {};
  for (ProtoField field; reader.next(field);) {
    if (field.number == 1) key = field.bytes;
    if (field.number == 2) value = field.bytes;
  }
  return !reader.is_broken();
}

}  // namespace spillway::cluster_autoscaler
