#!/usr/bin/env bash
# Reads back what `export --format parquet` and `--format arrow` write, in duckdb, polars and pyarrow, and runs the queries of the
# documentation. They come from PyPI; without python3, venv or the registry this fails.
set -euo pipefail
cd "$(dirname "$0")/.."

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
. .ci/venv.sh
make_venv "$target/venv-tables" duckdb==2.0.0 polars==2.1.0 pyarrow==26.0.1 pytest==9.2.0 pytz==2025.2

. .ci/command.sh
export TRACEGLASS=$target/debug/traceglass
[ -n "${TRACEGLASS_VECTORS:-}" ] || echo "TRACEGLASS_VECTORS is not set: samples only"
"$target/venv-tables/bin/python" -m pytest -q -p no:cacheprovider tables/tests/python
