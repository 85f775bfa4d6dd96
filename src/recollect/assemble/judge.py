"""Settings → who judges how statements relate, and when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from recollect.assemble.policy import policy_of
from recollect.domain.job import NewJob
from recollect.domain.record import Record
from recollect.domain.scope import Caller
from recollect.domain.turn import Turn
from recollect.ports.judge import Judge
from recollect.ports.language_model import LanguageModels
from recollect.recall.fresh_links import FreshLinks
from recollect.settings import Settings
from recollect.writing.judges import JudgeChain, ModelJudge, ThresholdJudge
from recollect.writing.schedule import Judging, is_judged, judge_jobs

# How settings name the embedder that comes with the local judge.
_LOCAL: Final = frozenset({"", "local", "recollect-bilingual"})


def judge_of(settings: Settings, models: LanguageModels, own: Judge | None) -> JudgeChain:
    """The judges there are, best first; `own` takes the place of the local model."""
    judges: list[Judge] = []
    model = models.of("classify") if settings.writing.judge == "auto" else None
    if model is not None:
        judges.append(ModelJudge(model))
    local = own or _local(settings)
    if local is not None:
        judges.append(local)
    return JudgeChain(judges)


def _local(settings: Settings) -> Judge | None:
    if settings.writing.judge == "rules":
        return None
    from recollect.models.local_judge import open_judge

    classifier = open_judge(settings.embedding.folder)
    if classifier is None:
        return None
    is_usual = settings.embedder.model in _LOCAL
    return ThresholdJudge(classifier, trusts_near=is_usual)


def judging_of(settings: Settings, fresh: FreshLinks) -> Judging | None:
    """Which jobs judge what was stored without being compared; None where nothing is judged."""
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
