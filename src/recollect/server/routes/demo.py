"""The demo workspace: loaded and removed by one request each."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter

from recollect.demo import WORKSPACE, load_demo, remove_demo
from recollect.domain.views import Json, as_json
from recollect.server import answers
from recollect.server.bodies import Body, described
from recollect.server.caller import WholeWorkspace
from recollect.server.once import OnceRoute
from recollect.server.problems import problems

router = APIRouter(prefix="/v1/demo", tags=["operation"], route_class=OnceRoute)


class WantedDemo(Body):
    """In which language the made-up people talk."""

    model_config = described({"language": "en"})

    language: Literal["en", "zh"] = "en"


@router.post("", status_code=201, response_model=answers.Demo, responses=problems(409))
async def load_demo_workspace(memory: WholeWorkspace, body: WantedDemo | None = None) -> Json:
    """Fill the workspace `demo` with made-up people and what is remembered of them."""
    held = await load_demo(memory, (body or WantedDemo()).language)
    return as_json({"workspace": WORKSPACE, **held})


@router.delete("", response_model=answers.RemovedDemo)
async def remove_demo_workspace(memory: WholeWorkspace) -> Json:
    """Forget everything in the workspace `demo` for good."""
    gone = await remove_demo(memory)
    return as_json({"workspace": WORKSPACE, **gone})
