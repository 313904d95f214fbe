// Protocol buffers by hand: what the Cluster Autoscaler's few messages need of the encoding, and no
// more. With it a field can be written twice for two generations of a client, and bytes that make
// no sense are an answer and not a crash.
//
// https://protobuf.dev/programming-guides/encoding/
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace spillway::cluster_autoscaler {

// Appends fields. As in proto3, what is zero or empty is not written.
class ProtoWriter {
 public:
  ProtoWriter& integer(uint32_t field, int64_t value);
  ProtoWriter& boolean(uint32_t field, bool value) { return integer(field, value ? 1 : 0); }
  ProtoWriter& real(uint32_t field, double value);
  ProtoWriter& text(uint32_t field, std::string_view value);
  // Also an empty one: that it is there may be what counts.
  ProtoWriter& message(uint32_t field, const ProtoWriter& value);
  ProtoWriter& bytes(uint32_t field, std::string_view value);
  // One entry of a map<string, string>.
  ProtoWriter& entry(uint32_t field, std::string_view key, std::string_view value);
  // One entry of a map<string, Message>.
  ProtoWriter& entry(uint32_t field, std::string_view key, const ProtoWriter& value);

  const std::string& str() const { return out_; }
  std::string take() { return std::move(out_); }

 private:
  void tag(uint32_t field, uint32_t kind);
  void varint(uint64_t value);

  std::string out_;
};

struct ProtoField {
  uint32_t number = 0;
  uint64_t value = 0;      // of a varint or a fixed one
  std::string_view bytes;  // of a string, a message or packed numbers; else empty

  int64_t integer() const { return static_cast<int64_t>(value); }
  int32_t integer32() const { return static_cast<int32_t>(value); }
};

// Reads fields one by one; the bytes must outlive it. Groups are no part of proto3.
class ProtoReader {
 public:
  explicit ProtoReader(std::string_view bytes) : rest_(bytes) {}

  bool next(ProtoField& field);  // false: at the end, or at something that is no field
  bool is_broken() const { return is_broken_; }

 private:
  bool varint(uint64_t& value);
  bool take(size_t size, std::string_view& bytes);

  std::string_view rest_;
  bool is_broken_ = false;
};

// One entry of a map whose keys are text; views into the bytes. False: it is none.
bool read_entry(std::string_view bytes, std::string_view& key, std::string_view& value);

}  // namespace spillway::cluster_autoscaler
