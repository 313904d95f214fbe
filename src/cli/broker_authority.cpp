// spillway broker authority: the key that the whole federation trusts: how it is, a copy of it, and
// its replacement.
#include <cstdio>

#include "cli/asking.h"
#include "cli/broker_words.h"
#include "cli/outcome.h"
#include "cli/secret_input.h"
#include "cli/table.h"
#include "cli/when.h"
#include "pki/authority_folder.h"
#include "pki/certificate.h"
#include "pki/key.h"
#include "pki/private_file.h"
#include "services/agent/credentials.h"

namespace spillway::cli {
namespace {

using pki::AuthorityFolder;

struct AuthorityArguments {
  std::string data;
  std::string out;
  std::string from;
  std::string passphrase_file;

  std::string folder() const { return authority_in(data_folder(data)); }
};

std::string status_text(const pki::AuthorityStatus& status) {
  const auto entry = [](const pki::AuthorityStatus::Entry& of) {
    return fmt::format("{}, until {}", of.fingerprint, to_text(of.not_after));
  };
  Facts facts;
  facts.add("federation", status.federation);
  facts.add("phase", fmt::format("{} since {}", to_text(status.phase), to_text(status.since)));
  facts.add("current", entry(status.current));
  facts.add("next", status.next ? entry(*status.next) : "");
  facts.add("former", status.former ? entry(*status.former) : "");
  switch (status.phase) {
    case pki::RotationPhase::steady:
      break;
    case pki::RotationPhase::begun:
      facts.add("then", "once all have renewed (agents: 24 h): rotate finish");
      break;
    case pki::RotationPhase::finished:
      facts.add("then", "once all have renewed (agents: 24 h): rotate retire");
      break;
  }
  return facts.text();
}

int run_status(const AuthorityArguments& arguments) {
  const auto authority = AuthorityFolder::load(arguments.folder());
  if (!authority) return failed("broker authority status", authority.error());
  fmt::print("{}", status_text(authority->status()));
  return k_ok;
}

int run_backup(const AuthorityArguments& arguments) {
  constexpr const char* k_verb = "broker authority backup";
  const auto authority = AuthorityFolder::load(arguments.folder());
  if (!authority) return failed(k_verb, authority.error());
  const auto passphrase = read_passphrase(arguments.passphrase_file, true);
  if (!passphrase) return failed(k_verb, passphrase.error());
  if (const Status status = authority->backup(arguments.out, passphrase->view()); !status) {
    return failed(k_verb, status.error());
  }
  fmt::print(
      "The authority of {} is in {}, encrypted. Keep it and its passphrase apart, and not on this "
      "machine.\n",
      authority->status().federation, arguments.out);
  return k_ok;
}

int run_restore(const AuthorityArguments& arguments) {
  constexpr const char* k_verb = "broker authority restore";
  const auto passphrase = read_passphrase(arguments.passphrase_file, false);
  if (!passphrase) return failed(k_verb, passphrase.error());
  if (const Status made = pki::make_private_folder(data_folder(arguments.data)); !made) {
    return failed(k_verb, made.error());
  }
  const auto authority =
      AuthorityFolder::restore(arguments.from, passphrase->view(), arguments.folder());
  if (!authority) return failed(k_verb, authority.error());
  fmt::print(
      "The authority of {} is in {}. Next: bring market.db back too, then\n  spillway broker "
      "--data {}\n",
      authority->status().federation, arguments.folder(), data_folder(arguments.data));
  return k_ok;
}

// The operator in the broker's own folder has no agent that would renew its certificate, and may
// be the only one who could let it back in.
Status check_operator(const std::string& data, const AuthorityFolder& authority) {
  const std::string dir = operator_in(data);
  if (authority.status().phase != pki::RotationPhase::finished) return {};  // told by the step
  if (!agent::has_joined(dir)) return {};
  const auto present = agent::load_credentials(dir);
  if (!present) return {};  // of no use already
  const pki::Authority& signer = authority.signer();
  if (pki::check_issued_by(present->tls.certificate_chain_pem, signer.certificate_pem())) return {};
  return fail(Code::conflict, dir,
              fmt::format("{} still has a certificate of the former authority", present->name),
              fmt::format("run spillway renew --dir {}, or if that fails spillway broker operator "
                          "--data {}; or remove it, if nobody needs it",
                          dir, data));
}

Status check_nothing(const std::string&, const AuthorityFolder&) { return {}; }

struct RotateStep {
  const char* name;
  const char* verb;
  const char* summary;
  const char* others;  // what it means for those who have no agent
  Status (*check)(const std::string& data, const AuthorityFolder& authority);
  Status (AuthorityFolder::*step)(Instant);
};

constexpr const char* k_renew =
    "Agents renew by themselves. Operators and viewers do not: once the broker has been told and "
    "before the next step, each runs spillway renew, or is locked out.";

constexpr std::array k_steps{
    RotateStep{"begin", "broker authority rotate begin",
               "Make the next one; members trust both from their next renewal on", k_renew,
               &check_nothing, &AuthorityFolder::begin_rotation},
    RotateStep{"finish", "broker authority rotate finish",
               "Sign with the next one; the former stays trusted, its key is destroyed", k_renew,
               &check_nothing, &AuthorityFolder::finish_rotation},
    RotateStep{"retire", "broker authority rotate retire",
               "Trust the former no longer; who has not renewed is locked out",
               "Who has not renewed must join anew. If no operator is left: spillway broker "
               "operator.",
               &check_operator, &AuthorityFolder::retire_former},
};

int run_rotate(const AuthorityArguments& arguments, const RotateStep& step) {
  auto authority = AuthorityFolder::load(arguments.folder());
  if (!authority) return failed(step.verb, authority.error());
  Status status = step.check(data_folder(arguments.data), *authority);
  if (status) status = ((*authority).*step.step)(now());
  if (!status) return failed(step.verb, status.error());
  fmt::print("{}Now tell the broker: kill -HUP its process.\n{}\n",
             status_text(authority->status()), step.others);
  return k_ok;
}

void add_passphrase(Word word, std::string& file) {
  word.option("--passphrase-file", file,
              "Its first line is the passphrase; - for standard input; else it is asked for")
      .type_name("FILE");
}

void add_rotate(Word authority, const std::shared_ptr<AuthorityArguments>& arguments) {
  const Word rotate = authority.add("rotate", "Replace it, in three steps");
  rotate.require_word();
  rotate.examples(
      "  spillway broker authority rotate begin --data ./broker\n"
      "  pkill -HUP -f 'spillway broker --data ./broker'     # after each step\n"
      "  spillway renew --dir ./broker/operator    # so every operator and viewer, before the "
      "next\n");
  for (const RotateStep& step : k_steps) {
    const Word word = rotate.add(step.name, step.summary);
    add_data(word, arguments->data);
    word.run([arguments, &step] { return run_rotate(*arguments, step); });
  }
}

}  // namespace

void add_broker_authority(Word verb) {
  auto arguments = std::make_shared<AuthorityArguments>();
  const Word authority =
      verb.add("authority", "The federation's authority: status, backup, rotation");
  authority.require_word();
  authority.examples(
      "  spillway broker authority status --data ./broker\n"
      "  spillway broker authority backup --data ./broker --out authority.backup\n"
      "  spillway broker authority restore --from authority.backup --data ./broker2\n"
      "  spillway broker authority rotate begin --data ./broker\n");
  const Word status = authority.add("status", "Which there are, and until when");
  add_data(status, arguments->data);
  status.run([arguments] { return run_status(*arguments); });
  const Word backup = authority.add("backup", "Everything, encrypted, into a new file");
  add_data(backup, arguments->data);
  backup.option("--out", arguments->out, "The file").type_name("FILE").required();
  add_passphrase(backup, arguments->passphrase_file);
  backup.run([arguments] { return run_backup(*arguments); });
  const Word restore = authority.add("restore", "Bring it back from a backup");
  add_data(restore, arguments->data);
  restore.option("--from", arguments->from, "The file").type_name("FILE").required();
  add_passphrase(restore, arguments->passphrase_file);
  restore.run([arguments] { return run_restore(*arguments); });
  add_rotate(authority, arguments);
}

}  // namespace spillway::cli
