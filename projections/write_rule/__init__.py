"""Which events become memories: a pure rule over one event and the policy where it stands.

    formed = formed_in(batch, step)      # in a projection: formed once for all of them
    formed = form(recorded, policy)      # anywhere else: the same
    formed.memories                      # none, one or several; ordinal 0 is the episode
    formed.reason                        # by which rule, also where there are none

`FORMING` names the event types that can form any, so that a projection may pass the others by.
Every number and pattern here is version 1 of the rule, `policy.write.rule`: the same events give
the same memories for ever. To change what comes out, add a version; the golden file tells.
"""

from mnemolog.projections.write_rule.forming import FORMING, form, formed_in

__all__ = ["FORMING", "form", "formed_in"]
