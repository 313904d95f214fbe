// What both of our HTTP parsers share, around Beast's: counting, limits, and which errors mean
// what. Only http_parser's two source files include this: it costs seconds to compile.
#pragma once

#include <boost/beast/http/basic_parser.hpp>

#include "net/http_parser.h"

namespace spillway::net {

namespace beast_http = boost::beast::http;

inline constexpr size_t k_most_fields = 100;

inline std::string_view view_of(boost::beast::string_view text) {
  return {text.data(), text.size()};
}

template <bool is_request>
class HttpEngine : public beast_http::basic_parser<is_request> {
  using Base = beast_http::basic_parser<is_request>;

 public:
  explicit HttpEngine(const ParseLimits& limits) : limits_(limits) {
    // Beast counts what is left of the head after each call anew; we count all of it.
    this->header_limit(static_cast<uint32_t>(limits.header_bytes + 1));
    this->body_limit(boost::none);
    this->eager(false);
  }

  size_t feed(std::string_view bytes);

  Parsed state() const {
    if (refusal_.status != 0) return Parsed::refused;
    if (this->is_done()) return Parsed::done;
    return this->is_header_done() ? Parsed::body : Parsed::head;
  }
  const Refusal& refusal() const { return refusal_; }
  size_t body_size() const { return body_.size(); }

 protected:
  using Fault = boost::system::error_code;

  void refuse(int status, std::string_view reason, Fault& fault) {
    refusal_ = {status, reason};
    fault = beast_http::error::bad_value;  // any: it only ends the parse
  }

  bool count_field(Fault& fault) {
    if (++fields_ > k_most_fields) {
      refuse(431, "there are more than 100 header fields", fault);
      return false;
    }
    return true;
  }

  size_t add_to_body(boost::beast::string_view bytes, Fault& fault) {
    if (bytes.size() > limits_.body_bytes - body_bytes_) {
      refuse(413, "the body is too large", fault);
      return 0;
    }
    if (!is_streamed_) body_bytes_ += bytes.size();
    body_.append(bytes.data(), bytes.size());
    return bytes.size();
  }

  // Judged with the head, so that a client that waits for a 100 need not send it.
  void on_header_impl(Fault& fault) override {
    if (this->is_done()) return;
    const auto length = this->content_length();
    if (length && *length > limits_.body_bytes) refuse(413, "the body is too large", fault);
  }
  void on_body_init_impl(const boost::optional<uint64_t>& length, Fault&) override {
    // No more than what has to come soon anyway.
    if (length) body_.reserve(static_cast<size_t>(std::min<uint64_t>(*length, 64 * 1024)));
  }
  size_t on_body_impl(boost::beast::string_view bytes, Fault& fault) override {
    return add_to_body(bytes, fault);
  }
  size_t on_chunk_body_impl(uint64_t, boost::beast::string_view bytes, Fault& fault) override {
    return add_to_body(bytes, fault);
  }
  void on_chunk_header_impl(uint64_t, boost::beast::string_view, Fault&) override {}
  void on_finish_impl(Fault&) override {}

  ParseLimits limits_;
  Refusal refusal_{0, {}};
  size_t fields_ = 0;
  size_t head_bytes_ = 0;
  size_t body_bytes_ = 0;
  bool is_streamed_ = false;
  std::string body_;

 private:
  void judge(const Fault& fault, size_t left);
};

// One step of Beast at a time: it stops after the head, so that we can count it.
template <bool is_request>
size_t HttpEngine<is_request>::feed(std::string_view bytes) {
  size_t used = 0;
  while (state() == Parsed::head || state() == Parsed::body) {
    const std::string_view rest = bytes.substr(used);
    if (rest.empty()) break;
    const bool was_head = !this->is_header_done();
    // Beast asserts that the last chunk comes with five bytes or more. A chunked body always has
    // that many to come, so waiting for them loses nothing.
    if (!was_head && this->chunked() && rest.size() < 5) break;
    Fault fault;
    const size_t taken = this->put(boost::asio::const_buffer(rest.data(), rest.size()), fault);
    used += taken;
    if (was_head) {
      head_bytes_ += taken;
      if (this->is_header_done()) this->eager(true);
    }
    judge(fault, rest.size() - taken);
    if (fault == beast_http::error::need_more) break;
  }
  return used;
}

template <bool is_request>
void HttpEngine<is_request>::judge(const Fault& fault, size_t left) {
  if (refusal_.status != 0) return;
  const bool is_head = !this->is_header_done();
  if (fault && fault != beast_http::error::need_more) {
    const bool is_too_long = fault == beast_http::error::header_limit;
    refusal_ = {is_too_long ? 431 : 400,
                is_too_long ? "the head is too large" : "this is not well-formed HTTP/1.1"};
  } else if (head_bytes_ + (is_head ? left : 0) > limits_.header_bytes) {
    refusal_ = {431, "the head is too large"};
  } else if (fault && left > limits_.header_bytes) {
    refusal_ = {400, "the head of a chunk or the trailer is too large"};
  }
}

}  // namespace spillway::net
