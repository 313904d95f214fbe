// Mirror: one kind of objects at one provider, held as this cluster has them: made, changed in
// their spec and deleted there; their status comes back. A local one goes when its copy is gone.
#pragma once

#include <map>
#include <set>
#include <string>

#include "embedded/liqo/remote.h"
#include "embedded/turn.h"
#include "kube/watch.h"

namespace spillway::embedded::liqo {

struct MirrorPlace {
  std::string provider;
  std::string here;   // tenant namespaces
  std::string there;  //
};

class Mirror {
 public:
  Mirror(const Setting& setting, Remote& remote, const codec::Kind& kind, MirrorPlace place);

  void look_soon(const std::string& name);
  // Nothing that it would have to hold is left, on either side.
  bool is_idle() const;

 private:
  void work();
  void look_at(const std::string& name);
  void on_listed();
  void look_at_all();
  void keep(const Object& local);
  void end(const Object& local);
  void make(const Object& local);
  void update(const Object& local, const model::Node& theirs);
  void take_status(const Object& local, const model::Node& theirs);
  void remove(const std::string& name);
  void heard(const model::Node& theirs);
  ObjectPtr ours(const std::string& name) const;
  void tried(const std::string& name, const Status& done);
  template <class Done>
  auto answered(const std::string& name, Done done);

  const Setting& s_;
  Remote& remote_;
  const codec::Kind& kind_;
  MirrorPlace place_;
  std::set<std::string> told_;  // of those: which the watch has told of
  std::map<std::string, model::Node> theirs_;
  std::set<std::string> changed_;
  std::set<std::string> busy_;  // asked for, and not answered
  std::map<std::string, host::Backoff> waits_;
  Turn turn_;
  kube::Watch watch_;
  host::Lifeline lifeline_;
};

}  // namespace spillway::embedded::liqo
