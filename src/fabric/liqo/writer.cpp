#include "fabric/liqo/writer.h"

#include "base/base64.h"
#include "base/quantity.h"
#include "model/tree.h"

namespace spillway::fabric::liqo {
namespace {

std::string amount_text(std::string_view resource, int64_t amount) {
  if (resource == "cpu") return cpu_to_text(amount);
  const bool is_bytes = resource == "memory" || resource == "ephemeral-storage";
  return is_bytes ? bytes_to_text(amount) : std::to_string(amount);
}

}  // namespace

model::Node Writer::object() { return model::object_node(); }
model::Node Writer::array() { return model::array_node(); }

void Writer::put(std::string_view path, model::Node value) {
  model::Node* at = &at_;
  for (size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
    at = &model::ensure(*at, {path.substr(0, dot)});
    path.remove_prefix(dot + 1);
  }
  model::put(*at, path, std::move(value));
}

void Writer::text(std::string_view path, const std::string& value) {
  if (!value.empty()) put(path, model::text_node(value));
}

void Writer::bytes(std::string_view path, const std::string& value) {
  if (!value.empty()) put(path, model::text_node(to_base64(value)));
}

void Writer::flag(std::string_view path, bool value) {
  if (value) put(path, model::boolean_node(true));
}

void Writer::number(std::string_view path, int64_t value) {
  if (value != 0) put(path, model::integer_node(value));
}

void Writer::texts(std::string_view path, const Texts& value) {
  if (value.empty()) return;
  model::Node made = object();
  for (const auto& [key, text] : value) model::put(made, key, model::text_node(text));
  put(path, std::move(made));
}

void Writer::list(std::string_view path, const std::vector<std::string>& value) {
  if (value.empty()) return;
  model::Node made = array();
  for (const std::string& text : value) made.items.push_back(model::text_node(text));
  put(path, std::move(made));
}

void Writer::amounts(std::string_view path, const Amounts& value) {
  if (value.empty()) return;
  model::Node made = object();
  for (const auto& [resource, amount] : value) {
    model::put(made, resource, model::text_node(amount_text(resource, amount)));
  }
  put(path, std::move(made));
}

model::Node empty_object(const Kind& kind) {
  model::Node made = model::object_node();
  model::put(made, "apiVersion", model::text_node(api_version(kind)));
  model::put(made, "kind", model::text_node(kind.kind));
  return made;
}

}  // namespace spillway::fabric::liqo
