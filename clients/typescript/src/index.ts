/** A client of Recollect's HTTP API. Its types are made of the API's own description. */

import type { AnswerOf, CallOf, Method, OperationOf, PathOf, Rest } from "./operations.js";
import type { components, paths } from "./schema.js";

export type { AnswerOf, CallOf, Method, OperationOf, PathOf } from "./operations.js";
export type { components, operations, paths } from "./schema.js";

/** The values of the API by name, such as `Schemas["Record"]`. */
export type Schemas = components["schemas"];

/** Whose memory it is. What is left out is what the server's settings say, or the key allows. */
export interface Scope {
  org?: string | undefined;
  workspace?: string | undefined;
  agent?: string | undefined;
  user?: string | undefined;
}

export interface Options extends Scope {
  /** The server's address; the default is `http://127.0.0.1:7077`. */
  url?: string | undefined;
  /** An API key or a token. */
  key?: string | undefined;
  /** How often a request is repeated when the server is busy; the default is 3. */
  retries?: number | undefined;
  /** Another `fetch`, for a proxy or for tests. */
  fetch?: typeof fetch | undefined;
}

/** What the server says when it refuses: a code, what happened, and what to do. */
export class RecollectError extends Error {
  override readonly name: string = "RecollectError";

  constructor(
    message: string,
    readonly code: string,
    readonly status: number,
    readonly hint: string,
    /** The version that is stored, when a change expected another one. */
    readonly currentVersion: number | null,
  ) {
    super(message);
  }
}

/** The server did not answer at all. */
export class Unreachable extends RecollectError {
  override readonly name: string = "Unreachable";

  constructor(url: string, cause: unknown) {
    super(`${url} does not answer`, "unreachable", 0, "Start it with `recollect serve`.", null);
    this.cause = cause;
  }
}

interface AnyCall {
  path?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: unknown;
  idempotencyKey?: string;
  signal?: AbortSignal;
}

type Call<M extends Method, P extends keyof paths> = CallOf<OperationOf<M, P>>;
type BodyOf<P extends PathOf<"post">> =
  Call<"post", P> extends { body: infer B } ? B : Record<string, never>;
type QueryOf<P extends PathOf<"get">> = Call<"get", P> extends { query?: infer Q } ? Q : never;

const BUSY = new Set([429, 503]);
const PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;

/** One memory on a server, seen from one scope. */
export class Recollect {
  readonly url: string;
  readonly scope: Readonly<Scope>;
  readonly #options: Options;

  constructor(options: Options = {}) {
    const { org, workspace, agent, user } = options;
    this.url = (options.url ?? "http://127.0.0.1:7077").replace(/\/+$/, "");
    this.scope = defined({ org, workspace, agent, user });
    this.#options = options;
  }

  /** Return the same memory in another scope; what is not given stays unchanged. */
  in(scope: Scope): Recollect {
    return new Recollect({ ...this.#options, ...scope });
  }

  /**
   * Make any call of the API, with the types of its description:
   * `memory.request("get", "/v1/records/{record_id}", { path: { record_id } })`.
   */
  async request<M extends Method, P extends PathOf<M>>(
    method: M,
    path: P,
    ...rest: Rest<OperationOf<M, P>>
  ): Promise<AnswerOf<OperationOf<M, P>>> {
    const call = (rest[0] ?? {}) as AnyCall;
    const response = await this.#send(method.toUpperCase(), String(path), call);
    const text = await response.text();
    return (text === "" ? undefined : JSON.parse(text)) as AnswerOf<OperationOf<M, P>>;
  }

  /** Save one record; once this returns, it is durable. */
  remember(content: string, fields: Omit<BodyOf<"/v1/records">, "content"> = {}) {
    const body = { ...fields, content } as BodyOf<"/v1/records">;
    return this.request("post", "/v1/records", { body });
  }

  /** Remember a claim after comparing it with what is stored. */
  write(content: string, fields: Omit<BodyOf<"/v1/write">, "content"> = {}) {
    return this.request("post", "/v1/write", {
      body: { ...fields, content } as BodyOf<"/v1/write">,
    });
  }

  /** Return what is remembered about a question, best first. */
  recall(query: string, wanted: Omit<BodyOf<"/v1/recall">, "query"> = {}) {
    return this.request("post", "/v1/recall", {
      body: { ...wanted, query } as BodyOf<"/v1/recall">,
    });
  }

  /** Return what is remembered for a message, as text for the prompt. */
  context(message: string, wanted: Omit<BodyOf<"/v1/context">, "message"> = {}) {
    return this.request("post", "/v1/context", {
      body: { ...wanted, message } as BodyOf<"/v1/context">,
    });
  }

  /** Store messages of a conversation in order. */
  observe(
    messages: BodyOf<"/v1/observe">["messages"],
    session?: string,
    call: { idempotencyKey?: string } = {},
  ) {
    const body = { messages, ...defined({ session }) } as BodyOf<"/v1/observe">;
    return this.request("post", "/v1/observe", { body, ...call });
  }

  /** Return one record. */
  get(id: string) {
    return this.request("get", "/v1/records/{record_id}", { path: { record_id: id } });
  }

  /** Return a page of records, latest first. */
  list(query: QueryOf<"/v1/records"> = {}) {
    return this.request("get", "/v1/records", { query });
  }

  /** Change a record; the previous version stays in its history. */
  update(id: string, body: Call<"patch", "/v1/records/{record_id}"> extends { body: infer B } ? B : never) {
    return this.request("patch", "/v1/records/{record_id}", { path: { record_id: id }, body });
  }

  /** Hide a record everywhere; `undo` restores it. */
  delete(id: string) {
    return this.request("delete", "/v1/records/{record_id}", { path: { record_id: id } });
  }

  /** Revert the last change of a record, also a deletion. */
  undo(id: string) {
    return this.request("post", "/v1/records/{record_id}/undo", { path: { record_id: id } });
  }

  /** Return every version of a record, oldest first. */
  history(id: string) {
    return this.request("get", "/v1/records/{record_id}/history", { path: { record_id: id } });
  }

  /** Erase every trace of records, a session or a user. */
  forget(body: BodyOf<"/v1/forget">) {
    return this.request("post", "/v1/forget", { body });
  }

  async #send(method: string, path: string, call: AnyCall): Promise<Response> {
    const address = this.#address(path, call);
    const headers = new Headers({ Accept: "application/json" });
    // The server takes a POST only as JSON, also one without a body.
    if (method !== "GET") headers.set("Content-Type", "application/json");
    if (this.#options.key !== undefined) headers.set("Authorization", `Bearer ${this.#options.key}`);
    // A repeated write is done once: the server knows it by its key.
    const repeatable = method !== "GET" && (this.#options.retries ?? 3) > 0;
    const key = call.idempotencyKey ?? (repeatable ? crypto.randomUUID() : undefined);
    if (key !== undefined) headers.set("Idempotency-Key", key);
    const init: RequestInit = { method, headers };
    if (call.body !== undefined) init.body = JSON.stringify(call.body);
    if (call.signal !== undefined) init.signal = call.signal;
    for (let tried = 0; ; tried += 1) {
      const response = await this.#fetched(address, init);
      if (response.ok) return response;
      if (!BUSY.has(response.status) || tried >= (this.#options.retries ?? 3)) {
        throw await problemOf(response);
      }
      await response.body?.cancel();
      await pause(response, tried, call.signal);
    }
  }

  async #fetched(address: string, init: RequestInit): Promise<Response> {
    try {
      return await (this.#options.fetch ?? fetch)(address, init);
    } catch (problem) {
      if (init.signal?.aborted) throw problem;
      throw new Unreachable(this.url, problem);
    }
  }

  #address(path: string, call: AnyCall): string {
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(String(call.path?.[name] ?? "")),
    );
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries({ ...this.scope, ...call.query })) {
      for (const one of Array.isArray(value) ? value : [value]) {
        if (one !== undefined && one !== null) query.append(name, String(one));
      }
    }
    const asked = query.toString();
    return `${this.url}${filled}${asked === "" ? "" : `?${asked}`}`;
  }
}

async function problemOf(response: Response): Promise<RecollectError> {
  let told: Partial<Schemas["Problem"]> = {};
  try {
    told = (await response.json()) as Partial<Schemas["Problem"]>;
  } catch {
    // A proxy may answer in words of its own.
  }
  return new RecollectError(
    told.detail ?? `HTTP ${response.status}`,
    told.code ?? "unexpected",
    response.status,
    told.hint ?? "",
    told.current_version ?? null,
  );
}

async function pause(response: Response, tried: number, signal?: AbortSignal): Promise<void> {
  const wanted = Number(response.headers.get("Retry-After") ?? Number.NaN) * 1000;
  const time = Number.isFinite(wanted) ? wanted : PAUSE_MS * 2 ** tried;
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, Math.min(time, LONGEST_PAUSE_MS));
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
}

function defined<T extends object>(given: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined),
  ) as { [K in keyof T]?: NonNullable<T[K]> };
}
