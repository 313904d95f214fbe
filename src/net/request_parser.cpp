#include <array>

#include "net/ascii.h"
#include "net/http_engine.h"

namespace spillway::net {
namespace {

constexpr std::array<std::string_view, 7> k_methods = {"GET",    "HEAD",  "POST",   "PUT",
                                                       "DELETE", "PATCH", "OPTIONS"};

bool is_path(std::string_view target) {
  if (target.empty() || target[0] != '/') return false;
  return std::all_of(target.begin(), target.end(), [](char c) { return c > ' ' && c < 127; });
}

}  // namespace

class RequestParser::Engine final : public HttpEngine<true> {
 public:
  using HttpEngine::HttpEngine;

  bool is_http_1_0() const { return is_http_1_0_; }
  bool expects_continue() const { return expects_continue_ && body_.empty(); }
  Request take() {
    request_.body = std::move(body_);
    return std::move(request_);
  }

 protected:
  void on_request_impl(beast_http::verb, boost::beast::string_view method,
                       boost::beast::string_view target, int version, Fault& fault) override {
    is_http_1_0_ = version < 11;
    request_.method = view_of(method);
    request_.target = view_of(target);
    request_.headers.reserve(8);
    if (std::find(k_methods.begin(), k_methods.end(), view_of(method)) == k_methods.end()) {
      refuse(501, "this method is not known here", fault);
    } else if (!is_path(view_of(target))) {
      refuse(400, "the target of a request must be a path", fault);
    }
  }

  void on_response_impl(int, boost::beast::string_view, int, Fault&) override {}

  void on_field_impl(beast_http::field field, boost::beast::string_view name,
                     boost::beast::string_view value, Fault& fault) override {
    if (!count_field(fault)) return;
    if (is_header_done()) return;  // a trailer: nobody here wants one
    switch (field) {
      case beast_http::field::host:
        ++hosts_;
        break;
      case beast_http::field::content_length:
        if (++lengths_ > 1) return refuse(400, "there are two Content-Length fields", fault);
        break;
      case beast_http::field::transfer_encoding:
        if (is_http_1_0_ || !equal_ignoring_case(view_of(value), "chunked")) {
          return refuse(501, "the only Transfer-Encoding known here is chunked", fault);
        }
        break;
      case beast_http::field::upgrade:
        return refuse(400, "this server speaks HTTP/1.1 and does not upgrade", fault);
      case beast_http::field::expect:
        if (!equal_ignoring_case(view_of(value), "100-continue")) {
          return refuse(417, "the only expectation known here is 100-continue", fault);
        }
        expects_continue_ = !is_http_1_0_;
        break;
      default:
        break;
    }
    request_.headers.push_back({std::string(view_of(name)), std::string(view_of(value))});
  }

  void on_header_impl(Fault& fault) override {
    if (hosts_ > 1 || (hosts_ == 0 && !is_http_1_0_)) {
      return refuse(400, "there must be one Host field", fault);
    }
    HttpEngine::on_header_impl(fault);
  }

 private:
  Request request_;
  size_t hosts_ = 0;
  size_t lengths_ = 0;
  bool is_http_1_0_ = false;
  bool expects_continue_ = false;
};

RequestParser::RequestParser(const ParseLimits& limits)
    : engine_(std::make_unique<Engine>(limits)) {}
RequestParser::~RequestParser() = default;

size_t RequestParser::feed(std::string_view bytes) { return engine_->feed(bytes); }
Parsed RequestParser::state() const { return engine_->state(); }
const Refusal& RequestParser::refusal() const { return engine_->refusal(); }
bool RequestParser::keeps_alive() const { return !engine_->is_http_1_0() && engine_->keep_alive(); }
bool RequestParser::is_http_1_0() const { return engine_->is_http_1_0(); }
bool RequestParser::expects_continue() const { return engine_->expects_continue(); }
size_t RequestParser::body_size() const { return engine_->body_size(); }
Request RequestParser::take() { return engine_->take(); }

}  // namespace spillway::net
