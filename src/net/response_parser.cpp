#include "net/ascii.h"
#include "net/http_engine.h"

namespace spillway::net {

class ResponseParser::Engine final : public HttpEngine<false> {
 public:
  Engine(const ParseLimits& limits, bool has_no_body)
      : HttpEngine(limits), has_no_body_(has_no_body) {
    skip(has_no_body);
  }

  void end_of_input() {
    if (state() == Parsed::done || state() == Parsed::refused) return;
    Fault fault = beast_http::error::partial_message;
    if (is_header_done()) put_eof(fault);
    if (fault) refusal_ = {400, "the connection ended in the middle of the answer"};
  }

  void stream_body() {
    is_streamed_ = true;
    limits_.body_bytes = std::numeric_limits<size_t>::max();
  }
  Response& response() { return response_; }
  std::string take_body() { return std::exchange(body_, {}); }
  const ParseLimits& limits() const { return limits_; }
  bool has_no_body() const { return has_no_body_; }

 protected:
  void on_request_impl(beast_http::verb, boost::beast::string_view, boost::beast::string_view, int,
                       Fault&) override {}

  void on_response_impl(int status, boost::beast::string_view, int, Fault& fault) override {
    response_.status = status;
    if (status < 100) refuse(400, "the status is not one", fault);
  }

  void on_field_impl(beast_http::field field, boost::beast::string_view name,
                     boost::beast::string_view value, Fault& fault) override {
    if (!count_field(fault)) return;
    if (is_header_done()) return;  // a trailer
    if (field == beast_http::field::transfer_encoding &&
        !equal_ignoring_case(view_of(value), "chunked")) {
      return refuse(501, "the answer has an unknown Transfer-Encoding", fault);
    }
    response_.headers.push_back({std::string(view_of(name)), std::string(view_of(value))});
  }

 private:
  Response response_;
  bool has_no_body_;
};

ResponseParser::ResponseParser(const ParseLimits& limits, bool has_no_body)
    : engine_(std::make_unique<Engine>(limits, has_no_body)) {}
ResponseParser::~ResponseParser() = default;

size_t ResponseParser::feed(std::string_view bytes) {
  size_t used = engine_->feed(bytes);
  // 1xx is no answer yet; 101 would be another protocol, for which nobody has asked.
  while (engine_->state() == Parsed::done && engine_->response().status < 200) {
    engine_ = std::make_unique<Engine>(engine_->limits(), engine_->has_no_body());
    used += engine_->feed(bytes.substr(used));
  }
  return used;
}

void ResponseParser::end_of_input() { engine_->end_of_input(); }
Parsed ResponseParser::state() const { return engine_->state(); }
const Refusal& ResponseParser::refusal() const { return engine_->refusal(); }
bool ResponseParser::keeps_alive() const { return engine_->keep_alive(); }
void ResponseParser::stream_body() { engine_->stream_body(); }
Response& ResponseParser::response() { return engine_->response(); }
std::string ResponseParser::take_body() { return engine_->take_body(); }

}  // namespace spillway::net
