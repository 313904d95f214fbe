"""What `make bench ONLY=fabric` is made of; tests/bench/fabric_bench.py runs it."""
