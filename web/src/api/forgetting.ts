import { answer, api, ApiProblem, Unreachable, type Schemas } from "./client";
import type { Owner } from "./place";

export type Forgotten = Schemas["Forgotten"];
type Forget = Schemas["Forget"];

/** How many of the records, messages, archives and documents are gone. */
export interface Progress {
  done: number;
  total: number;
}

/** One line of the stream: exactly one of these is there. */
interface Step {
  progress?: Progress;
  forgotten?: Forgotten;
  problem?: Schemas["Problem"];
}

/** Count what would be forgotten. */
export function foresee(owner: Owner, body: Partial<Forget>): Promise<Forgotten> {
  return answer(
    api.POST("/v1/forget", {
      params: { query: owner },
      body: { ...body, dry_run: true },
    }),
  );
}

/** Forget for good and prove it, telling how far it is; return the proof. */
export async function forget(
  owner: Owner,
  body: Partial<Forget>,
  tell: (progress: Progress) => void,
): Promise<Forgotten> {
  const stream = await answer(
    api.POST("/v1/forget/stream", {
      params: { query: owner },
      body: { ...body, verify: true },
      parseAs: "stream",
    }),
  );
  for await (const line of lines(stream as unknown as ReadableStream<Uint8Array>)) {
    const step = JSON.parse(line) as Step;
    if (step.progress !== undefined) tell(step.progress);
    if (step.forgotten !== undefined) return step.forgotten;
    if (step.problem !== undefined) throw new ApiProblem(step.problem, step.problem.status);
  }
  throw new Unreachable("The connection broke before the proof arrived");
}

async function* lines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    rest += done ? decoder.decode() : decoder.decode(value, { stream: true });
    const parts = rest.split("\n");
    rest = parts.pop() ?? "";
    yield* parts;
    if (done) break;
  }
  if (rest !== "") yield rest;
}
