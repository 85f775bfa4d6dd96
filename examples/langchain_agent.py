"""A LangChain agent with memory; here a script plays the model.

python examples/langchain_agent.py
"""

from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool

from recollect.adapters.langchain import RecollectMiddleware
from recollect.sync import Memory

REPORT = "\n".join(f"Row {n}: container {n} is at berth {n % 40}." for n in range(1_300))
sent: list[Any] = []


class Model(GenericFakeChatModel):
    """Answers as written, and notes what it was sent."""

    def bind_tools(self, tools: Any, **_: Any) -> "Model":
        return self

    def _generate(self, messages: list[Any], *rest: Any, **more: Any) -> Any:
        sent[:] = messages
        return super()._generate(messages, *rest, **more)


def saying(*answers: AIMessage | str) -> Model:
    """Return a model that gives these answers, one a call."""
    return Model(messages=iter([AIMessage(it) if isinstance(it, str) else it for it in answers]))


def calling(name: str, **arguments: Any) -> AIMessage:
    """Return an answer that calls a tool."""
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": name}])


@tool
def fetch() -> str:
    """Fetch the report."""
    return REPORT


def main() -> None:
    with Memory.open("memory.db") as memory:
        known = RecollectMiddleware(memory, context_tokens=4_000)

        def run(model: Model, thread: str, *messages: Any) -> list[Any]:
            agent = create_agent(model, tools=[fetch], middleware=[known])
            whose = {"configurable": {"thread_id": thread, "user_id": "ann"}}
            return agent.invoke({"messages": list(messages)}, whose)["messages"]

        saving = calling("memory_save", content="The user wants metric units", type="user")
        run(saying(saving, "Noted."), "monday", HumanMessage("Remember: metric units, please"))
        run(saying("…"), "tuesday", HumanMessage("How do I want distances, in which units?"))
        print("remembered:", "metric units" in sent[0].text)

        done = run(saying(calling("fetch"), "Done."), "tuesday", HumanMessage("Fetch the report"))
        (kept,) = [it.text for it in done if isinstance(it, ToolMessage)]
        print(f"archived: {len(REPORT):,} characters became {len(kept):,}")

        history: list[Any] = []
        for number in range(60):
            history.append(HumanMessage(f"Tell me about berth {number}"))
            history.append(AIMessage(f"Berth {number} is free."))
        run(saying("Yes."), "wednesday", *history, HumanMessage("And now?"))
        print(f"compressed: of {len(history) + 1} messages {len(sent)} are sent")


if __name__ == "__main__":
    main()
