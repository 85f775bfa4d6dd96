import type { Turn } from "../../api/client";

export function roleOf(turn: Turn): "user" | "assistant" | "tool" | "system" {
  const { role } = turn;
  return role === "assistant" || role === "tool" || role === "system" ? role : "user";
}

/** The names of the tools that a message calls: as a session keeps them, or as they were observed. */
export function toolsOf(turn: Turn): string[] {
  const payload = turn.payload as {
    recollect?: { calls?: [string, string, string][] };
    tool_calls?: { name?: string; function?: { name?: string } }[];
  };
  const kept = (payload.recollect?.calls ?? []).map(([, name]) => name);
  return [
    ...kept,
    ...(payload.tool_calls ?? []).flatMap((call) => call.name ?? call.function?.name ?? []),
  ];
}
