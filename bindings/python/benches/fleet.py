"""The walkthrough of the README with figures: a fleet of recordings, the 99th percentile of poll time per task and build.

    cargo build --release --examples
    python bindings/python/benches/fleet.py FOLDER [RECORDINGS [BYTES]]

FOLDER is filled with RECORDINGS (1000) of BYTES (1000000) each, by `write_large`, unless it is there. Needs polars, and
pyspark for the last rows. Times are those of the clock; the machine should be doing nothing else.
"""

import concurrent.futures
import pathlib
import subprocess
import sys
import time

import polars

import traceglass as tg

ROOT = pathlib.Path(__file__).parents[3]
COLUMNS = ["track", "time_ns", "kind", "name"]


def generate(folder, recordings, size):
    """Two builds, whose recordings are the same: what is compared is how fast they are read."""
    for number in range(recordings):
        path = folder / f"build-{number % 2}" / f"device-{number:04}.rfr"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            program = ROOT / "target/release/examples/write_large"
            subprocess.run([program, "rfr", str(size), path], check=True)


def polls(path):
    """How long each poll of a recording took."""
    trace = tg.open(path, threads=1)
    events = polars.DataFrame(trace.events(kinds=["begin", "end"], columns=COLUMNS)).lazy()
    names = polars.DataFrame(trace.tracks(columns=["track", "name"])).lazy().rename({"name": "task"})
    took = polars.col("time_ns").shift(-1).over("track") - polars.col("time_ns")
    return (
        events.sort("track", "time_ns", maintain_order=True)
        .with_columns(ns=took)
        .filter(polars.col("kind") == "begin")
        .join(names, on="track")
        .select("task", "ns", build=polars.lit(pathlib.Path(path).parent.name))
        .collect()
    )


def percentiles(frames):
    table = polars.concat(frames)
    return table.group_by("build", "task").agg(p99=polars.col("ns").quantile(0.99), polls=polars.len()).sort("build", "task")


def read(path):
    """The events alone: what reading costs without the question."""
    return len(polars.DataFrame(tg.open(path, threads=1).events(columns=COLUMNS)))


def opened(path):
    return len(tg.open(path, threads=1).tables)


def row(name, files, size, run):
    start, cpu = time.perf_counter(), time.process_time()
    result = run()
    took = time.perf_counter() - start
    cpu = time.process_time() - cpu
    print(f"{name:44} {took:8.2f} s {len(files) / took:9.0f} files/s {size / took / 1e9:6.3f} GB/s  CPU {cpu:6.2f} s", flush=True)
    return result


def in_threads(function, files, threads):
    # Python's lock is not held while a table is read.
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, files))


def in_spark(folder):
    import os

    import pyspark
    from pyspark.sql import SparkSession

    from traceglass.spark import TraceSource

    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["SPARK_HOME"] = str(pathlib.Path(pyspark.__file__).parent)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    spark.dataSource.register(TraceSource)
    events = spark.read.format("traceglass").option("table", "events").option("columns", "trace,track,time_ns,kind,name").load(str(folder))
    events.createOrReplaceTempView("events")
    question = """
        with polls as (
            select trace, track, kind,
                   lead(time_ns) over (partition by trace, track order by time_ns) - time_ns as ns
            from events where kind in ('begin', 'end')
        )
        select split(trace, '/')[0] as build, percentile(ns, 0.99) as p99, count(*) as polls
        from polls where kind = 'begin' group by 1
    """
    return spark, events, question


def main():
    folder = pathlib.Path(sys.argv[1])
    recordings = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    generate(folder, recordings, int(sys.argv[3]) if len(sys.argv) > 3 else 1_000_000)
    files = sorted(folder.glob("build-*/*.rfr"))
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    print(f"{len(files)} recordings, {size / 1e9:.3f} GB")
    row("opened", files, size, lambda: [opened(path) for path in files])
    events = row("events read, one thread", files, size, lambda: sum(map(read, files)))
    row("events read, two threads", files, size, lambda: sum(in_threads(read, files, 2)))
    print(f"{events} events")
    result = row("p99 per task and build, one thread", files, size, lambda: percentiles(map(polls, files)))
    row("p99 per task and build, two threads", files, size, lambda: percentiles(in_threads(polls, files, 2)))
    print(result.head(4))
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return
    spark, events, question = in_spark(folder)
    row("Spark, two workers: events counted", files, size, events.count)
    print(row("Spark, two workers: p99 per build", files, size, lambda: spark.sql(question).collect()))
    spark.stop()


if __name__ == "__main__":
    main()
