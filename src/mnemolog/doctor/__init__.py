"""What an operator should look at: the installation, the log, what the projections set aside.

    with admitted(settings) as patient:  # also where it can't be opened
        findings = examined(patient)     # changes nothing
    for finding in findings:
        finding.state, finding.detail    # "ok", "look" or "bad", and what was found
        finding.advice                   # what to do
        finding.repair                   # how doctor mends it, or None
    mend(findings, tell=print)           # runs the repairs

Each check is a module with a `NAME` and a `check(patient)` that yields findings; `examining` has
them all. A check raises a MnemologError where it can't look: that is a finding, too.
"""

from mnemolog.doctor.examining import examine, examined, mend
from mnemolog.doctor.finding import Finding, Repair
from mnemolog.doctor.patient import Patient, admitted

__all__ = ["Finding", "Patient", "Repair", "admitted", "examine", "examined", "mend"]
