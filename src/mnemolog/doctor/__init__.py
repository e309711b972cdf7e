"""What an operator should look at: the installation, the log, what the projections set aside.

    for finding in examine(engine):      # changes nothing
        finding.state, finding.detail    # "ok", "look" or "bad", and what was found
        finding.advice                   # what to do
        finding.repair                   # how doctor mends it, or None

Each check is a module with a `NAME` and a `check(patient)` that yields findings; `examining` has
them all. A check raises a MnemologError where it can't look: that is a finding, too.
"""

from mnemolog.doctor.examining import examine
from mnemolog.doctor.finding import Finding, Repair

__all__ = ["Finding", "Repair", "examine"]
