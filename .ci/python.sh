#!/usr/bin/env bash
# Builds the Python package, runs its tests and the notebooks of the documents, in the Python that is here; `.ci/python.sh
# full` also in the oldest and the newest that are installed, and all of Spark's. Packages come from PyPI; without them this
# fails.
set -euo pipefail
cd "$(dirname "$0")/.."

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
. .ci/embedded.sh
. .ci/venv.sh
packages="maturin==1.16.0 duckdb==2.0.0 polars==2.1.0 pyarrow==26.0.1 pandas==3.1.1 pytest==9.2.0 nbclient==0.11.0 nbformat==5.11.1 ipykernel==7.4.0"
spark="pyarrow==26.0.1 pyspark==4.3.0 pytest==9.2.0"
[ -n "${TRACEGLASS_VECTORS:-}" ] || echo "TRACEGLASS_VECTORS is not set: samples only"

# What is here is compiled once: the workspace's own target directory has most of it.
make_venv "$target/venv-python" $packages
(cd bindings/python && CARGO_TARGET_DIR=$target "$target/venv-python/bin/maturin" build --quiet --profile dev --out "$target/wheels")
wheel=$(ls -t "$target"/wheels/traceglass-*.whl | head -1)

tests() { # VENV ARGUMENTS...
    local venv=$1
    shift
    "$venv/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps "$wheel"
    "$venv/bin/python" -m pytest -q -p no:cacheprovider "$@"
}

# What `traceglass.ros2` is held against.
need_packages python3-bt2
tests "$target/venv-python" bindings/python/tests/test_trace.py bindings/python/tests/test_ros2.py
"$target/venv-python/bin/python" .ci/notebook.py docs/notebooks/*.ipynb
# Spark needs Java.
command -v java >/dev/null || need_packages default-jre-headless
make_venv "$target/venv-spark" $spark
if [ "${1:-}" = full ]; then
    tests "$target/venv-spark" bindings/python/tests/test_spark.py
    # The wheel is one for all: abi3.
    ran=0
    for version in 3.10 3.14 3.13; do
        PYTHON=none
        # What pyenv puts into the path may be no more than a message: the first that runs.
        for candidate in "python$version" "$HOME/.pyenv/versions/$version".*/bin/python; do
            "$candidate" --version 2>/dev/null || continue
            PYTHON=$candidate
            break
        done
        [ "$PYTHON" != none ] || { echo "Python $version is not installed"; continue; }
        # The newest versions of these packages need a newer Python than 3.10.
        make_venv "$target/venv-$version" duckdb polars pyarrow pandas pytest
        tests "$target/venv-$version" bindings/python/tests/test_trace.py bindings/python/tests/test_ros2.py
        ran=$((ran + 1))
    done
    [ "$ran" -ge 2 ] || { echo "only $ran other versions of Python are installed" >&2; exit 1; }
else
    TRACEGLASS_SPARK=smoke TRACEGLASS_SPARK_MASTER="local[2]" tests "$target/venv-spark" bindings/python/tests/test_spark.py
fi
