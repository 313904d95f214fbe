#include "sim/wire.h"

#include <gtest/gtest.h>

#include "sim/pipe.h"

namespace spillway::sim {
namespace {

// Answers with the number of the request, and streams numbers.
class EchoDoor : public Door {
 public:
  explicit EchoDoor(World& world) : process_(world) {}

  Address address() const override { return 1; }
  Process& process() override { return process_; }
  std::weak_ptr<const bool> alive() const override { return alive_; }
  void arrive(const std::shared_ptr<Asked>& asked,
              std::shared_ptr<net::Exchange> exchange) override {
    ++arrived;
    if (asked->request.target == "/stream") {
      stream = exchange->stream({});
      stream->on_gone([this] { ++gone; });
    } else if (asked->request.target != "/silence") {
      exchange->respond({200, {}, asked->request.body});
    }
  }
  void leaves(const Asked&, const net::Response&) override { ++left; }
  void begins(const std::shared_ptr<Pipe>& pipe) override { pipes.add(pipe); }
  void tells(Hearing&, std::string_view) override {}
  void dropped(const Asked&) override { ++dropped_unanswered; }
  void crash() {
    process_.crash();
    alive_.reset();
    pipes.crash();
  }

  int arrived = 0;
  int left = 0;
  int gone = 0;
  int dropped_unanswered = 0;
  std::shared_ptr<net::Stream> stream;
  OpenPipes pipes;

 private:
  Process process_;
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

class Wire : public testing::Test {
 protected:
  void run_for(Duration time) {
    const Instant end = world.now() + time;
    bool over = false;
    world.after(time, [&over] { over = true; });
    while (!over && world.step()) {
    }
    EXPECT_EQ(world.now(), end);
  }
  void ask(const std::string& target = "/echo") {
    channel.send({"GET", target, {}, "hello"}, [this](const Result<net::Response>& response) {
      response ? ++answered : ++failed;
      EXPECT_TRUE(response || response.error().code == Code::unavailable);
    });
  }
  std::unique_ptr<net::Reading> open() {
    return channel.open(
        {"GET", "/stream", {}, {}},
        {[this](const net::Response&) { ++heads; },
         [this](std::string_view bytes) { heard += bytes; }, [this](const Error&) { ++ends; }});
  }
  void rain(uint64_t drop_permille) {
    Weather weather;
    weather.drop_permille = drop_permille;
    weather.delay_high = milliseconds(200);
    network.set_weather(weather);
  }

  World world{5};
  Network network{world};
  EchoDoor door{world};
  Process process{world};
  SimChannel channel{process, 2, network, {&door}};
  int answered = 0;
  int failed = 0;
  int heads = 0;
  int ends = 0;
  std::string heard;
};

TEST_F(Wire, ARequestIsAnsweredOnce) {
  Weather weather;
  weather.double_permille = 1000;
  network.set_weather(weather);
  ask();
  run_for(seconds(20));
  EXPECT_EQ(door.arrived, 1) << "a connection doubles nothing";
  EXPECT_EQ(answered, 1);
  EXPECT_EQ(failed, 0);
}

TEST_F(Wire, EveryRequestGetsExactlyOneAnswerWhateverIsLost) {
  rain(300);
  for (int i = 0; i < 200; ++i) ask();
  run_for(seconds(30));
  EXPECT_EQ(answered + failed, 200);
  EXPECT_GT(door.left, answered) << "some were carried out, and nobody knows";
  EXPECT_GT(failed, 0);
}

TEST_F(Wire, ABrokerThatIsDownRefusesAtOnce) {
  door.crash();
  ask();
  run_for(seconds(1));
  EXPECT_EQ(failed, 1);
}

TEST_F(Wire, WhoCrashedHearsNothing) {
  ask();
  process.crash();
  process.restart();
  run_for(seconds(20));
  EXPECT_EQ(answered + failed, 0);
}

TEST_F(Wire, ARequestThatNobodyAnswersIsNoticed) {
  ask("/silence");
  run_for(seconds(20));
  EXPECT_EQ(door.dropped_unanswered, 1);
  EXPECT_EQ(failed, 1);
}

TEST_F(Wire, AStreamArrivesInOrderUpToSomePoint) {
  rain(100);
  int broken = 0;
  for (int round = 0; round < 50; ++round) {
    heard.clear();
    ends = 0;
    heads = 0;
    door.stream.reset();
    const auto reading = open();
    run_for(seconds(3));
    std::string sent;
    for (char c = 'a'; c <= 'z' && door.stream != nullptr; ++c) {
      if (!door.stream->send(std::string(1, c))) break;
      sent += c;
      run_for(milliseconds(50));
    }
    run_for(seconds(60));
    EXPECT_TRUE(sent.starts_with(heard)) << heard;
    if (heard != sent) {
      ++broken;
      EXPECT_EQ(ends, 1) << "silence is noticed";
    }
  }
  EXPECT_GT(broken, 0);
  EXPECT_LT(broken, 50);
}

TEST_F(Wire, BothSidesLearnOfACutLate) {
  const auto reading = open();
  run_for(seconds(1));
  ASSERT_EQ(heads, 1);
  network.cut(1, 2);
  EXPECT_TRUE(door.stream->send("lost"));
  EXPECT_GT(door.stream->unsent(), 0u);
  EXPECT_EQ(ends, 0);
  EXPECT_EQ(door.gone, 0);
  run_for(seconds(61));
  EXPECT_EQ(ends, 1);
  EXPECT_EQ(door.gone, 1);
  EXPECT_FALSE(door.stream->send("too late"));
}

TEST_F(Wire, DroppingTheReadingTellsTheServer) {
  auto reading = open();
  run_for(seconds(1));
  reading.reset();
  run_for(seconds(1));
  EXPECT_EQ(door.gone, 1);
  EXPECT_EQ(ends, 0) << "who hung up is called no more";
}

TEST_F(Wire, AHalfOpenStreamIsFoundOutByTheNextPiece) {
  auto reading = open();
  run_for(seconds(1));
  network.cut(1, 2);
  reading.reset();  // nobody hears of it
  network.mend(1, 2);
  run_for(seconds(5));
  EXPECT_EQ(door.gone, 0);
  EXPECT_TRUE(door.stream->send(": beat\n\n"));
  run_for(seconds(1));
  EXPECT_EQ(door.gone, 1);
}

TEST_F(Wire, ACrashOfTheBrokerEndsItsStreams) {
  const auto reading = open();
  run_for(seconds(1));
  door.crash();
  run_for(seconds(61));
  EXPECT_EQ(ends, 1);
  EXPECT_EQ(door.gone, 0) << "it is not there to be told";
}

}  // namespace
}  // namespace spillway::sim
