"""Settings → the judges of how statements relate, and the jobs that ask them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from recollect.writing.schedule import Judging, is_judged, judge_jobs

if TYPE_CHECKING:
    from recollect.assemble.container import Wiring
    from recollect.domain.job import NewJob
    from recollect.domain.record import Record
    from recollect.domain.scope import Caller
    from recollect.domain.turn import Turn
    from recollect.domain.write import WritePolicy
    from recollect.ports.judge import Judge, PairClassifier
    from recollect.recall.fresh_links import FreshLinks
    from recollect.settings import Settings
    from recollect.writing.judges import JudgeChain

# The names of the embedder that belongs to the local judge.
_LOCAL_EMBEDDERS: Final = frozenset({"", "local", "recollect-bilingual"})


def judge_of(parts: Wiring) -> JudgeChain:
    """Return the available judges, best first; one that was passed in replaces the local model."""
    # Imported here: saving makes jobs for judges, and needs none itself.
    from recollect.writing.judges import JudgeChain, ModelJudge, ThresholdJudge

    settings, facets = parts.settings, parts.understanding.facets
    judges: list[Judge] = []
    model = parts.models.of("classify") if settings.writing.judge == "auto" else None
    if model is not None:
        judges.append(ModelJudge(model))
    if parts.own_judge is not None:
        judges.append(parts.own_judge)
    elif (classifier := _local_classifier(settings)) is not None:
        is_default = settings.embedder.model in _LOCAL_EMBEDDERS
        judges.append(ThresholdJudge(classifier, trusts_near=is_default, facets=facets))
    return JudgeChain(judges)


def _local_classifier(settings: Settings) -> PairClassifier | None:
    if settings.writing.judge == "rules":
        return None
    from recollect.models.local_model import open_judge

    return open_judge(settings.embedding.folder)


def judging_of(settings: Settings, fresh: FreshLinks) -> Judging | None:
    """Return a function that makes judging jobs; None if nothing is judged."""
    writing, policy = settings.writing, policy_of(settings)
    if writing.judge == "rules" or not writing.reconcile:
        return None

    def jobs(caller: Caller, stored: Sequence[Record | Turn]) -> tuple[NewJob, ...]:
        if policy(caller) == "off":
            return ()
        ids = [item.id for item in stored if is_judged(item)]
        fresh.expect(ids)
        return judge_jobs(caller.scope, ids)

    return jobs


# --- Settings → the write policy of each agent ----------------------------------------------------


def policy_of(settings: Settings) -> Callable[[Caller], WritePolicy]:
    """Return a function that gives the write policy of a caller."""

    def policy(caller: Caller) -> WritePolicy:
        agent = settings.agents.get(caller.scope.agent or "")
        if agent is None:
            return settings.writing.policy
        return (agent.write_policy or settings.writing.policy) if agent.enabled else "off"

    return policy
