#include "conformance/raw_watch.h"

namespace spillway::conformance {

RawWatch::RawWatch(ClusterUnderTest& cluster, const Resource& resource, const std::string& space,
                   const std::string& more)
    : cluster_(cluster) {
  const std::string target = kube::path_of(resource, {space, {}}) + "?watch=true&" + more;
  net::StreamCalls calls;
  calls.on_head = [this](const net::Response& head) {
    const std::lock_guard lock(mutex_);
    status_ = head.status;
    answered_ = Clock::now();
    changed_.notify_all();
  };
  calls.on_bytes = [this](std::string_view bytes) {
    lines_.feed(bytes, [this](std::string_view line) {
      take(parsed(std::string(line)));
      return true;
    });
  };
  calls.on_end = [this](const Error& why) {
    note({why.code == Code::gone ? "END" : "BROKEN", "END", {}});
  };
  cluster_.thread().run([&] {
    reading_ = cluster_.channel().open(cluster_.get(target), std::move(calls));
    return true;
  });
}

RawWatch::~RawWatch() {
  cluster_.thread().run([&] {
    reading_.reset();
    return true;
  });
}

int RawWatch::status() {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, k_patience, [&] { return status_ != 0; });
  return status_;
}

std::vector<std::string> RawWatch::next(size_t count) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, k_patience, [&] { return events_.size() >= read_ + count; });
  return take_texts();
}

std::vector<std::string> RawWatch::rest() {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, k_patience, [&] { return is_over_; });
  return take_texts();
}

std::vector<std::string> RawWatch::take_texts() {
  std::vector<std::string> texts;
  for (; read_ < events_.size(); ++read_) texts.push_back(events_[read_].text);
  return texts;
}

std::chrono::milliseconds RawWatch::lasted() {
  const std::lock_guard lock(mutex_);
  return std::chrono::duration_cast<std::chrono::milliseconds>(ended_ - answered_);
}

Object RawWatch::last(const std::string& type) {
  const std::lock_guard lock(mutex_);
  for (auto at = events_.rbegin(); at != events_.rend(); ++at) {
    if (at->type == type) return at->object;
  }
  return {};
}

void RawWatch::take(const Object& change) {
  const std::string type(model::text_at(change, {"type"}));
  const Object* object = model::look(change, {"object"});
  if (object == nullptr) return note({"BROKEN", type, {}});
  const std::string_view name = kube::name_in(*object);
  if (name == "kube-root-ca.crt") return;  // every namespace is given one, at its own time
  std::string text = type;
  if (type == "ERROR") text += fmt::format(" {}", model::integer_at(*object, {"code"}));
  if (!name.empty()) text += fmt::format(" {}", name);
  note({std::move(text), type, *object});
}

void RawWatch::note(Event event) {
  const std::lock_guard lock(mutex_);
  if (event.type == "END") {
    is_over_ = true;
    ended_ = Clock::now();
  }
  events_.push_back(std::move(event));
  changed_.notify_all();
}

}  // namespace spillway::conformance
