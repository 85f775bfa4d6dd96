"""A crew of CrewAI with memory; here a script plays the model.

python examples/crewai_crew.py
"""

import json
import os
from typing import Any

# CrewAI calls home unless it is told not to, before it is imported.
os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true"}

from crewai import Agent, Crew, Task
from crewai.llms.base_llm import BaseLLM
from crewai.tools import tool

from recollect.adapters.crewai import archiving, memory_tools
from recollect.sync import Memory

REPORT = "\n".join(f"Row {n}: container {n} is at berth {n % 40}." for n in range(1_300))
sent: list[Any] = []


class Model(BaseLLM):
    """Gives these answers, one a call, and notes what it was sent."""

    answers: list[str]

    def call(self, messages: Any, *_: Any, **__: Any) -> str:
        sent[:] = messages
        return self.answers.pop(0)


def calling(name: str, **arguments: Any) -> str:
    """Return an answer that calls a tool."""
    return f"Thought: I need it.\nAction: {name}\nAction Input: {json.dumps(arguments)}"


@tool("fetch")
def fetch() -> str:
    """Fetch the report."""
    return REPORT


def main() -> None:
    with Memory.open("memory.db") as opened:
        memory = opened.scope(user="ann")

        def run(task: str, call: str) -> str:
            """Have an agent call one tool, and return what it was told."""
            agent = Agent(
                role="helper",
                goal="Help",
                backstory="Helpful",
                llm=Model(
                    model="scripted", answers=[call, "Thought: I know.\nFinal Answer: Done."]
                ),
                tools=[*memory_tools(memory), archiving(fetch, memory)],
            )
            work = Task(description=task, expected_output="An answer", agent=agent)
            Crew(agents=[agent], tasks=[work]).kickoff()
            return str(sent[-2]["content"]).partition("Observation:")[2]

        saving = calling("memory_save", content="The user wants metric units", type="user")
        run("Remember that the user wants metric units", saving)
        found = run("In which units?", calling("memory_recall", query="units of the user"))
        print("remembered:", "metric units" in found)

        kept = run("Fetch the report", calling("fetch"))
        print(f"archived: {len(REPORT):,} characters became {len(kept):,}")


if __name__ == "__main__":
    main()
