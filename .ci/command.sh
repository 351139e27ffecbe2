# The command and the examples, in target/debug: sourced by what runs them. The tests have built them; by themselves they
# would be built again, with other features.
cargo test --quiet --workspace --all-features --no-run
