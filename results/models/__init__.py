"""What is stored, split by noun."""

from results.models.audit import AuditEntry, AuditError
from results.models.catalogue import Benchmark, Metric
from results.models.hardware import Processor, System
from results.models.labs import Lab, Membership
from results.models.lists import Comparison, List, ListEntry
from results.models.loaded import Loaded
from results.models.provenance import Artefact, Source
from results.models.runs import Measurement, Qualifier, Run, Scope, Trust
from results.models.setups import Setup
from results.models.stamp import Stamp
from results.models.summaries import Summary
from results.models.tokens import Token
from results.models.uploads import Upload, UploadFile

__all__ = [
    "Artefact",
    "AuditEntry",
    "AuditError",
    "Benchmark",
    "Comparison",
    "Lab",
    "List",
    "ListEntry",
    "Loaded",
    "Measurement",
    "Membership",
    "Metric",
    "Processor",
    "Qualifier",
    "Run",
    "Scope",
    "Setup",
    "Source",
    "Stamp",
    "Summary",
    "System",
    "Token",
    "Trust",
    "Upload",
    "UploadFile",
]
