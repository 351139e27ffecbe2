"""Look at a trace without moving it: RDF, RTC, CTF, RFR and dial9 as Arrow tables.

>>> import traceglass as tg
>>> trace = tg.open("examples/data/sample.rfr")
>>> trace.info()["format"]
'rfr'

Tables are streams of Arrow record batches, which others take as they are, without a copy::

    polars.DataFrame(trace.events())
    pyarrow.table(trace.table("task_poll_start"))
    events = trace.events(); duckdb.sql("from events limit 3")

Nothing is read before that, and never all of it at a time.
"""

from ._errors import TraceError
from ._trace import Table, Trace, open

__all__ = ["Table", "Trace", "TraceError", "open"]
__version__ = "0.1.0"
